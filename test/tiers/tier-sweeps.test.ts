import test from 'ava'
import { audit } from '../../src/audit/audit.js'
import { downgradeTiers, recalculateTiers } from '../../src/tiers/tier-sweeps.js'
import { createTenant, startApp, type Tenant, type TestApp, testClock } from '../helpers/app.js'
import { createCustomer, createTier, enableTiers } from '../helpers/factories.js'

const range = (length: number) => Array.from({ length }, (_, index) => index)

const START = '2026-01-10T10:00:00Z'

/** Two instances, and a business with tiers from 10, 100 and 1000 points on; `settings` say how. */
async function program(t: Parameters<typeof startApp>[0], settings: Record<string, unknown> = {}) {
  const clock = testClock(START)
  const one = await startApp(t, { clock })
  const two = await startApp(t, { beside: one, clock })
  const tenant = await createTenant(one, { timezone: 'America/New_York' })
  const ids: string[] = []
  for (const [index, name] of ['bronze', 'silver', 'gold'].entries()) {
    const benefits = { tierReachBonusPoints: index + 1 }
    ids.push((await createTier(tenant, { name, rank: index + 1, minPoints: 10 ** (index + 1), benefits })).id)
  }
  await enableTiers(tenant, settings)
  return { clock, one, two, tenant, ids }
}

const ROLLING = { period: 'rolling', periodMonths: 3 }

async function customerWith(tenant: Tenant, points: number): Promise<string> {
  const { user_id } = await createCustomer(tenant)
  await tenant.rest('POST /points/issue', { user_id, points })
  return user_id
}

const together = async (sweep: typeof downgradeTiers, ...apps: TestApp[]): Promise<number> =>
  (await Promise.all([...apps, ...apps].map((app) => sweep(app)))).reduce((sum, count) => sum + count)

async function tiersOf({ graph }: Tenant, customer: string): Promise<string[]> {
  const { data } = await graph(
    'query ($customer: String!) { customer(customer: $customer) { tier { name } tierHistory { to { name } } } }',
    { customer },
  )
  const { tier, tierHistory } = data.customer
  const moves = tierHistory.map(({ to }: { to: { name: string } | null }) => to?.name ?? 'none')
  return [tier?.name ?? 'none', ...moves]
}

const brokenIn = async (app: TestApp) => (await audit(app.database)).checks.filter(({ broken }) => broken > 0)

test('requalify: who has fallen behind in the period is moved down once, to what is still earned', async (t) => {
  const { clock, one, two, tenant } = await program(t, { ...ROLLING, downgradePolicy: 'requalify' })
  const people: string[] = []
  for (const _ of range(20)) people.push(await customerWith(tenant, 1000))
  clock.set('2026-03-01T10:00:00Z')
  for (const user_id of people.slice(0, 10)) await tenant.rest('POST /points/issue', { user_id, points: 50 })
  // Three months later to the millisecond, at the same time of New York's day, which is on summer time now.
  clock.set('2026-04-10T08:59:59.999Z')
  t.is(await together(downgradeTiers, one, two), 0)
  clock.set('2026-04-10T09:00:00Z')
  t.is(await together(downgradeTiers, one, two), 20)
  for (const [index, id] of people.entries())
    t.deepEqual(
      await tiersOf(tenant, id),
      index < 10 ? ['bronze', 'bronze', 'gold'] : ['none', 'none', 'gold'],
    )
  t.is(await together(downgradeTiers, one, two), 0)
  t.deepEqual(await brokenIn(one), [])

  // Up again, and the bonuses of tiers reached before are not paid again.
  const again = people[15]!
  const { body } = await tenant.rest('POST /points/issue', { user_id: again, points: 1000 })
  t.deepEqual(await tiersOf(tenant, again), ['gold', 'gold', 'none', 'gold'])
  t.is(body.data.balance.balance, 1000 + 6 + 1000)
})

