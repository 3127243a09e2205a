import { randomUUID } from 'node:crypto'
import { createTenant, restClient, startApp } from '../helpers/app.js'
import { externalServices, testWithRedis } from '../helpers/external-services.js'

testWithRedis('two instances that share a Redis share the limit of a key', async (t) => {
  const env = { REDIS_URL: externalServices.redisUrl!, RATE_LIMIT_DEFAULT_PER_MINUTE: '5' }
  const one = await startApp(t, { env })
  const two = await startApp(t, { beside: one, env })
  // A key of its own, so that runs beside this one do not share its bucket.
  const { key } = await createTenant(one, { name: `Redis ${randomUUID()}` })
  const clients = [restClient(one.url, key), restClient(two.url, key)]
  const answers = []
  for (let count = 0; count < 7; count++) answers.push(await clients[count % 2]!('GET /me'))
  t.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200, 200, 200, 429, 429],
  )
  t.deepEqual(
    answers.map(({ headers }) => headers.get('ratelimit-remaining')),
    ['4', '3', '2', '1', '0', '0', '0'],
  )
})
