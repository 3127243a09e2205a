import test from 'ava'
import { createApiKey } from '../../src/businesses/accounts.js'
import { KEY_LIFETIME_MS } from '../../src/idempotency.js'
import { createTenant, type RestAnswer, restClient, startApp, testClock } from '../helpers/app.js'
import { createCustomer, createReward } from '../helpers/factories.js'

const key = (value: string) => ({ 'idempotency-key': value })
const isReplay = ({ headers }: RestAnswer) => headers.get('idempotency-replayed') === 'true'
const said = ({ status, body }: RestAnswer) => [status, body.error?.message ?? body.message]

test('a retry gets the first answer byte for byte, marked as replayed, and nothing happens again', async (t) => {
  const app = await startApp(t)
  const { rest } = await createTenant(app)
  const { user_id } = await createCustomer({ rest })
  const issue = () => rest('POST /points/issue', { user_id, points: 10 }, key('a'))
  const first = await issue()
  t.deepEqual([first.status, isReplay(first), first.headers.get('idempotency-replayed')], [200, false, null])
  await rest('POST /points/issue', { user_id, points: 1 })
  for (let count = 0; count < 3; count++) {
    const retry = await issue()
    t.deepEqual([retry.status, retry.text, isReplay(retry)], [200, first.text, true])
  }
  t.is((await rest(`GET /customers/${user_id}/balance`)).body.data.balance, 11)
})

test('a replay counts against the limit, and says how the limit stands now', async (t) => {
  const app = await startApp(t, { env: { RATE_LIMIT_POINTS_PER_MINUTE: '3' } })
  const { rest } = await createTenant(app)
  const { user_id } = await createCustomer({ rest })
  const answers = []
  for (let count = 0; count < 4; count++)
    answers.push(await rest('POST /points/issue', { user_id, points: 10 }, key('a')))
  t.deepEqual(
    answers.map(({ status, headers }) => [status, headers.get('ratelimit-remaining')]),
    [
      [200, '2'],
      [200, '1'],
      [200, '0'],
      [429, '0'],
    ],
  )
})

test('the same request may be written otherwise: order, space, escapes, numbers; the path percent-encoded', async (t) => {
  const app = await startApp(t)
  const { rest } = await createTenant(app)
  const { user_id } = await createCustomer({ rest }, { identifiers: [{ value: 'card 1' }] })
  const bodies = [
    `{"user_id":"${user_id}","points":10,"description":"é"}`,
    `{"points":10,"description":"é","user_id":"${user_id}"}`,
    `{ "description" : "\\u00e9",\n "points": 1e1, "user_id": "${user_id}" }`,
    `{"points":9,"points":10.0,"description":"é","user_id":"${user_id}"}`,
  ]
  for (const [index, body] of bodies.entries())
    t.is(isReplay(await rest('POST /points/issue', body, key('a'))), index > 0, body)
  const paths = ['card%201', 'c%61rd%201', '%63ard%201']
  for (const [index, path] of paths.entries())
    t.is(isReplay(await rest(`PATCH /customers/${path}`, { phone: '+491234567' }, key('b'))), index > 0, path)
  t.is((await rest('GET /transactions')).body.data.pagination.total_count, 1)
})

test('another request with the same key is refused with 422, whatever differs, and changes nothing', async (t) => {
  const app = await startApp(t)
  const { rest } = await createTenant(app)
  const { user_id } = await createCustomer({ rest })
  const other = await createCustomer({ rest })
  await rest('POST /points/issue', { user_id, points: 10 }, key('a'))
  const others: [string, object?][] = [
    ['POST /points/issue', { user_id, points: 11 }],
    ['POST /points/issue', { user_id: other.user_id, points: 10 }],
    ['POST /points/issue', { user_id, points: 10, description: null }],
    ['POST /points/redeem', { user_id, points: 10 }],
    [`PATCH /customers/${user_id}`, { display_name: 'Ada' }],
    [`DELETE /customers/${user_id}`],
  ]
  for (const [request, body] of others) {
    const answer = await rest(request, body, key('a'))
    t.deepEqual(said(answer), [422, 'IDEMPOTENCY_KEY_REUSED'], request)
    t.false(isReplay(answer))
  }
  t.is((await rest(`GET /customers/${user_id}/balance`)).body.data.balance, 10)
  t.true(isReplay(await rest('POST /points/issue', { user_id, points: 10 }, key('a'))))
})

