import test from 'ava'
import { createTenant, startApp, type Tenant } from '../helpers/app.js'
import { createCustomer, createReward } from '../helpers/factories.js'

// Spec section 3, the rows of rewards: caps and pools, one test each, and what the causes of being off make of them.

const app = await startApp({ teardown: (end) => test.after.always(end) })

/** Shows a code for the reward and completes it at the counter, `times` times. */
async function redeem(tenant: Tenant, rewardId: string, times: number) {
  const { user_id } = await createCustomer(tenant)
  for (let done = 0; done < times; done++) {
    const { body } = await tenant.rest('POST /redemptions', { reward_id: rewardId, user_id })
    const { status, text } = await tenant.rest(`POST /redemptions/${body.data.redemption.code}/complete`)
    if (status !== 200) throw new Error(text)
  }
}

/** A reward that costs nothing, after `redeemed` completions, with a cap and further fields. */
async function setUp(redeemed: number, max_redemptions: number | null, overrides: object = {}) {
  const tenant = await createTenant(app)
  const { id } = await createReward(tenant, { points_cost: 0, max_redemptions })
  await redeem(tenant, id, redeemed)
  const change = async (fields: object) => {
    const { status, body } = await tenant.rest(`PATCH /rewards/${id}`, fields)
    return status === 200 ? stateOf(body.data.reward) : `${status} ${body.error.message}`
  }
  if (Object.keys(overrides).length > 0) await change(overrides)
  const state = async () => stateOf((await tenant.rest(`GET /rewards/${id}`)).body.data.reward)
  return { tenant, id, change, state }
}

const stateOf = (reward: Record<string, unknown>) => ({
  active: reward.active,
  by_limit: reward.deactivated_by_limit,
  by_pool: reward.deactivated_by_pool,
  count: reward.redemptions_count,
  remaining: reward.redemptions_remaining,
})
const ON = { active: true, by_limit: false, by_pool: false }
const BY_HAND = { active: false, by_limit: false, by_pool: false }
const BY_LIMIT = { active: false, by_limit: true, by_pool: false }
const BY_POOL = { active: false, by_limit: false, by_pool: true }
const POOL = { delivery_mode: 'digital', digital_asset_type: 'code', digital_asset_source: 'pool' }

test('completions that reach the cap switch the reward off by limit', async (t) => {
  const { tenant, id, state } = await setUp(1, 2)
  t.deepEqual(await state(), { ...ON, count: 1, remaining: 1 })
  await redeem(tenant, id, 1)
  t.deepEqual(await state(), { ...BY_LIMIT, count: 2, remaining: 0 })
})

test('raising the cap of a reward that is off by limit switches it on', async (t) => {
  const { change } = await setUp(2, 2)
  t.deepEqual(await change({ max_redemptions: 3 }), { ...ON, count: 2, remaining: 1 })
})

test('removing the cap of a reward that is off by limit switches it on', async (t) => {
  const { change } = await setUp(2, 2)
  t.deepEqual(await change({ max_redemptions: null }), { ...ON, count: 2, remaining: null })
})

test('raising or removing the cap leaves a reward off that was switched off by hand', async (t) => {
  const { change } = await setUp(1, 1, { active: false })
  t.deepEqual(await change({ max_redemptions: 5 }), { ...BY_HAND, count: 1, remaining: 4 })
  t.deepEqual(await change({ max_redemptions: null }), { ...BY_HAND, count: 1, remaining: null })
})

test('a cap below the completed redemptions is refused with their number, and nothing changes', async (t) => {
  const { change, state } = await setUp(2, null)
  t.is(await change({ max_redemptions: 1, name: 'Tea' }), '400 REWARD_LIMIT_BELOW_CURRENT:2')
  t.deepEqual(await state(), { ...ON, count: 2, remaining: null })
})

test('a cap below completed and reserved redemptions together is refused with their sum', async (t) => {
  const { id, change } = await setUp(1, null)
  await app.database.db.reward.updateMany({ where: { id }, data: { reservedCount: 2 } })
  t.is(await change({ max_redemptions: 2 }), '400 REWARD_LIMIT_BELOW_CURRENT:3')
  // Only completed redemptions switch it off.
  t.deepEqual(await change({ max_redemptions: 3 }), { ...ON, count: 1, remaining: 2 })
  t.deepEqual(await change({ active: true }), { ...ON, count: 1, remaining: 2 })
})

test('a cap equal to the completed redemptions switches the reward off by limit', async (t) => {
  const { change } = await setUp(2, null)
  t.deepEqual(await change({ max_redemptions: 2 }), { ...BY_LIMIT, count: 2, remaining: 0 })
})

test('a cap equal to the completed redemptions sets no flag on a reward that is off by hand', async (t) => {
  const { change } = await setUp(2, null, { active: false })
  t.deepEqual(await change({ max_redemptions: 2 }), { ...BY_HAND, count: 2, remaining: 0 })
})

test('active true at the cap is refused with the cap, and nothing changes', async (t) => {
  const { change, state } = await setUp(2, 2)
  t.is(await change({ active: true, name: 'Tea' }), '409 REWARD_LIMIT_REACHED:2')
  t.deepEqual(await state(), { ...BY_LIMIT, count: 2, remaining: 0 })
})

test('active true at the cap is refused too where the reward is off by hand', async (t) => {
  const { change } = await setUp(2, 2, { active: false })
  t.is(await change({ active: true }), '409 REWARD_LIMIT_REACHED:2')
})

test('active true is judged on the cap of the same request', async (t) => {
  const { change } = await setUp(2, 2, { active: false })
  t.is(await change({ active: true, max_redemptions: 2 }), '409 REWARD_LIMIT_REACHED:2')
  t.is(await change({ active: true, max_redemptions: 1 }), '400 REWARD_LIMIT_BELOW_CURRENT:2')
  t.deepEqual(await change({ active: true, max_redemptions: 3 }), { ...ON, count: 2, remaining: 1 })
})

