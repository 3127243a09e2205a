import test from 'ava'
import { createTenant, restClient, startApp, testClock } from '../helpers/app.js'
import { assertAudit, customerWith, pointsOf, said } from '../helpers/external.js'
import { createPoolReward, createReward, type Resource } from '../helpers/factories.js'
import { untilWaiting } from '../helpers/locks.js'

/** Guards that were taken out and seen failing stand in brackets at their test. */

const DIGITAL = { delivery_mode: 'digital', digital_asset_type: 'code' }
const range = (length: number) => Array.from({ length }, (_, index) => index)

async function setUp(t: Parameters<typeof startApp>[0]) {
  const clock = testClock('2026-06-01T10:00:00Z')
  const app = await startApp(t, { clock })
  const tenant = await createTenant(app)
  const take = (reward: Resource, user_id: string, headers: Record<string, string> = {}) =>
    tenant.rest('POST /redemptions', { reward_id: reward.id, user_id }, headers)
  const read = async (reward: Resource) => (await tenant.rest(`GET /rewards/${reward.id}`)).body.data.reward
  return { app, clock, tenant, take, read }
}

test('a static value is in the answer, its points are taken at once, and it is shown nowhere else', async (t) => {
  const { app, tenant, take, read } = await setUp(t)
  const reward = await createReward(tenant, {
    ...DIGITAL,
    name: 'Voucher',
    points_cost: 30,
    digital_asset_type: 'link',
    digital_asset_value: 'https://shop.example/one-for-all',
  })
  const user_id = await customerWith(tenant, 100)
  const { status, body } = await take(reward, user_id)
  t.is(status, 201)
  const { redemption, details, asset, transaction } = body.data
  t.deepEqual(redemption, {
    code: redemption.code,
    status: 'completed',
    reward_name: 'Voucher',
    points_cost: 30,
    type: 'item',
    cashback_cents: 0,
  })
  t.deepEqual(asset, { type: 'link', value: 'https://shop.example/one-for-all', expires_at: null })
  t.deepEqual(details, {
    id: details.id,
    reward_id: reward.id,
    user_id,
    delivery_mode: 'digital',
    fulfilment_status: null,
    shipping_address: null,
    created_at: '2026-06-01T10:00:00.000Z',
    expires_at: null,
    completed_at: '2026-06-01T10:00:00.000Z',
  })
  t.deepEqual(transaction, { id: transaction.id, type: 'redeem', points: 30, created_at: details.created_at })
  t.deepEqual(await pointsOf(tenant, app, user_id), { balance: 70, held: 0 })
  t.is((await read(reward)).redemptions_count, 1)
  for (const request of [`GET /redemptions/${redemption.code}`, 'GET /redemptions', 'GET /transactions'])
    t.false((await tenant.rest(request)).text.includes('one-for-all'), request)
  const stored = await app.database.db.redemption.findFirstOrThrow({ where: { id: details.id } })
  t.is(app.secrets.open(stored.assetValue!), asset.value)
  t.false(Buffer.from(stored.assetValue!).includes('one-for-all'))
  await assertAudit(app)
})

test('a value already handed over stays as it was when the reward changes', async (t) => {
  const { tenant, take } = await setUp(t)
  const reward = await createReward(tenant, { ...DIGITAL, points_cost: 1, digital_asset_value: 'OLD' })
  const user_id = await customerWith(tenant, 10)
  const key = { 'Idempotency-Key': 'k' }
  const first = await take(reward, user_id, key)
  await tenant.rest(`PATCH /rewards/${reward.id}`, { digital_asset_value: 'NEW' })
  t.is((await take(reward, user_id, key)).text, first.text)
  t.is((await take(reward, user_id)).body.data.asset.value, 'NEW')
})

