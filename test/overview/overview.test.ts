import test from 'ava'
import fc from 'fast-check'
import { expirePoints } from '../../src/jobs/sweeps.js'
import { localDate } from '../../src/time.js'
import { createTenant, startApp, testClock } from '../helpers/app.js'
import { createCustomer, createReward, createTier } from '../helpers/factories.js'
import { bookRows, type PlannedRow, plannedRow } from '../transactions/ledger-rows.js'

const HOUR_MS = 60 * 60 * 1000
const FIGURES = 'pointsEarned pointsRedeemed pointsExpired pointsWrittenOff redemptions'
const OVERVIEW = `query ($days: Int) { overview(days: $days) {
  from to timezone members activeMembers pointsOutstanding
  totals { ${FIGURES} visits } byDay { date ${FIGURES} visits }
  tiers { name rank members activeMembers } topRewards { name redemptions points } } }`

/** What a row of each kind adds to which figure. */
const effects: Record<string, [figure: string, sign: number]> = {
  'earn api': ['pointsEarned', 1],
  'earn dashboard': ['pointsEarned', 1],
  'earn tier_bonus': ['pointsEarned', 1],
  'redeem reversal': ['pointsEarned', -1],
  'redeem api': ['pointsRedeemed', 1],
  'redeem reward': ['pointsRedeemed', 1],
  'redeem raffle': ['pointsRedeemed', 1],
  'earn refund': ['pointsRedeemed', -1],
  'redeem expiry': ['pointsExpired', 1],
  'redeem erasure': ['pointsWrittenOff', 1],
}

const rowKinds = fc.record({
  kind: fc.constantFrom(...Object.keys(effects)),
  status: fc.constantFrom('completed', 'completed', 'completed', 'failed', 'pending'),
  points: fc.integer({ min: 0, max: 1000 }),
})

for (const [zone, today] of [
  ['Europe/Berlin', '2026-04-20T22:30:00Z'],
  ['America/New_York', '2026-11-20T03:00:00Z'],
  ['Australia/Lord_Howe', '2026-04-10T12:00:00Z'],
] as const)
  test(`the figures of every day are those of its rows, across the change of the clock in ${zone}`, async (t) => {
    const clock = testClock(today)
    const app = await startApp(t, { clock })
    const [tenant, other] = [await createTenant(app, { timezone: zone }), await createTenant(app)]
    const { user_id: customerId } = await createCustomer(tenant)
    const stranger = await createCustomer(other)
    // One in every hour, so that each day has rows beside its ends.
    const planned = fc.sample(rowKinds, { numRuns: 95 * 24, seed: 7 })
    const rows = planned.map(({ kind, status, points }, hoursAgo) => {
      const [type, source] = kind.split(' ') as [PlannedRow['type'], string]
      const moment = new Date(clock.now().getTime() - hoursAgo * HOUR_MS)
      return plannedRow(clock.now(), {
        customerId,
        type,
        source,
        status: status as PlannedRow['status'],
        points,
        occurredAt: moment,
      })
    })
    // Once for each: it is slow, and a connection that rests for seconds meanwhile is closed.
    const dated = rows.map((row) => ({ ...row, date: localDate(row.occurredAt, zone) }))
    await bookRows(app, tenant, rows)
    await bookRows(app, other, [plannedRow(clock.now(), { customerId: stranger.user_id, points: 999 })])

    for (const days of [7, 30, 90]) {
      const { overview } = (await tenant.graph(OVERVIEW, { days })).data
      t.is(overview.byDay.length, days)
      t.is(overview.to, localDate(clock.now(), zone))
      const expected = (of: (date: string) => boolean) => {
        const figures: Record<string, number> = {
          pointsEarned: 0,
          pointsRedeemed: 0,
          pointsExpired: 0,
          pointsWrittenOff: 0,
          redemptions: 0,
          visits: 0,
        }
        for (const row of dated) {
          if (row.status !== 'completed' || !of(row.date)) continue
          const [figure, sign] = effects[`${row.type} ${row.source}`]!
          figures[figure]! += sign * row.points
          if (row.source === 'reward') figures.redemptions!++
        }
        return figures
      }
      for (const { date, ...figures } of overview.byDay)
        t.deepEqual(
          figures,
          expected((of) => of === date),
          date,
        )
      t.deepEqual(
        overview.totals,
        expected((date) => date >= overview.from),
      )
    }
  })

