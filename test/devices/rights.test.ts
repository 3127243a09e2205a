import test from 'ava'
import type { OperationFacts } from '../../src/graphql/fields.js'
import { schema } from '../../src/graphql/schema.js'
import { TRUST_MS } from '../../src/rest/authentication.js'
import { sampleFor, send } from '../contract/samples.js'
import { done, everyRow, proper, rows, startContractApp, told } from '../contract/table.js'
import { thingsFor } from '../contract/things.js'
import { createTenant, startApp, testClock } from '../helpers/app.js'
import { createCustomer, createReward, createTerminal, type Resource } from '../helpers/factories.js'

/** All that a terminal may do (docs: decisions, Devices). */
const ALLOWED: Record<string, string> = {
  'POST /points/issue': 'issuePoints',
  'POST /redemptions/:code/validate': 'validateRedemption',
  'POST /redemptions/:code/complete': 'completeRedemption',
  'GET /customers/:userId/balance': 'customerBalance',
}

test("a terminal's token opens four routes, and every other is refused with 403", async (t) => {
  const app = await startContractApp(t)
  const tenant = await createTenant(app)
  const { rest } = await createTerminal(app, tenant)
  const things = thingsFor(tenant)
  await everyRow(
    t,
    rows.filter(({ facts }) => facts.alsoFor !== 'strangers'),
    async (row) => told(await send(rest, sampleFor(row, await things(row)))),
    (row) =>
      row.name in ALLOWED ? done(row) : proper(403, `Insufficient scope: ${row.facts.scope ?? 'api_key'}`),
  )
  t.is((await rest('GET /nowhere')).status, 404)
})

test('in the graph it is the same four fields, and nothing that lies behind their answers', async (t) => {
  const fields = [schema.getQueryType()!, schema.getMutationType()!].flatMap((type) =>
    Object.values(type.getFields()),
  )
  const open = fields.filter(({ extensions }) => (extensions.facts as OperationFacts).alsoFor === 'terminals')
  t.deepEqual(open.map(({ name }) => name).sort(), Object.values(ALLOWED).sort())

  const app = await startApp(t)
  const tenant = await createTenant(app)
  const { graph } = await createTerminal(app, tenant)
  const { user_id } = await createCustomer(tenant, { email: 'ada@example.com' })
  const reward = await createReward(tenant, { points_cost: 0 })
  const redeemed = await tenant.rest('POST /redemptions', { reward_id: reward.id, user_id })
  const code = `"${redeemed.body.data.redemption.code}"`
  const ok = await graph(
    `{ validateRedemption(code: ${code}) { redemption { rewardName } customer { balance } } customerBalance(customer: "${user_id}") { balance } }`,
  )
  t.is(ok.errors, undefined)
  const refused = [
    '{ viewer { business { email } } }',
    '{ __schema { types { name } } }',
    '{ __type(name: "Reward") { name } }',
    `{ validateRedemption(code: ${code}) { redemption { reward { digitalAssetValue } } } }`,
    `{ validateRedemption(code: ${code}) { redemption { ...R } } } fragment R on Redemption { customer { email } }`,
    `mutation { completeRedemption(input: { code: ${code} }) { redemption { reward { id } } } }`,
    `{ customers { totalCount } }`,
  ]
  for (const query of refused) {
    const { status, data, errors } = await graph(query)
    t.is(errors?.[0].extensions.code, 'INSUFFICIENT_SCOPE', query)
    t.falsy(data, query)
    t.true([200, 403].includes(status))
  }
  const still = await tenant.rest(`GET /redemptions/${redeemed.body.data.redemption.code}`)
  t.is(still.body.data.redemption.status, 'pending')
})

test('its rows say which terminal and where; those of a key and of the service say none', async (t) => {
  const app = await startApp(t)
  const tenant = await createTenant(app)
  const location = '018f3a5e-0000-7000-8000-000000000001'
  const { device, rest } = await createTerminal(app, tenant, { location_id: location })
  const { user_id } = await createCustomer(tenant)
  const reward = await createReward(tenant, { points_cost: 30 })
  await tenant.rest('POST /points/issue', { user_id, points: 5 })
  await rest('POST /points/issue', { user_id, points: 40 })
  await rest('POST /points/issue', { user_id, points: 1, location_id: device.id })
  const redeemed = await tenant.rest('POST /redemptions', { reward_id: reward.id, user_id })
  const completed = await rest(`POST /redemptions/${redeemed.body.data.redemption.code}/complete`)
  t.is(completed.status, 200)
  const { transactions } = (await tenant.rest('GET /transactions')).body.data
  const rowsSay = transactions.map(({ source, points, device_id, location_id }: Resource) => [
    source,
    points,
    device_id,
    location_id,
  ])
  t.deepEqual(rowsSay, [
    ['reward', 30, device.id, null],
    ['terminal', 1, device.id, device.id],
    ['terminal', 40, device.id, location],
    ['api', 5, null, null],
  ])
  const other = await createTerminal(app, tenant)
  const list = async (query: string) => (await tenant.rest(`GET /transactions?${query}`)).body.data
  const own = await list(`device_id=${device.id}&limit=2`)
  t.deepEqual(own.transactions, transactions.slice(0, 2))
  t.is(own.pagination.total_count, 3)
  t.is((await list(`device_id=${device.id}&type=earn`)).pagination.total_count, 2)
  t.deepEqual((await list(`device_id=${other.device.id}`)).transactions, [])
  const balance = await rest(`GET /customers/${user_id}/balance`)
  t.like(balance.body.data, { user_id, balance: 16 })
})

