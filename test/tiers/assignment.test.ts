import assert from 'node:assert/strict'
import test from 'ava'
import fc from 'fast-check'
import { audit } from '../../src/audit/audit.js'
import { createTenant, restClient, startApp, type Tenant, testClock } from '../helpers/app.js'
import {
  createCustomer,
  createPromotion,
  createReward,
  createTier,
  enableTiers,
} from '../helpers/factories.js'
import { untilWaiting } from '../helpers/locks.js'
import { transactionStatementsDuring } from '../helpers/statements.js'

const clock = testClock('2026-06-10T10:00:00Z')
const app = await startApp({ teardown: (end) => test.after.always(end) }, { clock })

const range = (length: number) => Array.from({ length }, (_, index) => index)

/** Three tiers from 100, 500 and 1000 on, with bonuses of 1, 10 and 100 points. */
async function ladder(tenant: Tenant, settings: Record<string, unknown> = {}) {
  await enableTiers(tenant, settings)
  const ids: Record<string, string> = {}
  for (const [index, name] of ['bronze', 'silver', 'gold'].entries()) {
    const benefits = { tierReachBonusPoints: 10 ** index }
    const tier = { name, rank: index + 1, minPoints: [100, 500, 1000][index]!, benefits }
    ids[name] = (await createTier(tenant, tier)).id
  }
  return ids as { bronze: string; silver: string; gold: string }
}

const issue = async ({ rest }: Pick<Tenant, 'rest'>, body: Record<string, unknown>) => {
  const answer = await rest('POST /points/issue', body)
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.body.data
}

/** The tier's name, the moves latest first, and the bonuses. */
async function standing({ graph, businessId }: Tenant, customer: string) {
  const { data } = await graph(
    `query ($customer: String!) { customer(customer: $customer) {
       balance tier { name } tierHistory { from { name } to { name } reason createdAt } } }`,
    { customer },
  )
  const bonuses = await app.database.db.transaction.findMany({
    where: { businessId, customerId: customer, source: 'tier_bonus' },
    orderBy: { points: 'asc' },
  })
  const { balance, tier, tierHistory } = data.customer
  return {
    balance,
    tier: tier?.name ?? null,
    moves: tierHistory.map(
      (move: { from: { name: string } | null; to: { name: string } | null; reason: string }) =>
        `${move.reason}: ${move.from?.name ?? 'none'} → ${move.to?.name ?? 'none'}`,
    ),
    bonuses: bonuses.map(({ points }) => points),
  }
}

async function assertAudit(businessId: string) {
  const { checks } = await audit(app.database, businessId)
  assert.deepEqual(
    checks.filter(({ broken }) => broken > 0),
    [],
  )
}

test('an earning moves a customer up at once, past several tiers too, and each of them pays its bonus once', async (t) => {
  const tenant = await createTenant(app)
  await ladder(tenant)
  const { user_id } = await createCustomer(tenant)
  t.is((await issue(tenant, { user_id, points: 99 })).balance.balance, 99)
  t.is((await standing(tenant, user_id)).tier, null)
  // The bonus is in the answer; with it the balance is past 1000, but bonuses move nobody.
  t.is((await issue(tenant, { user_id, points: 890 })).balance.balance, 99 + 890 + 1 + 10)
  t.deepEqual(await standing(tenant, user_id), {
    balance: 1000,
    tier: 'silver',
    moves: ['upgrade: none → silver'],
    bonuses: [1, 10],
  })
  await issue(tenant, { user_id, points: 11 })
  t.deepEqual((await standing(tenant, user_id)).moves, ['upgrade: silver → gold', 'upgrade: none → silver'])
  t.deepEqual((await standing(tenant, user_id)).bonuses, [1, 10, 100])
  await assertAudit(tenant.businessId)
})

test('tiers crossed by 40 earnings at once on two instances pay each bonus once, and all the moves are there', async (t) => {
  const tenant = await createTenant(app)
  const beside = await startApp(t, { beside: app })
  await ladder(tenant)
  const clients = [tenant.rest, restClient(beside.url, tenant.key)]
  const people = await Promise.all(range(2).map(() => createCustomer(tenant)))
  await Promise.all(
    range(40).map((index) =>
      issue({ rest: clients[index % 2]! }, { user_id: people[(index >> 1) % 2]!.user_id, points: 50 }),
    ),
  )
  for (const { user_id } of people)
    t.deepEqual(await standing(tenant, user_id), {
      balance: 20 * 50 + 111,
      tier: 'gold',
      moves: ['upgrade: silver → gold', 'upgrade: bronze → silver', 'upgrade: none → bronze'],
      bonuses: [1, 10, 100],
    })
  await assertAudit(tenant.businessId)
})

