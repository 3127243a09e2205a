import test, { type ExecutionContext } from 'ava'
import pg from 'pg'
import { audit } from '../../src/audit/audit.js'
import { createTenant, type RestAnswer, restClient, startApp, type TestApp } from '../helpers/app.js'
import { createCustomer, createPoolReward } from '../helpers/factories.js'
import { untilWaiting } from '../helpers/locks.js'
import { fillPool } from './pool-rows.js'

const CAPACITY = 100_000

/** Two instances of the service on one database, and clients that take them in turn. */
async function twoInstances(t: ExecutionContext) {
  const one = await startApp(t)
  const two = await startApp(t, { beside: one })
  const tenant = await createTenant(one)
  const clients = [tenant.rest, restClient(two.url, tenant.key)]
  return { app: one, tenant, on: (index: number) => clients[index % 2]! }
}

const range = (length: number) => Array.from({ length }, (_, index) => index)

const tally = (answers: RestAnswer[]): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const { status, body } of answers) {
    const outcome = body.success ? String(status) : `${status} ${body.error.message}`
    counts[outcome] = (counts[outcome] ?? 0) + 1
  }
  return counts
}

async function brokenChecks(app: TestApp): Promise<string[]> {
  const { checks } = await audit(app.database)
  return checks.filter(({ broken }) => broken > 0).map(({ name }) => name)
}

const countRows = async (app: TestApp, rewardId: string): Promise<number> =>
  (
    await app.database.pool.query('SELECT count(*)::int AS rows FROM pool_values WHERE reward_id = $1', [
      rewardId,
    ])
  ).rows[0].rows

test('a pool never holds more than its capacity, however many fill it from two instances', async (t) => {
  const { app, tenant, on } = await twoInstances(t)
  const { id } = await createPoolReward(tenant)
  await fillPool(app, tenant, id, CAPACITY - 1000)
  const answers = await Promise.all(
    range(20).map((batch) =>
      on(batch)(`POST /rewards/${id}/pool`, { values: range(100).map((index) => `${batch}/${index}`) }),
    ),
  )
  t.deepEqual(tally(answers), { 200: 10, [`409 POOL_CAPACITY_EXCEEDED:${CAPACITY}`]: 10 })
  t.is(await countRows(app, id), CAPACITY)
  t.like((await tenant.rest(`GET /rewards/${id}/pool`)).body.data, { total: CAPACITY, available: CAPACITY })
  t.deepEqual(await brokenChecks(app), [])
})

test('what overflows the capacity adds nothing, while duplicates take no room', async (t) => {
  const { app, tenant, on } = await twoInstances(t)
  const { id } = await createPoolReward(tenant, ['a', 'b'])
  await fillPool(app, tenant, id, CAPACITY - 3)
  const add = (values: string[]) => on(0)(`POST /rewards/${id}/pool`, { values })
  t.deepEqual(tally([await add(['x', 'y'])]), { [`409 POOL_CAPACITY_EXCEEDED:${CAPACITY}`]: 1 })
  t.like((await add(['a', 'x', 'b', 'x'])).body.data, { added: 1, skipped: 3 })
  t.like((await add(['a', 'x', 'b'])).body.data, { added: 0, skipped: 3 })
  t.deepEqual(tally([await add(['z'])]), { [`409 POOL_CAPACITY_EXCEEDED:${CAPACITY}`]: 1 })
})

test('additions that share values store each once, and none of them fails', async (t) => {
  const { app, tenant, on } = await twoInstances(t)
  const { id } = await createPoolReward(tenant)
  const values = range(500).map(String)
  const answers = await Promise.all(
    range(16).map((index) =>
      on(index)(`POST /rewards/${id}/pool`, { values: index % 2 === 0 ? values : values.toReversed() }),
    ),
  )
  t.deepEqual(tally(answers), { 200: 16 })
  t.is(
    answers.reduce((sum, { body }) => sum + body.data.added, 0),
    500,
  )
  t.is(await countRows(app, id), 500)
  t.deepEqual(await brokenChecks(app), [])
})

