import { Resolver } from 'node:dns/promises'
import type { RequestListener } from 'node:http'
import test, { type ExecutionContext } from 'ava'
import { settleProvisions } from '../../src/jobs/sweeps.js'
import { restClient, startApp, testClock } from '../helpers/app.js'
import {
  assertAudit,
  customerWith,
  type ExternalBusiness,
  gate,
  PROVISION_FAILED,
  pointsOf,
  said,
  startExternal,
  until,
} from '../helpers/external.js'
import type { Resource } from '../helpers/factories.js'

/** What may come between the beginning and the end of a redemption whose value a business mints. */

const KEY = { 'Idempotency-Key': 'the key' }
const LEASE_MS = 20_000
const KEY_LEASE_MS = 30_000
const fails: RequestListener = (_request, response) => response.writeHead(500).end()

/** Another instance, whose calls get stuck until it is thawed, and then fail. */
async function startFrozen(t: ExecutionContext, { app, tenant, internet }: ExternalBusiness) {
  let thaw = () => {}
  const thawed = new Promise<string[]>((resolve) => {
    thaw = () => resolve([])
  })
  const stuck = { resolve4: () => thawed, resolve6: () => thawed, cancel: () => {} }
  const network = { ...internet.network, newResolver: () => Object.assign(new Resolver(), stuck) as Resolver }
  const { url } = await startApp(t, { beside: app, clock: app.clock, network })
  return { instance: restClient(url, tenant.key), thaw }
}

async function setUp(t: ExecutionContext) {
  const clock = testClock()
  const external = await startExternal(t, { clock })
  const { app, tenant } = external
  const { pool } = app.database
  const user_id = await customerWith(tenant, 100)
  const take = (reward: Resource, headers: Record<string, string> = {}, rest = tenant.rest) =>
    rest('POST /redemptions', { reward_id: reward.id, user_id }, headers)

  /**
   * A redemption as a process leaves it that stops in the middle of its call: pending, its lease and its key claimed.
   * `end` lets the process go on, with a call that has failed, and says what it answers.
   */
  async function abandon(reward: Resource, headers: Record<string, string> = KEY, customer = user_id) {
    const { instance, thaw } = await startFrozen(t, external)
    const body = { reward_id: reward.id, user_id: customer }
    const answer = instance('POST /redemptions', body, headers)
    const sent = async () =>
      (
        await pool.query(
          `SELECT id FROM redemptions
            WHERE reward_id = $1 AND customer_id = $2 AND status = 'pending' AND provision_sent_at IS NOT NULL`,
          [reward.id, customer],
        )
      ).rows
    await until('the call is under way', async () => (await sent()).length === 1)
    const id: string = (await sent())[0].id
    const end = async () => {
      thaw()
      return said(await answer)
    }
    answer.catch(() => {})
    return { id, end }
  }

  const statusOf = async (id: string): Promise<string> =>
    (await pool.query('SELECT status FROM redemptions WHERE id = $1', [id])).rows[0].status
  const points = () => pointsOf(tenant, app, user_id)
  return { ...external, clock, user_id, take, abandon, statusOf, points }
}

test('the same key 50 times at once on two instances: one redemption, one key at the receiver', async (t) => {
  const { app, tenant, mint, beside, take, points, reward: create } = await setUp(t)
  const other = await beside()
  const reward = await create()
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) => take(reward, KEY, index % 2 ? other : tenant.rest)),
  )
  const taken = answers.filter(({ status }) => status === 201)
  t.is(new Set(taken.map(({ text }) => text)).size, 1)
  t.true(answers.every((answer) => ['201 ok', '409 IDEMPOTENCY_KEY_IN_USE'].includes(said(answer))))
  const refused = answers.filter(({ status }) => status === 409)
  t.true(refused.every(({ headers }) => headers.get('retry-after') === '1'))
  t.deepEqual(mint.keys, [taken[0]!.body.data.details.id])
  const again = await take(reward, KEY, other)
  t.deepEqual([again.text, again.headers.get('idempotency-replayed')], [taken[0]!.text, 'true'])
  t.deepEqual(await points(), { balance: 0, held: 0 })
  await assertAudit(app)
})