test('a pool gives each value once, the oldest first, and switches the reward off with the last', async (t) => {
  const { app, tenant, take, read } = await setUp(t)
  const reward = await createPoolReward(tenant, ['A-1', 'A-2', 'A-3'])
  const user_id = await customerWith(tenant, 10)
  for (const value of ['A-1', 'A-2']) {
    const { body } = await take(reward, user_id)
    t.deepEqual(body.data.asset, { type: 'code', value, expires_at: null })
  }
  t.like(await read(reward), { active: true, deactivated_by_pool: false, pool_remaining: 1 })
  const last = await take(reward, user_id)
  t.is(last.body.data.asset.value, 'A-3')
  t.like(await read(reward), {
    active: false,
    deactivated_by_pool: true,
    deactivated_by_limit: false,
    pool_remaining: 0,
    redemptions_count: 3,
  })
  t.is(said(await take(reward, user_id)), '409 DIGITAL_POOL_EXHAUSTED')
  t.is(said(await tenant.rest(`PATCH /rewards/${reward.id}`, { active: true })), '409 DIGITAL_POOL_EXHAUSTED')
  t.deepEqual(await pointsOf(tenant, app, user_id), { balance: 7, held: 0 })

  await tenant.rest(`POST /rewards/${reward.id}/pool`, { values: ['A-4'] })
  t.like(await read(reward), { active: true, deactivated_by_pool: false, pool_remaining: 1 })
  t.is((await take(reward, user_id)).body.data.asset.value, 'A-4')
  const consumed = await app.database.db.poolValue.findFirstOrThrow({ where: { value: 'A-3' } })
  t.is(consumed.redemptionId, last.body.data.details.id)
  t.deepEqual(consumed.consumedAt, new Date('2026-06-01T10:00:00Z'))
  await assertAudit(app)
})

test('of 500 claims on a pool of 100 from two instances, 100 get a value each and 400 hear that it is exhausted', async (t) => {
  // [Without SKIP LOCKED, or with the value read and not locked, values are given twice or the claims stand in line;
  // without the second look that waits, some hear too early that nothing is left.]
  t.timeout(120_000)
  const one = await startApp(t)
  const two = await startApp(t, { beside: one })
  const tenant = await createTenant(one)
  const on = [tenant.rest, restClient(two.url, tenant.key)]
  const values = range(100).map((index) => `VALUE-${index}`)
  const reward = await createPoolReward(tenant, values)
  const customers: string[] = []
  for (const _ of range(50))
    customers.push(...(await Promise.all(range(10).map(() => customerWith(tenant, 5)))))
  const answers = await Promise.all(
    customers.map((user_id, index) => on[index % 2]!('POST /redemptions', { reward_id: reward.id, user_id })),
  )
  const got = answers
    .filter(({ status }) => status === 201)
    .map(({ body }) => body.data.asset.value as string)
  t.deepEqual(got.sort(), values.sort())
  const refused = answers.filter(({ status }) => status !== 201).map(said)
  t.deepEqual(refused, Array(400).fill('409 DIGITAL_POOL_EXHAUSTED'))
  const read = (await tenant.rest(`GET /rewards/${reward.id}`)).body.data.reward
  t.like(read, { redemptions_count: 100, pool_remaining: 0, active: false, deactivated_by_pool: true })
  await assertAudit(one)
})

test('a value that another claim holds is no exhaustion: who comes second waits, and gets it when the first gives up', async (t) => {
  const { app, tenant, take } = await setUp(t)
  const reward = await createPoolReward(tenant, ['ONLY'])
  const user_id = await customerWith(tenant, 10)
  const other = await app.database.pool.connect()
  await other.query('BEGIN')
  await other.query('SELECT 1 FROM pool_values FOR UPDATE')
  const claim = take(reward, user_id)
  await untilWaiting(app, 1)
  await other.query('ROLLBACK')
  other.release()
  t.is((await claim).body.data.asset.value, 'ONLY')
})

test('a cooldown and a cap hold for static and pool rewards', async (t) => {
  const { app, clock, tenant, take, read } = await setUp(t)
  const limit = {
    points_cost: 1,
    cooldown_mode: 'limit',
    cooldown_count: 1,
    cooldown_amount: 1,
    cooldown_unit: 'hour',
    max_redemptions: 2,
  }
  for (const reward of [
    await createReward(tenant, { ...DIGITAL, ...limit, digital_asset_value: 'X' }),
    await createPoolReward(tenant, ['P-1', 'P-2', 'P-3'], limit),
  ]) {
    const [ada, bob] = [await customerWith(tenant, 10), await customerWith(tenant, 10)]
    t.is(said(await take(reward, ada)), '201 ok')
    t.is(said(await take(reward, ada)), '409 REDEMPTION_COOLDOWN_ACTIVE:3600')
    clock.advance(3_600_000)
    t.is(said(await take(reward, ada)), '201 ok')
    t.is(said(await take(reward, bob)), '409 REDEMPTION_LIMIT_REACHED:2')
    t.like(await read(reward), { active: false, deactivated_by_limit: true, redemptions_remaining: 0 })
  }
  const value = await app.database.db.poolValue.findFirstOrThrow({ where: { value: 'P-3' } })
  t.is(value.redemptionId, null)
  await assertAudit(app)
})

