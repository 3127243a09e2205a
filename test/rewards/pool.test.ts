import test from 'ava'
import { v7 as uuidv7 } from 'uuid'
import { createTenant, startApp, type Tenant } from '../helpers/app.js'
import { createCustomer, createPoolReward, createReward } from '../helpers/factories.js'

const app = await startApp({ teardown: (end) => test.after.always(end) })

/** Redeems for a customer who can pay; answers the value that they got. */
async function redeem({ rest }: Tenant, rewardId: string): Promise<string> {
  const { user_id } = await createCustomer({ rest })
  await rest('POST /points/issue', { user_id, points: 1000 })
  const { body, text } = await rest('POST /redemptions', { reward_id: rewardId, user_id })
  return body.data?.asset.value ?? text
}

const statsOf = async ({ rest }: Tenant, id: string) => (await rest(`GET /rewards/${id}/pool`)).body.data
const rewardOf = async ({ rest }: Tenant, id: string) => (await rest(`GET /rewards/${id}`)).body.data.reward
const stats = (reward_id: string, available: number, consumed: number) => ({
  reward_id,
  total: available + consumed,
  available,
  consumed,
  capacity: 100_000,
})

const ON = { active: true, deactivated_by_pool: false }
const OFF_BY_POOL = { active: false, deactivated_by_pool: true, pool_remaining: 0 }

test('the stats have exactly the documented fields and message', async (t) => {
  const tenant = await createTenant(app)
  const { id } = await createPoolReward(tenant, ['a', 'b', 'c'])
  await redeem(tenant, id)
  const { status, text } = await tenant.rest(`GET /rewards/${id}/pool`)
  t.is(status, 200)
  t.deepEqual(JSON.parse(text), {
    success: true,
    message: 'Code pool retrieved successfully',
    data: stats(id, 2, 1),
  })
})

test('adding answers what was added and what was skipped: sent twice, stored already, consumed already', async (t) => {
  const tenant = await createTenant(app)
  const { id } = await createPoolReward(tenant, ['first', 'second'])
  t.is(await redeem(tenant, id), 'first')
  const { status, body } = await tenant.rest(`POST /rewards/${id}/pool`, {
    values: ['first', 'second', 'third', 'THIRD', 'third', ' third'],
  })
  t.is(status, 200)
  t.deepEqual(body, {
    success: true,
    message: 'Values added to the code pool successfully',
    data: { added: 3, skipped: 3, pool: stats(id, 4, 1) },
  })
  t.deepEqual(await statsOf(tenant, id), stats(id, 4, 1))
})

test('values are handed out in the order in which they were added', async (t) => {
  const tenant = await createTenant(app)
  const { id } = await createPoolReward(tenant, ['z', 'b', 'y'])
  await tenant.rest(`POST /rewards/${id}/pool`, { values: ['a'] })
  const given = []
  for (let count = 0; count < 5; count++) given.push(await redeem(tenant, id))
  t.deepEqual(given.slice(0, 4), ['z', 'b', 'y', 'a'])
  t.regex(given[4]!, /"DIGITAL_POOL_EXHAUSTED"/)
})

test('a value belongs to one reward: another may have the same', async (t) => {
  const tenant = await createTenant(app)
  const [one, two] = [await createPoolReward(tenant, ['x']), await createPoolReward(tenant, ['x'])]
  t.is(await redeem(tenant, one.id), 'x')
  t.deepEqual(await statsOf(tenant, two.id), stats(two.id, 1, 0))
})

test('removing takes unclaimed values only, and of those named the ones there are', async (t) => {
  const tenant = await createTenant(app)
  const { id } = await createPoolReward(tenant, ['a', 'b', 'c', 'd'])
  await redeem(tenant, id)
  const remove = (body: object) => tenant.rest(`DELETE /rewards/${id}/pool`, body)
  const some = await remove({ values: ['a', 'b', 'b', 'nowhere', 'C'] })
  t.is(some.status, 200)
  t.deepEqual(some.body, {
    success: true,
    message: 'Values removed from the code pool successfully',
    data: { removed: 1, pool: stats(id, 2, 1) },
  })
  t.deepEqual((await remove({ all: true })).body.data, { removed: 2, pool: stats(id, 0, 1) })
  t.deepEqual((await remove({ all: true, values: null })).body.data, { removed: 0, pool: stats(id, 0, 1) })
  const again = await tenant.rest(`POST /rewards/${id}/pool`, { values: ['a', 'b'] })
  t.deepEqual(again.body.data, { added: 1, skipped: 1, pool: stats(id, 1, 1) })
})

// Spec §3, the rows of pool rewards.