test('active false is by hand, clears the flag, and only active true ends it', async (t) => {
  const { change } = await setUp(1, 1)
  t.deepEqual(await change({ active: false }), { ...BY_HAND, count: 1, remaining: 0 })
  t.deepEqual(await change({ name: 'Tea' }), { ...BY_HAND, count: 1, remaining: 0 })
  t.deepEqual(await change({ active: true, max_redemptions: null }), { ...ON, count: 1, remaining: null })
  t.deepEqual(await change({ active: true }), { ...ON, count: 1, remaining: null })
})

test('a new reward may start off by hand', async (t) => {
  const tenant = await createTenant(app)
  const reward = await createReward(tenant, { active: false, max_redemptions: 3 })
  t.deepEqual(stateOf(reward), { ...BY_HAND, count: 0, remaining: 3 })
  t.deepEqual(stateOf(await createReward(tenant, { ...POOL, active: false })), {
    ...BY_HAND,
    count: 0,
    remaining: null,
  })
})

test('a pool reward without values is saved, off by pool, also where it asks to be active', async (t) => {
  const tenant = await createTenant(app)
  for (const active of [undefined, true]) {
    const reward = await createReward(tenant, { ...POOL, active })
    t.deepEqual(stateOf(reward), { ...BY_POOL, count: 0, remaining: null })
    t.is(reward.pool_remaining, 0)
  }
})

test('switching to a pool without values switches off by pool, and leaving it switches on', async (t) => {
  const { change } = await setUp(0, 5)
  t.deepEqual(await change(POOL), { ...BY_POOL, count: 0, remaining: 5 })
  t.deepEqual(await change({ digital_asset_source: 'static', digital_asset_value: 'X' }), {
    ...ON,
    count: 0,
    remaining: 5,
  })
  t.deepEqual(await change({ digital_asset_source: 'pool' }), { ...BY_POOL, count: 0, remaining: 5 })
  t.deepEqual(await change({ delivery_mode: 'in_store' }), { ...ON, count: 0, remaining: 5 })
})

test('leaving a pool leaves a reward off that was switched off by hand', async (t) => {
  const { change } = await setUp(0, null, { ...POOL, active: false })
  t.deepEqual(await change({ delivery_mode: 'shipping' }), { ...BY_HAND, count: 0, remaining: null })
})

test('active true with an empty pool is refused, in any request that ends with one', async (t) => {
  const { change, state } = await setUp(0, null)
  t.is(await change({ ...POOL, active: true }), '409 DIGITAL_POOL_EXHAUSTED')
  t.deepEqual(await state(), { ...ON, count: 0, remaining: null })
  await change(POOL)
  t.is(await change({ active: true }), '409 DIGITAL_POOL_EXHAUSTED')
  await change({ active: false })
  t.is(await change({ active: true }), '409 DIGITAL_POOL_EXHAUSTED')
  t.deepEqual(await change({ active: true, delivery_mode: 'in_store' }), { ...ON, count: 0, remaining: null })
})

test('a pool with values does not switch off', async (t) => {
  const { id, change } = await setUp(0, null)
  await app.database.db.reward.updateMany({ where: { id }, data: { poolAvailable: 3 } })
  t.deepEqual(await change({ ...POOL, active: true }), { ...ON, count: 0, remaining: null })
})

test('limit and pool hold at once; each ends alone, and active true names the limit first', async (t) => {
  const { change } = await setUp(1, 1)
  t.deepEqual(await change(POOL), { ...BY_POOL, by_limit: true, count: 1, remaining: 0 })
  t.is(await change({ active: true }), '409 REWARD_LIMIT_REACHED:1')
  t.deepEqual(await change({ max_redemptions: 2 }), { ...BY_POOL, count: 1, remaining: 1 })
  t.deepEqual(await change({ max_redemptions: 1 }), { ...BY_POOL, by_limit: true, count: 1, remaining: 0 })
  t.deepEqual(await change({ delivery_mode: 'in_store' }), { ...BY_LIMIT, count: 1, remaining: 0 })
})

test('caps lowered while codes are completed never end below the count, and the flags fit the cap', async (t) => {
  const { tenant, id, state } = await setUp(0, null)
  const { user_id } = await createCustomer(tenant)
  const codes = await Promise.all(
    Array.from({ length: 12 }, async () => {
      const { body } = await tenant.rest('POST /redemptions', { reward_id: id, user_id })
      return body.data.redemption.code as string
    }),
  )
  const complete = codes.map(async (code) => {
    const { status, body } = await tenant.rest(`POST /redemptions/${code}/complete`)
    const refusal = /^REDEMPTION_(LIMIT_REACHED:\d+|NOT_ELIGIBLE:inactive)$/
    t.true(status === 200 || refusal.test(body.error.message), body.error?.message)
  })
  const lower = [9, 3, 6, 1, 7, 2, 8, 4].map(async (max_redemptions) => {
    const { status, body } = await tenant.rest(`PATCH /rewards/${id}`, { max_redemptions })
    if (status === 200) t.true(body.data.reward.redemptions_count <= max_redemptions)
    else t.regex(body.error.message, /^REWARD_LIMIT_BELOW_CURRENT:\d+$/)
  })
  await Promise.all([...complete, ...lower])

  const { count, remaining, active, by_limit } = await state()
  t.true(Number(remaining) >= 0)
  t.is(by_limit, remaining === 0)
  t.is(active, remaining !== 0)
  const completed = await tenant.rest('GET /redemptions?status=completed&limit=100')
  t.is(completed.body.data.pagination.total_count, count)
})
