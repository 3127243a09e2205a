import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import test from 'ava'
import { tour } from '../../clients/typescript/examples/tour.js'
import { createLoyaltyClient, dataOf, LoyaltyError } from '../../clients/typescript/src/index.js'
import { createTenant, startApp } from '../helpers/app.js'

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')

test("the TypeScript client's types are those of openapi.json (npm run client:print)", (t) => {
  const hash = createHash('sha256').update(read('openapi.json')).digest('hex')
  t.true(read('clients/typescript/src/api.ts').split('\n')[0]!.endsWith(hash))
})

test('the typed tour of the TypeScript client goes through', async (t) => {
  const app = await startApp(t)
  const { key } = await createTenant(app)
  t.deepEqual(await tour(app.url, key, '2031'), {
    business: 'Corner Café',
    customer: 'Marie Curie',
    bookedOnce: true,
    status: 'completed',
    refusal: [409, 'REDEMPTION_NOT_PENDING', 'completed'],
    balance: 20,
    latest: 100,
    returned: 1,
  })
})

test('a refusal is thrown by the TypeScript client with its status, words and request', async (t) => {
  const app = await startApp(t)
  const api = createLoyaltyClient({ baseUrl: app.url, apiKey: 'lby_live_nobody' })
  const error = await t.throwsAsync(dataOf(api.GET('/api/v1/me')), { instanceOf: LoyaltyError })
  t.deepEqual([error.status, error.message, error.code], [401, 'Invalid API key', undefined])
  t.truthy(error.requestId)
})