test("keys are the business's: shared by its API keys, unknown to other businesses", async (t) => {
  const app = await startApp(t)
  const [one, two] = [await createTenant(app), await createTenant(app)]
  const create = (rest: typeof one.rest) => rest('POST /customers', { display_name: 'Ada' }, key('a'))
  const first = await create(one.rest)
  const { businessId } = one
  const second = await createApiKey(app.database, app.secrets, { businessId, name: 'till' }, app.clock.now())
  const shared = await create(restClient(app.url, second.key))
  t.deepEqual([shared.text, isReplay(shared)], [first.text, true])
  const elsewhere = await create(two.rest)
  t.false(isReplay(elsewhere))
  t.not(elsewhere.text, first.text)
})

test('a refusal that the state of the business decides is stored, without effects, and outlives that state', async (t) => {
  const app = await startApp(t)
  const { rest } = await createTenant(app)
  const { user_id } = await createCustomer({ rest }, { identifiers: [{ value: 'taken' }] })
  const reward = await createReward({ rest }, { max_redemptions: 5 })
  await app.database.pool.query('UPDATE rewards SET redemptions_count = 3 WHERE id = $1', [reward.id])
  const nobody = '01900000-0000-7000-8000-000000000000'
  const refusals: [string, object, number, string][] = [
    ['POST /points/redeem', { user_id, points: 10 }, 409, 'INSUFFICIENT_POINTS:0'],
    ['POST /customers', { identifiers: [{ value: 'new' }, { value: 'taken' }] }, 409, 'IDENTIFIER_TAKEN'],
    [`PATCH /rewards/${reward.id}`, { max_redemptions: 2 }, 400, 'REWARD_LIMIT_BELOW_CURRENT:3'],
    [`PATCH /rewards/${nobody}`, { name: 'Tea' }, 404, 'Reward not found'],
    [
      'POST /points/issue',
      { identifier: 'later', points: 1 },
      404,
      'Customer not found. Check the user_id or identifier.',
    ],
  ]
  for (const [request, body, status, message] of refusals)
    t.deepEqual(said(await rest(request, body, key(request))), [status, message])
  t.is((await rest('GET /customers')).body.data.pagination.total_count, 1)

  await rest('POST /points/issue', { user_id, points: 100 })
  await rest(`POST /customers/${user_id}/identifiers`, { value: 'later' })
  await app.database.pool.query('UPDATE rewards SET redemptions_count = 0 WHERE id = $1', [reward.id])
  for (const [request, body, status, message] of refusals) {
    const retry = await rest(request, body, key(request))
    t.deepEqual([...said(retry), isReplay(retry)], [status, message, true], request)
  }
  t.is((await rest(`GET /customers/${user_id}/balance`)).body.data.balance, 100)
})

test('what says nothing about the business is not stored: the same key serves the corrected request', async (t) => {
  const app = await startApp(t, { env: { RATE_LIMIT_POINTS_PER_MINUTE: '8' } })
  const tenant = await createTenant(app)
  const { user_id } = await createCustomer(tenant)
  const { businessId } = tenant
  const made = { businessId, name: 'reader', scopes: ['points:read' as const] }
  const reader = await createApiKey(app.database, app.secrets, made, app.clock.now())
  const issue = (body: unknown, headers = {}, { rest } = tenant) =>
    rest('POST /points/issue', body, { ...key('a'), ...headers })
  const body = { user_id, points: 10 }
  const answers = [
    await issue(body, {}, { ...tenant, rest: restClient(app.url, 'lby_live_nonsense') }),
    await issue(body, {}, { ...tenant, rest: restClient(app.url, reader.key) }),
    await issue({ ...body, points: 0 }),
    await issue({ ...body, nonsense: 1 }),
    await issue({ ...body, identifier: 'x' }),
    await issue('{"points"'),
    await issue('points=1', { 'content-type': 'text/plain' }),
    await issue(JSON.stringify({ ...body, description: 'x'.repeat(9_000_000) })),
  ]
  t.deepEqual(
    answers.map(({ status }) => status),
    [401, 403, 400, 400, 400, 400, 415, 413],
  )
  const good = await issue(body)
  t.deepEqual([good.status, isReplay(good)], [200, false])
  t.is((await issue(body)).status, 200)
  t.is((await issue(body)).status, 429)
  t.is((await tenant.rest(`GET /customers/${user_id}/balance`)).body.data.balance, 10)
})