test('members, tiers, top rewards, visits and what is outstanding are those of the business, as they are now', async (t) => {
  const clock = testClock('2026-06-01T10:00:00Z')
  const app = await startApp(t, { clock })
  const tenant = await createTenant(app, { timezone: 'Europe/Berlin' })
  await createTier(tenant, { name: 'Bronze', rank: 1 })
  const gold = await createTier(tenant, { name: 'Gold', rank: 2 })
  const [coffee, cake] = [
    await createReward(tenant, { name: 'Coffee', points_cost: 10 }),
    await createReward(tenant, { name: 'Cake', points_cost: 30 }),
  ]
  const [ada, bob, eve] = [
    await createCustomer(tenant),
    await createCustomer(tenant),
    await createCustomer(tenant),
  ]
  await app.database.db.customer.updateMany({ where: { id: ada.user_id }, data: { tierId: gold.id } })
  await tenant.rest('POST /points/issue', { user_id: eve.user_id, points: 40 })
  clock.set('2026-06-20T10:00:00Z')
  for (const { user_id } of [ada, bob]) await tenant.rest('POST /points/issue', { user_id, points: 100 })
  const redeem = async ({ user_id }: { user_id?: string }, reward: { id?: string }) => {
    const { body } = await tenant.rest('POST /redemptions', { reward_id: reward.id, user_id })
    await tenant.rest(`POST /redemptions/${body.data.redemption.code}/complete`)
  }
  await redeem(ada, cake)
  await redeem(ada, coffee)
  await redeem(bob, coffee)
  const erased = await createCustomer(tenant)
  await tenant.rest('POST /points/issue', { user_id: erased.user_id, points: 5 })
  await tenant.rest(`DELETE /customers/${erased.user_id}`)
  await tenant.rest('PATCH /settings', { points_expire_after_days: 1 })
  clock.set('2026-06-22T10:00:00Z')
  await tenant.rest('POST /points/issue', { user_id: ada.user_id, points: 1 })
  await expirePoints(app)

  const { overview } = (await tenant.graph(OVERVIEW, { days: 7 })).data
  t.like(overview, {
    from: '2026-06-16',
    to: '2026-06-22',
    timezone: 'Europe/Berlin',
    members: 3,
    activeMembers: 2,
  })
  t.deepEqual(overview.tiers, [
    { name: null, rank: null, members: 2, activeMembers: 1 },
    { name: 'Bronze', rank: 1, members: 0, activeMembers: 0 },
    { name: 'Gold', rank: 2, members: 1, activeMembers: 1 },
  ])
  t.deepEqual(overview.topRewards, [
    { name: 'Coffee', redemptions: 2, points: 20 },
    { name: 'Cake', redemptions: 1, points: 30 },
  ])
  const balances = await app.database.db.customer.aggregate({ _sum: { balance: true } })
  t.is(overview.pointsOutstanding, balances._sum.balance)
  const day = (date: string) => overview.byDay.find((each: { date: string }) => each.date === date)
  t.like(day('2026-06-20'), {
    pointsEarned: 205,
    pointsRedeemed: 50,
    pointsWrittenOff: 5,
    redemptions: 3,
    visits: 3,
  })
  t.like(day('2026-06-22'), { pointsEarned: 1, visits: 1 })
  // The balance has changed by what the figures say.
  const { totals } = (await tenant.graph(OVERVIEW, { days: 90 })).data.overview
  const { pointsEarned, pointsRedeemed, pointsExpired, pointsWrittenOff } = totals
  t.is(pointsEarned - pointsRedeemed - pointsExpired - pointsWrittenOff, overview.pointsOutstanding)
})

test('an overview of an empty business is zeros, and looks back 1 to 90 days', async (t) => {
  const tenant = await createTenant(await startApp(t))
  const { overview } = (await tenant.graph(OVERVIEW)).data
  t.is(overview.byDay.length, 30)
  t.like(overview, { members: 0, activeMembers: 0, pointsOutstanding: 0, tiers: [], topRewards: [] })
  for (const days of [0, 91]) {
    const { errors } = await tenant.graph(OVERVIEW, { days })
    t.is(errors![0].extensions.code, 'INVALID_INPUT')
  }
})