test('one_down: one tier lower, and not again before a period has passed', async (t) => {
  const { clock, one, two, tenant } = await program(t, { ...ROLLING, downgradePolicy: 'one_down' })
  const id = await customerWith(tenant, 1000)
  const seen: string[] = []
  for (const day of ['2026-04-09', '2026-04-11', '2026-04-12', '2026-07-10', '2026-07-12', '2026-10-13']) {
    clock.set(`${day}T10:00:00Z`)
    await together(downgradeTiers, one, two)
    seen.push((await tiersOf(tenant, id))[0]!)
  }
  t.deepEqual(seen, ['gold', 'silver', 'silver', 'silver', 'bronze', 'none'])
  t.deepEqual(await brokenIn(one), [])
})

for (const [what, settings] of [
  ['policy none', { ...ROLLING, downgradePolicy: 'none' }],
  ['a lifetime period', {}],
  ['a system that is off', { ...ROLLING, downgradePolicy: 'requalify', enabled: false }],
] as const) {
  test(`nobody is moved down under ${what}`, async (t) => {
    const { clock, one, tenant } = await program(t)
    const id = await customerWith(tenant, 1000)
    await enableTiers(tenant, settings)
    clock.set('2027-06-01T10:00:00Z')
    t.is(await downgradeTiers(one), 0)
    t.is((await tiersOf(tenant, id))[0], 'gold')
  })
}

test('changed tiers and settings move everybody up who reaches more now, once, with the bonuses, and nobody down', async (t) => {
  const { one, two, tenant, ids } = await program(t, { enabled: false })
  const people: string[] = []
  for (const points of [5, 50, 500, 5000]) people.push(await customerWith(tenant, points))
  const tiers = async () => Promise.all(people.map(async (id) => (await tiersOf(tenant, id))[0]))
  t.is(await together(recalculateTiers, one, two), 0)

  await enableTiers(tenant)
  t.deepEqual(await tiers(), ['none', 'none', 'none', 'none'])
  t.is(await together(recalculateTiers, one, two), 3)
  t.deepEqual(await tiers(), ['none', 'bronze', 'silver', 'gold'])
  const update = 'mutation ($input: UpdateTierInput!) { updateTier(input: $input) { id } }'
  await tenant.graph(update, { input: { id: ids[2], minPoints: 500 } })
  await tenant.graph(update, { input: { id: ids[0], minPoints: 5 } })
  t.is(await together(recalculateTiers, one, two), 2)
  t.deepEqual(await tiers(), ['bronze', 'bronze', 'gold', 'gold'])
  for (const [index, minPoints] of [
    [2, 9000],
    [1, 8000],
    [0, 7000],
  ] as const)
    await tenant.graph(update, { input: { id: ids[index], minPoints } })
  t.is(await together(recalculateTiers, one, two), 0)
  t.deepEqual(await tiers(), ['bronze', 'bronze', 'gold', 'gold'])
  const bonuses = await one.database.db.transaction.count({ where: { source: 'tier_bonus' } })
  t.is(bonuses, 1 + 1 + 3 + 3)
  t.deepEqual(await brokenIn(one), [])
})

test('who is in a tier that is deleted is moved to what is earned, and loses its benefits at once', async (t) => {
  const { one, two, tenant, ids } = await program(t)
  const [silver, bronze] = [await customerWith(tenant, 500), await customerWith(tenant, 50)]
  const remove = 'mutation ($id: UUID!) { deleteTier(input: { id: $id }) { id } }'
  t.is((await tenant.graph(remove, { id: ids[1] })).errors, undefined)
  t.is(await together(recalculateTiers, one, two), 1)
  t.deepEqual(await tiersOf(tenant, silver), ['bronze', 'bronze', 'silver'])
  await tenant.graph(remove, { id: ids[0] })
  t.is(await together(recalculateTiers, one, two), 2)
  t.deepEqual(await tiersOf(tenant, bronze), ['none', 'none', 'bronze'])
  t.deepEqual(await brokenIn(one), [])
})