test('a pool reward is off until it is filled, and cannot be switched on before', async (t) => {
  const tenant = await createTenant(app)
  const { id } = await createPoolReward(tenant)
  t.like(await rewardOf(tenant, id), OFF_BY_POOL)
  const { status, body } = await tenant.rest(`PATCH /rewards/${id}`, { active: true })
  t.deepEqual([status, body.error.message], [409, 'DIGITAL_POOL_EXHAUSTED'])
  await tenant.rest(`POST /rewards/${id}/pool`, { values: ['a'] })
  t.like(await rewardOf(tenant, id), { ...ON, pool_remaining: 1 })
})

test('the last value switches the reward off, whether it is redeemed or removed; a refill switches it on', async (t) => {
  const tenant = await createTenant(app)
  const { id } = await createPoolReward(tenant, ['a', 'b'])
  await redeem(tenant, id)
  t.like(await rewardOf(tenant, id), { ...ON, pool_remaining: 1 })
  await redeem(tenant, id)
  t.like(await rewardOf(tenant, id), OFF_BY_POOL)
  await tenant.rest(`POST /rewards/${id}/pool`, { values: ['a', 'b'] })
  t.like(await rewardOf(tenant, id), OFF_BY_POOL)
  await tenant.rest(`POST /rewards/${id}/pool`, { values: ['c', 'd'] })
  t.like(await rewardOf(tenant, id), ON)
  await tenant.rest(`DELETE /rewards/${id}/pool`, { values: ['c'] })
  t.like(await rewardOf(tenant, id), ON)
  await tenant.rest(`DELETE /rewards/${id}/pool`, { values: ['d'] })
  t.like(await rewardOf(tenant, id), OFF_BY_POOL)
})

test('a reward that is off by hand stays so, without a flag, whatever happens to its pool', async (t) => {
  const tenant = await createTenant(app)
  const { id } = await createPoolReward(tenant, ['a'])
  await tenant.rest(`PATCH /rewards/${id}`, { active: false })
  const off = { active: false, deactivated_by_pool: false }
  await tenant.rest(`DELETE /rewards/${id}/pool`, { all: true })
  t.like(await rewardOf(tenant, id), { ...off, pool_remaining: 0 })
  await tenant.rest(`POST /rewards/${id}/pool`, { values: ['b'] })
  t.like(await rewardOf(tenant, id), { ...off, pool_remaining: 1 })
  await tenant.rest(`PATCH /rewards/${id}`, { active: true })
  t.like(await rewardOf(tenant, id), ON)
})

test('a refill clears the lack of values only: a reward at its cap stays off', async (t) => {
  const tenant = await createTenant(app)
  const { id } = await createPoolReward(tenant, ['a'], { max_redemptions: 1 })
  await redeem(tenant, id)
  t.like(await rewardOf(tenant, id), { ...OFF_BY_POOL, deactivated_by_limit: true })
  await tenant.rest(`POST /rewards/${id}/pool`, { values: ['b'] })
  t.like(await rewardOf(tenant, id), {
    active: false,
    deactivated_by_limit: true,
    deactivated_by_pool: false,
  })
  await tenant.rest(`PATCH /rewards/${id}`, { max_redemptions: 2 })
  t.like(await rewardOf(tenant, id), ON)
})

test('leaving the pool clears its cause and keeps its values; coming back finds them', async (t) => {
  const tenant = await createTenant(app)
  const { id } = await createPoolReward(tenant)
  const patch = (body: object) => tenant.rest(`PATCH /rewards/${id}`, body)
  await patch({ digital_asset_source: 'static', digital_asset_value: 'SAVE' })
  t.like(await rewardOf(tenant, id), { ...ON, pool_remaining: null })
  await patch({ digital_asset_source: 'pool' })
  await tenant.rest(`POST /rewards/${id}/pool`, { values: ['a', 'b'] })
  await patch({ delivery_mode: 'in_store' })
  t.like(await rewardOf(tenant, id), { ...ON, pool_remaining: null })
  await patch({ delivery_mode: 'digital', digital_asset_type: 'code', digital_asset_source: 'pool' })
  t.like(await rewardOf(tenant, id), { ...ON, pool_remaining: 2 })
})