test('a failure is stored for its key; another key asks anew', async (t) => {
  const { mint, take, reward: create } = await setUp(t)
  const reward = await create()
  mint.answer = fails
  const first = await take(reward, KEY)
  t.is(said(first), PROVISION_FAILED)
  mint.answer = mint.receiver
  const again = await take(reward, KEY)
  t.deepEqual([again.text, again.headers.get('idempotency-replayed')], [first.text, 'true'])
  t.is(mint.keys.length, 1)
  t.is(said(await take(reward, { 'Idempotency-Key': 'another' })), '201 ok')
})

test('refusals before the call are stored for their key as all are', async (t) => {
  const { tenant, take, reward: create } = await setUp(t)
  const reward = await create({ points_cost: 101 })
  const first = await take(reward, KEY)
  t.is(said(first), '409 INSUFFICIENT_POINTS:100')
  await tenant.rest(`PATCH /rewards/${reward.id}`, { points_cost: 1 })
  t.is((await take(reward, KEY)).headers.get('idempotency-replayed'), 'true')
  const bad = await tenant.rest('POST /redemptions', { reward_id: reward.id }, { 'Idempotency-Key': 'bad' })
  t.is(bad.status, 400)
})

test('a retry waits for the lease, then goes on with the same redemption and the same key', async (t) => {
  const { app, clock, mint, take, abandon, points, reward: create } = await setUp(t)
  const reward = await create()
  const { id, end } = await abandon(reward)
  t.is(said(await take(reward, KEY)), '409 IDEMPOTENCY_KEY_IN_USE')
  t.is((await take({ ...reward, id: (await create()).id }, KEY)).status, 422)
  clock.advance(KEY_LEASE_MS - 1)
  t.is(said(await take(reward, KEY)), '409 IDEMPOTENCY_KEY_IN_USE')
  clock.advance(1)
  const retried = await take(reward, KEY)
  t.is(said(retried), '201 ok')
  t.is(retried.body.data.details.id, id)
  t.is(retried.body.data.asset.value, mint.minted()[id]!.value)
  t.deepEqual(mint.keys, [id])
  // The first process comes back with a failure, long after: what is settled stays, and it says so too.
  t.is(await end(), '201 ok')
  t.deepEqual(await points(), { balance: 0, held: 0 })
  t.is((await take(reward, KEY)).text, retried.text)
  await assertAudit(app)
})

test('the sweep sends what may have left once more, with the same key; a retry gets what came of it', async (t) => {
  const { app, clock, mint, take, abandon, points, reward: create } = await setUp(t)
  const reward = await create()
  const { id } = await abandon(reward)
  clock.advance(LEASE_MS - 1)
  t.is(await settleProvisions(app), 0)
  clock.advance(1)
  t.is(await settleProvisions(app), 1)
  t.is(await settleProvisions(app), 0)
  t.deepEqual(mint.keys, [id])
  t.deepEqual(await points(), { balance: 0, held: 0 })
  clock.advance(KEY_LEASE_MS)
  const retried = await take(reward, KEY)
  t.is(retried.body.data.details.id, id)
  t.is(retried.body.data.asset.value, mint.minted()[id]!.value)
  t.like(retried.body.data.transaction, { type: 'redeem', points: 100 })
  t.is((await take(reward, KEY)).headers.get('idempotency-replayed'), 'true')
  t.deepEqual(mint.keys, [id])
  await assertAudit(app)
})

test('what nothing was sent for is cancelled by the sweep, without a call', async (t) => {
  const { app, clock, mint, take, abandon, statusOf, points, reward: create } = await setUp(t)
  const reward = await create()
  const { id } = await abandon(reward)
  await app.database.pool.query('UPDATE redemptions SET provision_sent_at = NULL')
  clock.advance(KEY_LEASE_MS)
  t.is(await settleProvisions(app), 1)
  t.is(await statusOf(id), 'cancelled')
  t.deepEqual(mint.keys, [])
  t.deepEqual(await points(), { balance: 100, held: 0 })
  t.is(said(await take(reward, KEY)), PROVISION_FAILED)
  t.is(said(await take(reward)), '201 ok')
  await assertAudit(app)
})

