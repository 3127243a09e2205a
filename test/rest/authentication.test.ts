import test from 'ava'
import { generateApiKey } from '../../src/businesses/api-key.js'
import { createTenant, restClient, startApp, testClock } from '../helpers/app.js'

const failures = (limit: string) => ({ RATE_LIMIT_FAILED_AUTH_PER_MINUTE: limit })

test('the 31st failed authentication of an address in a minute is refused with 429, and no valid key is in its way', async (t) => {
  const app = await startApp(t, { env: failures('') })
  const { rest } = await createTenant(app)
  const keys = [undefined, 'secret', generateApiKey().key]
  for (let count = 0; count < 30; count++) {
    const { status, headers } = await restClient(app.url, keys[count % 3])('GET /me')
    t.deepEqual([status, headers.get('ratelimit-limit')], [401, '30'])
    t.is(headers.get('ratelimit-remaining'), String(29 - count))
  }
  for (const key of keys) {
    const { status, headers, body } = await restClient(app.url, key)('GET /me')
    t.deepEqual(
      [status, body.error.type, headers.get('ratelimit-remaining')],
      [429, 'RATE_LIMIT_EXCEEDED', '0'],
    )
    t.is(headers.get('retry-after'), String(body.error.retryAfter))
    t.is(headers.get('ratelimit-reset'), String(body.error.retryAfter))
  }
  const { status, headers } = await rest('GET /me')
  t.deepEqual([status, headers.get('ratelimit-limit')], [200, '1000000'])
})

test('without trusted proxies nobody can choose the address that is counted', async (t) => {
  const app = await startApp(t, { env: failures('2') })
  const anonymous = restClient(app.url, undefined)
  const statuses = []
  for (const address of ['10.0.0.1', '10.0.0.2', '10.0.0.3'])
    statuses.push((await anonymous('GET /me', undefined, { 'x-forwarded-for': address })).status)
  t.deepEqual(statuses, [401, 401, 429])
})

test('behind TRUSTED_PROXY_HOPS proxies the address is what the outermost of them saw', async (t) => {
  const app = await startApp(t, { env: { ...failures('1'), TRUSTED_PROXY_HOPS: '2' } })
  const from = async (forwarded: string) =>
    (await restClient(app.url, undefined)('GET /me', undefined, { 'x-forwarded-for': forwarded })).status
  t.is(await from('192.0.2.1, 198.51.100.1'), 401)
  t.is(await from('192.0.2.1, 198.51.100.2'), 429)
  t.is(await from('192.0.2.2, 198.51.100.1'), 401)
  // What comes before is the client's own invention.
  t.is(await from('203.0.113.7, 192.0.2.2, 198.51.100.1'), 429)
})

test('Bearer is read in any case, and nothing else is', async (t) => {
  const app = await startApp(t)
  const { key } = await createTenant(app)
  const status = async (authorization: string) =>
    (await restClient(app.url, undefined)('GET /me', undefined, { authorization })).status
  for (const good of [`Bearer ${key}`, `bearer ${key}`, `BEARER   ${key}`])
    t.is(await status(good), 200, good)
  for (const bad of [
    key,
    `Basic ${key}`,
    `Bearer${key}`,
    `Bearer ${key} x`,
    `Bearer ${key},${key}`,
    'Bearer',
    ' ',
  ])
    t.is(await status(bad), 401, bad)
})

test('each use of a key is noted to the minute', async (t) => {
  const clock = testClock('2026-03-01T10:00:30.500Z')
  const app = await startApp(t, { clock })
  const { rest, keyId } = await createTenant(app)
  const noted = async (): Promise<string | undefined> => {
    const key = await app.database.db.apiKey.findUniqueOrThrow({ where: { id: keyId } })
    return key.lastUsedAt?.toISOString()
  }
  const eventually = async (moment: string) => {
    while ((await noted()) !== moment) await new Promise((resolve) => setTimeout(resolve, 10))
    t.pass()
  }
  t.is(await noted(), undefined)
  await rest('GET /me')
  await eventually('2026-03-01T10:00:00.000Z')
  clock.advance(60_000)
  await rest('GET /me')
  await eventually('2026-03-01T10:01:00.000Z')
})

test('with Redis away the limits are kept in memory and nobody is refused', async (t) => {
  // Port 1: nobody listens there.
  const env = { REDIS_URL: 'redis://127.0.0.1:1', RATE_LIMIT_POINTS_PER_MINUTE: '2', ...failures('1') }
  const app = await startApp(t, { env })
  const { rest } = await createTenant(app)
  const answers = [1, 2, 3].map(() => rest('POST /points/issue', {}))
  t.deepEqual((await Promise.all(answers)).map(({ status }) => status).sort(), [400, 400, 429])
  t.is((await rest('GET /me')).status, 200)
  t.is((await rest('GET /nowhere')).status, 404)
  const anonymous = restClient(app.url, undefined)
  t.deepEqual([(await anonymous('GET /me')).status, (await anonymous('GET /me')).status], [401, 429])
})