test('a key holds for 24 hours, to the millisecond; then it is as good as new', async (t) => {
  const clock = testClock('2026-03-01T12:00:00Z')
  const app = await startApp(t, { clock })
  const { rest } = await createTenant(app)
  const { user_id } = await createCustomer({ rest })
  const issue = (points: number) => rest('POST /points/issue', { user_id, points }, key('a'))
  const first = await issue(10)
  clock.advance(KEY_LIFETIME_MS - 1)
  t.is((await issue(10)).text, first.text)
  t.is((await issue(20)).status, 422)
  clock.advance(1)
  const fresh = await issue(20)
  t.deepEqual([fresh.status, isReplay(fresh)], [200, false])
  clock.advance(KEY_LIFETIME_MS - 1)
  t.deepEqual([(await issue(20)).text, (await issue(10)).status], [fresh.text, 422])
  t.is((await rest(`GET /customers/${user_id}/balance`)).body.data.balance, 30)
})

test('a key is 1 to 255 characters, any that a header can hold', async (t) => {
  const app = await startApp(t)
  const { rest } = await createTenant(app)
  const create = (value: string) => rest('POST /customers', {}, key(value))
  const invalid = [400, 'Idempotency-Key must be 1 to 255 characters']
  t.deepEqual(said(await create('')), invalid)
  t.deepEqual(said(await create('k'.repeat(256))), invalid)
  for (const value of ['k', 'k'.repeat(255), 'a b', '"quoted"', "';--", '%00', 'é', 'ÿ'.repeat(255), '{}']) {
    t.deepEqual(said(await create(value)), [201, 'Customer created successfully'], value)
    t.true(isReplay(await create(value)), value)
  }
  t.false(isReplay(await create('K')))
})

test('a stored answer is encrypted: the row tells neither the customer nor the request', async (t) => {
  const app = await startApp(t)
  const { rest, businessId } = await createTenant(app)
  const personal = { display_name: 'Ada Lovelace', email: 'ada@example.com', phone: '+491234567' }
  const { body, text } = await rest('POST /customers', personal, key('a'))
  const { rows } = await app.database.pool.query('SELECT * FROM idempotency_keys WHERE business_id = $1', [
    businessId,
  ])
  t.is(rows.length, 1)
  const [row] = rows
  const bytes = Buffer.concat([row.body, row.fingerprint]).toString('latin1')
  for (const secret of [...Object.values(personal), 'success', body.data.customer.user_id])
    t.false(bytes.includes(secret), secret)
  t.is(app.secrets.open(row.body), text)
  t.deepEqual(row.customer_ids, [body.data.customer.user_id])
})

test('a fault leaves nothing of the request: neither its effect nor its key', async (t) => {
  const app = await startApp(t)
  const { rest } = await createTenant(app)
  const { user_id } = await createCustomer({ rest })
  const { pool } = app.database
  await pool.query('ALTER TABLE idempotency_keys ADD CONSTRAINT no_room CHECK (false) NOT VALID')
  const issue = () => rest('POST /points/issue', { user_id, points: 10 }, key('a'))
  t.is((await issue()).status, 500)
  t.is((await rest(`GET /customers/${user_id}/balance`)).body.data.balance, 0)
  t.is((await rest('GET /transactions')).body.data.pagination.total_count, 0)
  await pool.query('ALTER TABLE idempotency_keys DROP CONSTRAINT no_room')
  t.deepEqual([(await issue()).status, isReplay(await issue())], [200, true])
  t.is((await rest(`GET /customers/${user_id}/balance`)).body.data.balance, 10)
})