test('nobody moves while the system is off, and customers of other businesses never do', async (t) => {
  const [tenant, other] = [await createTenant(app), await createTenant(app)]
  await ladder(tenant, { enabled: false })
  await ladder(other)
  const { user_id } = await createCustomer(tenant)
  await issue(tenant, { user_id, points: 5000 })
  t.deepEqual(await standing(tenant, user_id), { balance: 5000, tier: null, moves: [], bonuses: [] })
})

test('a reversal takes progress back and nothing else: the tier stays, the way up is that much longer', async (t) => {
  const tenant = await createTenant(app)
  await ladder(tenant)
  const { user_id } = await createCustomer(tenant)
  const { transaction } = await issue(tenant, { user_id, points: 500 })
  t.is((await tenant.rest(`POST /transactions/${transaction.id}/reverse`)).status, 200)
  t.is((await standing(tenant, user_id)).tier, 'silver')
  await issue(tenant, { user_id, points: 999 })
  t.is((await standing(tenant, user_id)).tier, 'silver')
  await issue(tenant, { user_id, points: 1 })
  t.is((await standing(tenant, user_id)).tier, 'gold')
})

for (const { metric, currency, earnings, tier } of [
  { metric: 'spend', currency: 'USD', earnings: [{ amount: '499.99' }, { points: 5000 }], tier: 'bronze' },
  { metric: 'spend', currency: 'USD', earnings: [{ amount: '499.99' }, { amount: '0.01' }], tier: 'silver' },
  { metric: 'spend', currency: 'JPY', earnings: [{ amount: '500' }], tier: 'silver' },
  { metric: 'spend', currency: 'KWD', earnings: [{ amount: '499.999' }], tier: 'bronze' },
  { metric: 'points_balance', currency: 'USD', earnings: [{ points: 400 }, { points: 99 }], tier: 'silver' },
  { metric: 'points_balance', currency: 'USD', earnings: [{ points: 400 }, { points: 98 }], tier: 'bronze' },
]) {
  test(`by ${metric} in ${currency}, ${JSON.stringify(earnings)} lead to ${tier}`, async (t) => {
    const tenant = await createTenant(app, { currency })
    await ladder(tenant, { metric })
    const { user_id } = await createCustomer(tenant)
    for (const earning of earnings) await issue(tenant, { user_id, ...earning })
    t.is((await standing(tenant, user_id)).tier, tier)
  })
}

test('a rolling period counts what happened in it, by its moment to the millisecond, less what was taken back', async (t) => {
  const tenant = await createTenant(app, { timezone: 'Europe/Berlin' })
  await ladder(tenant, { period: 'rolling', periodMonths: 3 })
  const reach = async (...earnings: Record<string, unknown>[]) => {
    const { user_id } = await createCustomer(tenant)
    for (const earning of earnings) await issue(tenant, { user_id, ...earning })
    return (await standing(tenant, user_id)).tier
  }
  // Three months before 12:00 in Berlin's summer is 12:00 in its winter, an hour later in UTC.
  t.is(await reach({ points: 499, occurred_at: '2026-03-10T11:00:00.001Z' }, { points: 1 }), 'silver')
  t.is(await reach({ points: 499, occurred_at: '2026-03-10T11:00:00.000Z' }, { points: 1 }), null)

  const { user_id } = await createCustomer(tenant)
  const { transaction } = await issue(tenant, { user_id, points: 60 })
  await tenant.rest(`POST /transactions/${transaction.id}/reverse`)
  await issue(tenant, { user_id, points: 60 })
  t.is((await standing(tenant, user_id)).tier, null)
})

test('the multiplier and the cashback boost are those of the tier, and back-dated earnings get that of their day', async (t) => {
  const moments = testClock('2026-06-10T10:00:00Z')
  const own = await startApp(t, { beside: app, clock: moments })
  const tenant = await createTenant(own)
  await enableTiers(tenant)
  const benefits = { pointsMultiplier: '1.5', cashbackBoostPercent: 1000 }
  const silver = await createTier(tenant, { rank: 1, minPoints: 100, benefits })
  await createTier(tenant, { rank: 2, minPoints: 1000, benefits: { pointsMultiplier: '2' } })
  const { user_id } = await createCustomer(tenant)
  await issue(tenant, { user_id, points: 100 })
  moments.set('2026-06-12T10:00:00Z')
  const earned = async (occurred_at?: string) =>
    (await issue(tenant, { user_id, amount: '10.00', ...(occurred_at && { occurred_at }) })).transaction
      .points
  t.is(await earned(), 15)
  t.is(await earned('2026-06-10T09:59:59.999Z'), 10)
  t.is(await earned('2026-06-10T10:00:00.000Z'), 15)
  const { data } = await tenant.graph('{ transactions(first: 1) { nodes { multiplier tierId } } }')
  t.deepEqual(data.transactions.nodes, [{ multiplier: '1.5', tierId: silver.id }])

  // 11 times the highest cashback is past 32 bits.
  const reward = await createReward(tenant, {
    points_cost: 0,
    type: 'cashback',
    cashback_cents: 1_000_000_000,
  })
  const redeemed = await tenant.rest('POST /redemptions', { reward_id: reward.id, user_id })
  t.is(redeemed.body.data.redemption.cashback_cents, 11_000_000_000)

  moments.set('2026-06-14T10:00:00Z')
  await issue(tenant, { user_id, points: 900 })
  t.is(await earned(), 20)
  t.is(await earned('2026-06-13T10:00:00Z'), 15)
})