test('one issue gives no less and no more than the terminal may, also by amount; changed limits hold at once, and for no key', async (t) => {
  const app = await startApp(t)
  const tenant = await createTenant(app)
  await tenant.rest('PATCH /settings', { earn_points_per_unit: '1.5' })
  const { device, rest } = await createTerminal(app, tenant, { min_points: 10, max_points: 30 })
  const { user_id } = await createCustomer(tenant)
  const issue = (sum: object, headers = {}) => rest('POST /points/issue', { user_id, ...sum }, headers)
  for (const allowed of [{ points: 10 }, { points: 30 }, { amount: '6.67' }, { amount: '20.66' }])
    t.is((await issue(allowed)).status, 200, JSON.stringify(allowed))
  for (const [refused, points] of [
    [{ points: 9 }, 9],
    [{ points: 31 }, 31],
    [{ amount: '6.66' }, 9],
    [{ amount: '20.67' }, 31],
    [{ amount: '0' }, 0],
  ] as const) {
    const { status, body } = await issue(refused, { 'idempotency-key': `try ${points}` })
    const message = `points: must be 10 to 30 on this terminal, not ${points}`
    t.deepEqual([status, body.error.message], [400, message], JSON.stringify(refused))
  }
  t.is((await tenant.rest('POST /points/issue', { user_id, points: 31 })).status, 200)
  await tenant.rest(`PATCH /devices/${device.id}`, { max_points: 12 })
  t.is((await issue({ points: 13 })).body.error.message, 'points: must be 10 to 12 on this terminal, not 13')
  const { balance } = (await rest(`GET /customers/${user_id}/balance`)).body.data
  t.is(balance, 10 + 30 + 10 + 30 + 31)
})

test('a revoked terminal is refused everywhere within five seconds, and issues nothing more at once', async (t) => {
  const clock = testClock()
  const app = await startApp(t, { clock })
  const two = await startApp(t, { beside: app, clock })
  const tenant = await createTenant(app)
  const { device, token, rest } = await createTerminal(app, tenant)
  const { user_id } = await createCustomer(tenant)
  const issue = () => rest('POST /points/issue', { user_id, points: 1 })
  t.is((await issue()).status, 200)
  const ask = (url: string) =>
    fetch(`${url}/api/v1/customers/${user_id}/balance`, { headers: { authorization: `Bearer ${token}` } })
  t.is((await ask(two.url)).status, 200)
  await tenant.rest(`DELETE /devices/${device.id}`)
  const refused = await issue()
  t.deepEqual([refused.status, refused.body.error.message], [401, 'Invalid API key'])
  clock.advance(TRUST_MS)
  for (const { url } of [app, two]) t.is((await ask(url)).status, 401)
  t.is((await rest('GET /me')).status, 401)
})

test("a terminal does nothing for another business's customers and codes", async (t) => {
  const app = await startApp(t)
  const [tenant, other] = [await createTenant(app), await createTenant(app)]
  const { rest } = await createTerminal(app, tenant)
  const { user_id } = await createCustomer(other)
  const reward = await createReward(other, { points_cost: 0 })
  const redeemed = await other.rest('POST /redemptions', { reward_id: reward.id, user_id })
  const { code } = redeemed.body.data.redemption
  const answers = [
    await rest('POST /points/issue', { user_id, points: 5 }),
    await rest(`GET /customers/${user_id}/balance`),
    await rest(`POST /redemptions/${code}/validate`),
    await rest(`POST /redemptions/${code}/complete`),
  ]
  t.deepEqual(
    answers.map(({ status }) => status),
    [404, 404, 404, 404],
  )
})

test("two terminals that number their receipts alike do not get each other's answers", async (t) => {
  const app = await startApp(t)
  const tenant = await createTenant(app)
  const [one, two] = [await createTerminal(app, tenant), await createTerminal(app, tenant)]
  const { user_id } = await createCustomer(tenant)
  const receipt = ['POST /points/issue', { user_id, points: 5 }, { 'idempotency-key': 'receipt-1' }] as const
  const first = await one.rest(...receipt)
  t.is((await one.rest(...receipt)).text, first.text)
  const second = await two.rest(...receipt)
  t.deepEqual([second.status, second.body.error.message], [422, 'IDEMPOTENCY_KEY_REUSED'])
  const issue = `mutation { issuePoints(input: { userId: "${user_id}", points: 5 }) { balance { balance } } }`
  const graphKey = { 'idempotency-key': 'receipt-2' }
  t.is((await one.graph(issue, {}, graphKey)).errors, undefined)
  t.is((await two.graph(issue, {}, graphKey)).errors?.[0].extensions.code, 'IDEMPOTENCY_KEY_REUSED')
})

test('each terminal has buckets of its own, beside those of keys', async (t) => {
  const app = await startApp(t, { env: { RATE_LIMIT_POINTS_PER_MINUTE: '1' } })
  const tenant = await createTenant(app)
  const [one, two] = [await createTerminal(app, tenant), await createTerminal(app, tenant)]
  const statuses = []
  for (const { rest } of [one, one, two, tenant]) statuses.push((await rest('POST /points/issue', {})).status)
  t.deepEqual(statuses, [400, 429, 400, 400])
})