test('50 customers at once on a cap of 7: seven values, and no more pool values than those', async (t) => {
  const { app, tenant, take } = await setUp(t)
  const values = range(60).map((index) => `VALUE-${index}`)
  const reward = await createPoolReward(tenant, values, { max_redemptions: 7 })
  const customers = await Promise.all(range(50).map(() => customerWith(tenant, 1)))
  const answers = await Promise.all(customers.map((user_id) => take(reward, user_id)))
  const tally = answers.map(said).sort()
  t.deepEqual(tally, [...Array(7).fill('201 ok'), ...Array(43).fill('409 REDEMPTION_LIMIT_REACHED:7')])
  const pool = (await tenant.rest(`GET /rewards/${reward.id}/pool`)).body.data
  t.like(pool, { total: 60, available: 53, consumed: 7 })
  await assertAudit(app)
})

test('without the points nothing of a pool is consumed', async (t) => {
  const { app, tenant, take } = await setUp(t)
  const reward = await createPoolReward(tenant, ['A'], { points_cost: 11 })
  const user_id = await customerWith(tenant, 10)
  t.is(said(await take(reward, user_id)), '409 INSUFFICIENT_POINTS:10')
  t.is((await tenant.rest(`GET /rewards/${reward.id}/pool`)).body.data.available, 1)
  await assertAudit(app)
})

test('a digital redemption takes no address', async (t) => {
  const { tenant } = await setUp(t)
  const reward = await createReward(tenant, { ...DIGITAL, points_cost: 0, digital_asset_value: 'X' })
  const answer = await tenant.rest('POST /redemptions', {
    reward_id: reward.id,
    user_id: await customerWith(tenant, 0),
    shipping_address: { name: 'Ada', line1: '1 Main St', city: 'Springfield', country: 'US' },
  })
  t.is(said(answer), '400 shipping_address: only for a reward that is shipped')
})

test('the same key 50 times at once gives one value of a pool', async (t) => {
  const { app, tenant, take } = await setUp(t)
  const reward = await createPoolReward(tenant, ['A', 'B', 'C'])
  const user_id = await customerWith(tenant, 10)
  const key = { 'Idempotency-Key': 'once' }
  const answers = await Promise.all(range(50).map(() => take(reward, user_id, key)))
  const texts = new Set(answers.filter(({ status }) => status === 201).map(({ text }) => text))
  t.is(texts.size, 1)
  t.true(answers.every((answer) => ['201 ok', '409 IDEMPOTENCY_KEY_IN_USE'].includes(said(answer))))
  t.is((await tenant.rest(`GET /rewards/${reward.id}/pool`)).body.data.consumed, 1)
  t.deepEqual(await pointsOf(tenant, app, user_id), { balance: 9, held: 0 })
})

test('a reward whose delivery changes while it is redeemed is redeemed in one way, whole', async (t) => {
  // [With the mode looked at before the customer was locked, a parcel without an address came of it.]
  const { app, tenant, take } = await setUp(t)
  const reward = await createReward(tenant, { ...DIGITAL, points_cost: 1, digital_asset_value: 'X' })
  const user_id = await customerWith(tenant, 10)
  const other = await app.database.pool.connect()
  await other.query('BEGIN')
  await other.query('SELECT 1 FROM customers WHERE id = $1 FOR UPDATE', [user_id])
  const claim = take(reward, user_id)
  await untilWaiting(app, 1)
  const changed = await tenant.rest(`PATCH /rewards/${reward.id}`, {
    delivery_mode: 'shipping',
    digital_asset_type: null,
  })
  t.is(said(changed), '200 ok')
  await other.query('COMMIT')
  other.release()
  t.is(said(await claim), '400 shipping_address: required for a reward that is shipped')
  t.is((await tenant.rest('GET /redemptions')).body.data.pagination.total_count, 0)
})