test('redeeming, filling and emptying at once hands out each value once and leaves every count right', async (t) => {
  const { app, tenant, on } = await twoInstances(t)
  const { id } = await createPoolReward(
    tenant,
    range(40).map((index) => `first-${index}`),
  )
  const customers = await Promise.all(
    range(80).map(async (index) => {
      const { user_id } = await createCustomer(tenant)
      await on(index)('POST /points/issue', { user_id, points: 10 })
      return user_id as string
    }),
  )
  const redeeming = customers.map((user_id, index) =>
    on(index)('POST /redemptions', { reward_id: id, user_id }),
  )
  const changing = range(40).map((index) =>
    index % 4 === 3
      ? on(index)(`DELETE /rewards/${id}/pool`, { values: [`first-${index}`, `later-${index - 1}-0`] })
      : on(index)(`POST /rewards/${id}/pool`, { values: [`later-${index}-0`, `first-${index}`] }),
  )
  const redeemed = await Promise.all(redeeming)
  t.deepEqual(tally(await Promise.all(changing)), { 200: 40 })
  const given = redeemed.filter(({ status }) => status === 201).map(({ body }) => body.data.asset.value)
  t.true(given.length >= 30)
  t.is(new Set(given).size, given.length)
  t.is((await tenant.rest(`GET /rewards/${id}/pool`)).body.data.consumed, given.length)
  const { 201: _, '409 DIGITAL_POOL_EXHAUSTED': __, ...others } = tally(redeemed)
  t.deepEqual(others, {})
  t.deepEqual(await brokenChecks(app), [])
})

/** Somebody else's transaction, step by step. */
async function otherTransaction(t: ExecutionContext, app: TestApp) {
  const client = new pg.Client({ connectionString: app.databaseUrl })
  await client.connect()
  t.teardown(() => client.end())
  await client.query('BEGIN')
  return (sql: string, values: unknown[] = []) => client.query(sql, values)
}

for (const [what, change] of [
  ['adding', (id: string) => [`POST /rewards/${id}/pool`, { values: ['a', 'new'] }]],
  ['removing', (id: string) => [`DELETE /rewards/${id}/pool`, { values: ['a', 'b'] }]],
] as const)
  test(`${what} waits for a value that is being redeemed without blocking the redemption`, async (t) => {
    const app = await startApp(t)
    const tenant = await createTenant(app)
    const { id } = await createPoolReward(tenant, ['a', 'b'])
    const redemption = await otherTransaction(t, app)
    await redemption(`UPDATE pool_values SET consumed_at = NULL WHERE reward_id = $1 AND value = 'a'`, [id])
    const [request, body] = change(id) as [string, object]
    const answer = tenant.rest(request, body)
    await untilWaiting(app, 1)
    // The last lock of a redemption: in any other order each would wait for the other.
    await redemption('SELECT 1 FROM rewards WHERE id = $1 FOR NO KEY UPDATE NOWAIT', [id])
    await redemption('COMMIT')
    t.is((await answer).status, 200)
    t.deepEqual(await brokenChecks(app), [])
  })

test('an addition that shares values with another waits before it has stored what the other comes to next', async (t) => {
  const app = await startApp(t)
  const tenant = await createTenant(app)
  const { id } = await createPoolReward(tenant)
  const other = await otherTransaction(t, app)
  const insert = (value: string) =>
    other(
      `INSERT INTO pool_values (business_id, id, reward_id, value, created_at)
       VALUES ($1, gen_random_uuid(), $2, $3, now())`,
      [tenant.businessId, id, value],
    )
  await insert('a')
  const answer = tenant.rest(`POST /rewards/${id}/pool`, { values: ['b', 'a', 'B'] })
  await untilWaiting(app, 1)
  await other(`SET LOCAL lock_timeout = '100ms'`)
  await insert('b')
  await other('ROLLBACK')
  t.like((await answer).body.data, { added: 3, skipped: 0 })
})

for (const [what, sql, status, message] of [
  ['gives links', `digital_asset_type = 'link'`, 400, /^values\.0: must be an http or https URL/],
  ['leaves the pool', `digital_asset_source = 'static', digital_asset_value = 'X'`, 400, /^REWARD_NOT_POOL/],
  ['is deleted', 'deleted_at = now()', 404, /^Reward not found$/],
] as const)
  test(`a code that is being added while its reward ${what} is refused`, async (t) => {
    const app = await startApp(t)
    const tenant = await createTenant(app)
    const { id } = await createPoolReward(tenant)
    const change = await otherTransaction(t, app)
    await change(`UPDATE rewards SET ${sql} WHERE id = $1`, [id])
    const answer = tenant.rest(`POST /rewards/${id}/pool`, { values: ['CODE'] })
    await untilWaiting(app, 1)
    await change('COMMIT')
    t.is((await answer).status, status)
    t.regex((await answer).body.error.message, message)
    t.is(await countRows(app, id), 0)
  })