test('an earning that has waited for another one to move the customer up earns by the new tier', async (t) => {
  const own = await startApp(t)
  const tenant = await createTenant(own)
  await enableTiers(tenant)
  await createTier(tenant, { rank: 1, minPoints: 100, benefits: { pointsMultiplier: '3' } })
  const { user_id } = await createCustomer(tenant)
  // Both wait for the lock that is held here; the second then finds a customer whom the first has changed.
  const client = await own.database.pool.connect()
  await client.query('BEGIN')
  await client.query('SELECT 1 FROM customers WHERE id = $1 FOR UPDATE', [user_id])
  const first = issue(tenant, { user_id, points: 100 })
  await untilWaiting(own, 1)
  const second = issue(tenant, { user_id, amount: '10.00' })
  await untilWaiting(own, 2)
  await client.query('COMMIT')
  client.release()
  await first
  t.is((await second).transaction.points, 30)
})

test('a bonus that would pass the limit of a balance pays what still fits', async (t) => {
  const tenant = await createTenant(app)
  await ladder(tenant)
  const { user_id } = await createCustomer(tenant)
  await tenant.rest('PATCH /settings', { earn_points_per_unit: '1' })
  const { balance } = await issue(tenant, { user_id, amount: '1999999995.00' })
  t.is(balance.balance, 2_000_000_000)
  t.deepEqual((await standing(tenant, user_id)).bonuses, [1, 4])
})

test('tiers cost an earning no round trip where nobody moves, nor does a customer who was brought by another one', async (t) => {
  const own = await startApp(t, { beside: app })
  const tenant = await createTenant(own)
  await ladder(tenant)
  await createPromotion(tenant)
  const referrer = await createCustomer(tenant)
  const { user_id } = await createCustomer(tenant, { referred_by: referrer.user_id })
  await issue(tenant, { user_id, points: 1 })
  const send = () => issue(tenant, { user_id, amount: '1.00' })
  const least = ['BEGIN', 'lock_earner_by_id', 'ledger_post', 'COMMIT']
  t.deepEqual(await transactionStatementsDuring(own, send), least)
  await enableTiers(tenant, { period: 'rolling', periodMonths: 12 })
  const rolling = ['BEGIN', 'lock_earner_by_id', 'ledger_post', 'tier_progress_in_window', 'COMMIT']
  t.deepEqual(await transactionStatementsDuring(own, send), rolling)
})

const earning = fc.record({
  points: fc.integer({ min: 1, max: 600 }),
  daysAgo: fc.nat(120),
  back: fc.boolean(),
})

test('after any earnings and reversals the tier is the highest that a list on paper ever reached', async (t) => {
  const tenant = await createTenant(app)
  await ladder(tenant, { period: 'rolling', periodMonths: 2 })
  const since = new Date('2026-04-10T10:00:00Z')
  await fc.assert(
    fc.asyncProperty(fc.array(earning, { minLength: 1, maxLength: 5 }), async (earnings) => {
      const { user_id } = await createCustomer(tenant)
      let rank = 0
      const paper: number[] = []
      for (const { points, daysAgo, back } of earnings) {
        const occurredAt = new Date(clock.now().getTime() - daysAgo * 86_400_000)
        const { transaction } = await issue(tenant, { user_id, points, occurred_at: occurredAt })
        if (occurredAt > since) paper.push(points)
        const sum = paper.reduce((all, each) => all + each, 0)
        rank = Math.max(rank, [100, 500, 1000].filter((threshold) => threshold <= sum).length)
        if (!back) continue
        await tenant.rest(`POST /transactions/${transaction.id}/reverse`)
        if (occurredAt > since) paper.pop()
      }
      const { tier, bonuses } = await standing(tenant, user_id)
      assert.equal(tier, [null, 'bronze', 'silver', 'gold'][rank])
      assert.deepEqual(bonuses, [1, 10, 100].slice(0, rank))
    }),
    { numRuns: 30 },
  )
  await assertAudit(tenant.businessId)
  t.pass()
})