test('every call about the pool of a reward without one is refused, and of no reward is a 404', async (t) => {
  const tenant = await createTenant(app)
  const stranger = await createTenant(app)
  const plain = await createReward(tenant)
  const digital = await createReward(tenant, {
    delivery_mode: 'digital',
    digital_asset_type: 'code',
    digital_asset_value: 'SAVE',
  })
  const deleted = await createPoolReward(tenant, ['a'])
  await tenant.rest(`DELETE /rewards/${deleted.id}`)
  const foreign = await createPoolReward(stranger, ['a'])
  const calls = (id: string): [string, object?][] => [
    [`GET /rewards/${id}/pool`],
    [`GET /rewards/${id}/pool/export`],
    [`POST /rewards/${id}/pool`, { values: ['a'] }],
    [`DELETE /rewards/${id}/pool`, { values: ['a'] }],
    [`DELETE /rewards/${id}/pool`, { all: true }],
  ]
  const said = async (id: string) => {
    const answers = await Promise.all(calls(id).map(([request, body]) => tenant.rest(request, body)))
    return [...new Set(answers.map(({ status, text }) => `${status} ${text}`))]
  }
  const refusal = (status: number, message: string) => [
    `${status} ${JSON.stringify({ success: false, error: { message } })}`,
  ]
  for (const id of [plain.id, digital.id])
    t.deepEqual(await said(id), refusal(400, 'REWARD_NOT_POOL_SOURCED'))
  for (const id of [deleted.id, foreign.id, uuidv7(), 'x'])
    t.deepEqual(await said(id), refusal(404, 'Reward not found'))
  t.deepEqual(await statsOf(stranger, foreign.id), stats(foreign.id, 1, 0))
})

test('a retry with the same Idempotency-Key adds nothing, whether JSON or CSV, and other values are refused', async (t) => {
  const tenant = await createTenant(app)
  const { id } = await createPoolReward(tenant)
  const add = (key: string, body: unknown, type = 'application/json') =>
    tenant.rest(`POST /rewards/${id}/pool`, body, { 'content-type': type, 'Idempotency-Key': key })
  for (const [key, body, type] of [
    ['json', { values: ['a', 'b'] }, 'application/json'],
    ['csv', 'value\nc\nd\n', 'text/csv'],
  ] as const) {
    const [first, second] = [await add(key, body, type), await add(key, body, type)]
    t.like(first.body.data, { added: 2, skipped: 0 })
    t.is(second.text, first.text)
    t.is(second.headers.get('idempotency-replayed'), 'true')
  }
  const other = await add('csv', 'value\nc\ne\n', 'text/csv')
  t.deepEqual([other.status, other.body.error.message], [422, 'IDEMPOTENCY_KEY_REUSED'])
  t.deepEqual(await statsOf(tenant, id), stats(id, 4, 0))
})

test('the graph has the pool: stats beside the reward, its values in pages, adding and removing', async (t) => {
  const tenant = await createTenant(app)
  const { id } = await createPoolReward(tenant)
  const { graph } = tenant
  const added = await graph(
    `mutation ($input: AddPoolValuesInput!) { addPoolValues(input: $input) { added skipped pool { total } } }`,
    { input: { rewardId: id, values: ['a', 'b', 'c', 'd', 'e'] } },
  )
  t.deepEqual(added.data.addPoolValues, { added: 5, skipped: 0, pool: { total: 5 } })
  await redeem(tenant, id)
  const removed = await graph(
    `mutation ($input: RemovePoolValuesInput!) { removePoolValues(input: $input) { removed } }`,
    { input: { rewardId: id, values: ['e'] } },
  )
  t.deepEqual(removed.data.removePoolValues, { removed: 1 })

  const other = await createReward(tenant)
  const both = `fragment Pool on Reward { pool { rewardId total available consumed capacity } }`
  const read = await graph(
    `{ one: reward(id: "${id}") { ...Pool } none: reward(id: "${other.id}") { ...Pool } } ${both}`,
  )
  t.deepEqual(read.data.one.pool, {
    rewardId: id,
    total: 4,
    available: 3,
    consumed: 1,
    capacity: 100_000,
  })
  t.is(read.data.none.pool, null)

  const page = async (args: string) =>
    (
      await graph(`{ poolValues(rewardId: "${id}", ${args}) {
        nodes { value status consumedAt redemptionId } totalCount
        pageInfo { startCursor endCursor hasNextPage hasPreviousPage }
      } }`)
    ).data.poolValues
  const valuesOf = ({ nodes }: { nodes: { value: string }[] }) => nodes.map(({ value }) => value).join('')
  const first = await page('first: 2')
  t.is(first.totalCount, 4)
  t.is(valuesOf(first), 'ab')
  t.like(first.nodes[0], { status: 'consumed' })
  t.truthy(first.nodes[0].consumedAt && first.nodes[0].redemptionId)
  t.deepEqual(first.nodes[1], { value: 'b', status: 'available', consumedAt: null, redemptionId: null })
  t.like(first.pageInfo, { hasNextPage: true, hasPreviousPage: false })
  const second = await page(`first: 2, after: "${first.pageInfo.endCursor}"`)
  t.is(valuesOf(second), 'cd')
  t.like(second.pageInfo, { hasNextPage: false, hasPreviousPage: true })
  t.is(valuesOf(await page(`last: 2, before: "${second.pageInfo.endCursor}"`)), 'bc')
  t.is(valuesOf(await page('last: 1')), 'd')
  t.is(valuesOf(await page('offset: 1, first: 2')), 'bc')
})