test('a sweep whose call fails cancels', async (t) => {
  const { app, clock, mint, abandon, statusOf, points, reward: create } = await setUp(t)
  const { id } = await abandon(await create())
  mint.answer = fails
  clock.advance(LEASE_MS)
  t.is(await settleProvisions(app), 1)
  t.is(await statusOf(id), 'cancelled')
  t.deepEqual(await points(), { balance: 100, held: 0 })
  await assertAudit(app)
})

test('of many sweeps at once one settles each redemption', async (t) => {
  const external = await setUp(t)
  const { app, clock, tenant, mint, reward: create } = external
  const reward = await create({ points_cost: 1 })
  const { instance, thaw } = await startFrozen(t, external)
  const customers = await Promise.all(Array.from({ length: 15 }, () => customerWith(tenant, 5)))
  const answers = customers.map((user_id) => instance('POST /redemptions', { reward_id: reward.id, user_id }))
  const underWay = () => app.database.db.redemption.count({ where: { provisionSentAt: { not: null } } })
  await until('all calls are under way', async () => (await underWay()) === 15)
  clock.advance(LEASE_MS)
  const settled = await Promise.all([1, 2, 3, 4].map(() => settleProvisions(app)))
  t.is(
    settled.reduce((sum, count) => sum + count),
    15,
  )
  t.is(mint.keys.length, 15)
  t.is(Object.keys(mint.minted()).length, 15)
  thaw()
  t.true((await Promise.all(answers)).every(({ status }) => status === 201))
  await assertAudit(app)
})

test('one that cannot be settled keeps no other waiting', async (t) => {
  const { app, clock, abandon, statusOf, reward: create } = await setUp(t)
  const broken = await create({ points_cost: 1 })
  const [first, second] = [await abandon(broken, {}), await abandon(await create({ points_cost: 1 }), {})]
  await app.database.pool.query(`UPDATE rewards SET digital_webhook_secret = '\\x00' WHERE id = $1`, [
    broken.id,
  ])
  clock.advance(LEASE_MS)
  await t.throwsAsync(settleProvisions(app), { message: /sealed by a secret/ })
  t.deepEqual([await statusOf(first.id), await statusOf(second.id)], ['pending', 'completed'])
})

test('while the sweep is at work a retry is told to wait, and then gets its outcome', async (t) => {
  // [With the key let go on that refusal, the next retry minted a second value.]
  const { app, clock, mint, take, abandon, points, reward: create } = await setUp(t)
  const reward = await create()
  const { id } = await abandon(reward)
  clock.advance(KEY_LEASE_MS)
  const held = gate()
  mint.answer = held.before(mint.receiver)
  const sweep = settleProvisions(app)
  await held.arrived
  const told = await take(reward, KEY)
  t.is(said(told), '409 IDEMPOTENCY_KEY_IN_USE')
  t.is(told.headers.get('retry-after'), '1')
  held.open()
  t.is(await sweep, 1)
  const retried = await take(reward, KEY)
  t.is(retried.body.data.details.id, id)
  t.deepEqual(mint.keys, [id])
  t.deepEqual(await points(), { balance: 0, held: 0 })
  await assertAudit(app)
})

test('a fault after the call leaves the redemption to a retry, which asks with the same key', async (t) => {
  const { app, clock, mint, take, points, reward: create } = await setUp(t)
  const reward = await create()
  // What the answer of the business leads to cannot be written.
  await app.database.pool.query(
    `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$;
     CREATE TRIGGER fail BEFORE INSERT ON visits FOR EACH ROW EXECUTE FUNCTION fail()`,
  )
  t.is((await take(reward, KEY)).status, 500)
  t.deepEqual(await points(), { balance: 100, held: 100 })
  await app.database.pool.query('DROP TRIGGER fail ON visits')
  t.is(said(await take(reward, KEY)), '409 IDEMPOTENCY_KEY_IN_USE')
  clock.advance(LEASE_MS)
  t.is(said(await take(reward, KEY)), '201 ok')
  t.is(new Set(mint.keys).size, 1)
  t.deepEqual(await points(), { balance: 0, held: 0 })
  await assertAudit(app)
})

test('who comes too late for its own key makes nothing', async (t) => {
  // [Without the lease in the note, both tries made a redemption each.]
  const { app, clock, tenant, mint, user_id, take, points, reward: create } = await setUp(t)
  const reward = await create({ points_cost: 10 })
  const blocker = await app.database.pool.connect()
  await blocker.query('BEGIN')
  await blocker.query('SELECT 1 FROM rewards WHERE id = $1 FOR UPDATE', [reward.id])
  const pending = async () =>
    (
      await app.database.pool.query(
        `SELECT count(*)::int AS count FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      )
    ).rows[0].count
  // The first try hangs before anything is committed; its lease runs out, and a retry takes the key over.
  const first = take(reward, KEY)
  await until('the first waits', async () => (await pending()) === 1)
  clock.advance(KEY_LEASE_MS)
  const second = take(reward, KEY)
  await until('both wait', async () => (await pending()) === 2)
  await blocker.query('COMMIT')
  blocker.release()
  const answers = [said(await first), said(await second)].sort()
  t.deepEqual(answers, ['201 ok', '409 IDEMPOTENCY_KEY_IN_USE'])
  t.is(mint.keys.length, 1)
  t.is((await tenant.rest(`GET /redemptions?user_id=${user_id}`)).body.data.pagination.total_count, 1)
  t.deepEqual(await points(), { balance: 90, held: 0 })
  await assertAudit(app)
})

test('a reward that is deleted during the call: the redemption is cancelled, whatever the business answers', async (t) => {
  const { app, tenant, mint, take, points, reward: create } = await setUp(t)
  const reward = await create()
  const held = gate()
  mint.answer = held.before(mint.receiver)
  const answer = take(reward)
  await held.arrived
  t.is((await tenant.rest(`DELETE /rewards/${reward.id}`)).status, 200)
  held.open()
  t.is(said(await answer), PROVISION_FAILED)
  t.deepEqual(await points(), { balance: 100, held: 0 })
  await assertAudit(app)
})

test('a reward that is switched away from external during the call: its value is handed over all the same', async (t) => {
  const { app, tenant, mint, take, points, reward: create } = await setUp(t)
  const reward = await create()
  const held = gate()
  mint.answer = held.before(mint.receiver)
  const answer = take(reward)
  await held.arrived
  const change = {
    digital_asset_source: 'static',
    digital_asset_type: 'link',
    digital_asset_value: 'https://x.example',
  }
  t.is(said(await tenant.rest(`PATCH /rewards/${reward.id}`, change)), '200 ok')
  held.open()
  const { status, body } = await answer
  t.is(status, 201)
  t.like(body.data.asset, { type: 'code', value: mint.minted()[body.data.details.id]!.value })
  t.deepEqual(await points(), { balance: 0, held: 0 })
  await assertAudit(app)
})

test('what a crash left of a reward that was deleted or switched since is cancelled without a call', async (t) => {
  for (const change of ['DELETE', 'PATCH'] as const) {
    const { app, clock, tenant, mint, take, abandon, statusOf, points, reward: create } = await setUp(t)
    const reward = await create()
    const { id } = await abandon(reward)
    const body = change === 'PATCH' ? { digital_asset_source: 'static', digital_asset_value: 'X' } : undefined
    t.is((await tenant.rest(`${change} /rewards/${reward.id}`, body)).status, 200)
    clock.advance(KEY_LEASE_MS)
    if (change === 'DELETE') t.is(await settleProvisions(app), 1)
    t.is(said(await take(reward, KEY)), PROVISION_FAILED)
    t.is(await statusOf(id), 'cancelled')
    t.deepEqual(mint.keys, [])
    t.deepEqual(await points(), { balance: 100, held: 0 })
    await assertAudit(app)
  }
})

test('a customer who is erased during the call: cancelled, nothing held, all written off, a replay says erased', async (t) => {
  const { app, tenant, user_id, mint, take, reward: create } = await setUp(t)
  const reward = await create({ points_cost: 60, max_redemptions: 1 })
  const held = gate()
  mint.answer = held.before(mint.receiver)
  const answer = take(reward, KEY)
  await held.arrived
  t.is((await tenant.rest(`DELETE /customers/${user_id}`)).status, 200)
  held.open()
  t.is(said(await answer), PROVISION_FAILED)
  t.is(said(await take(reward, KEY)), '410 CUSTOMER_ERASED')
  const account = await app.database.db.customer.findFirstOrThrow({ where: { id: user_id } })
  t.deepEqual([account.balance, account.held], [0, 0])
  const written = await app.database.db.transaction.findMany({ where: { source: 'erasure' } })
  t.deepEqual(written.map(({ points }) => points).sort(), [40, 60])
  const { active, redemptions_remaining } = (await tenant.rest(`GET /rewards/${reward.id}`)).body.data.reward
  t.deepEqual([active, redemptions_remaining], [true, 1])
  await assertAudit(app)
})

test('what a crash left of a customer who was erased since is cancelled without a call, and no retry brings it back', async (t) => {
  const { app, clock, tenant, user_id, mint, take, abandon, statusOf, reward: create } = await setUp(t)
  const reward = await create()
  const { id } = await abandon(reward)
  t.is((await tenant.rest(`DELETE /customers/${user_id}`)).status, 200)
  clock.advance(KEY_LEASE_MS)
  t.is(said(await take(reward, KEY)), '410 CUSTOMER_ERASED')
  t.is(await settleProvisions(app), 1)
  t.is(await statusOf(id), 'cancelled')
  t.deepEqual(mint.keys, [])
  await assertAudit(app)
})

test('a value that was handed over before the erasure is not told again', async (t) => {
  const { app, tenant, user_id, take, reward: create } = await setUp(t)
  const reward = await create()
  t.is(said(await take(reward, KEY)), '201 ok')
  await tenant.rest(`DELETE /customers/${user_id}`)
  t.is(said(await take(reward, KEY)), '410 CUSTOMER_ERASED')
  await assertAudit(app)
})

test('through the graph a key works as it does over REST', async (t) => {
  const { app, clock, tenant, user_id, mint, take, points, reward: create } = await setUp(t)
  const reward = await create()
  const redeem = () =>
    tenant.graph(
      `mutation ($input: CreateRedemptionInput!) {
         createRedemption(input: $input) { redemption { id status } asset { type value } transaction { points } }
       }`,
      { input: { rewardId: reward.id, userId: user_id } },
      KEY,
    )
  // The first request came over the graph too, and was cut off when its redemption was made.
  await app.database.pool.query(
    `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$;
     CREATE TRIGGER fail BEFORE INSERT ON visits FOR EACH ROW EXECUTE FUNCTION fail()`,
  )
  t.is((await redeem()).errors?.[0].extensions.code, 'INTERNAL')
  await app.database.pool.query('DROP TRIGGER fail ON visits')
  t.is((await redeem()).errors?.[0].extensions.code, 'IDEMPOTENCY_KEY_IN_USE')
  clock.advance(LEASE_MS)
  const retried = await redeem()
  const { redemption, asset } = retried.data.createRedemption
  t.is(redemption.status, 'completed')
  t.is(asset.value, mint.minted()[redemption.id]!.value)
  t.deepEqual((await redeem()).data, retried.data)
  t.is((await take(reward, KEY)).status, 422)
  t.is(new Set(mint.keys).size, 1)
  t.deepEqual(await points(), { balance: 0, held: 0 })
})
