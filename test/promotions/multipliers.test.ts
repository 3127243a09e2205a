import test from 'ava'
import { createTenant, startApp, type Tenant, testClock } from '../helpers/app.js'
import { createCustomer, createPromotion } from '../helpers/factories.js'
import { transactionStatementsDuring } from '../helpers/statements.js'

const NOW = '2026-06-10T10:00:00.000Z'
const app = await startApp({ teardown: (end) => test.after.always(end) }, { clock: testClock(NOW) })

/** The row that an earning makes, as the graph shows it. */
async function earn({ rest, graph }: Tenant, earning: Record<string, unknown>) {
  const { user_id } = await createCustomer({ rest })
  const { status, text } = await rest('POST /points/issue', { user_id, ...earning })
  if (status !== 200) throw new Error(text)
  const { data } = await graph(
    '{ transactions(first: 1) { nodes { points multiplier promotionId amount } } }',
  )
  return data.transactions.nodes[0]
}

test('an amount earns by the best promotion that runs, which its row records; exact points by none', async (t) => {
  const tenant = await createTenant(app)
  t.like(await earn(tenant, { amount: '10.00' }), { points: 10, multiplier: '1', promotionId: null })
  await createPromotion(tenant, { points_multiplier: '1.5' })
  const best = await createPromotion(tenant, { points_multiplier: '2.5' })
  await createPromotion(tenant, { points_multiplier: '9', start_date: '2026-06-11' })
  await createPromotion(tenant, { points_multiplier: '9', end_date: '2026-06-09' })
  await createPromotion(tenant, { points_multiplier: '9', active: false })
  await createPromotion(tenant, { points_multiplier: null })
  await createPromotion(await createTenant(app), { points_multiplier: '9' })
  t.like(await earn(tenant, { amount: '10.00' }), { points: 25, multiplier: '2.5', promotionId: best.id })
  t.like(await earn(tenant, { points: 10 }), { points: 10, multiplier: null, promotionId: null })

  await tenant.graph('mutation ($id: UUID!) { deletePromotion(input: { id: $id }) { id } }', { id: best.id })
  t.like(await earn(tenant, { amount: '10.00' }), { points: 15, multiplier: '1.5' })
})

test('of equal multipliers the promotion that was made first is recorded', async (t) => {
  const tenant = await createTenant(app)
  const first = await createPromotion(tenant)
  await createPromotion(tenant)
  t.is((await earn(tenant, { amount: '1' })).promotionId, first.id)
})

for (const [rate, tier, promotion, amount, points] of [
  // In binary floating point each of these comes out just below and would lose a point.
  ['10', '1', '1.15', '18.00', 207],
  ['10', '1', '10', '8.62', 862],
  ['10', '1.25', '2', '4.56', 114],
  ['1', '1.25', '10', '36.48', 456],
  ['10', '2', '1.15', '11.00', 253],
  ['10', '2', '10', '39.98', 7996],
  // Rounded down, and once: 1.5 × 1.5 × 1.5 is 3.375, while flooring after each step would give 1.
  ['1.5', '1.5', '1.5', '1', 3],
] as const) {
  test(`${amount} at ${rate} points a unit, × ${tier} × ${promotion}, is exactly ${points} points`, async (t) => {
    const tenant = await createTenant(app)
    await tenant.rest('PATCH /settings', { earn_points_per_unit: rate })
    await createPromotion(tenant, { points_multiplier: promotion })
    const { user_id } = await createCustomer(tenant)
    await withTier(tenant, user_id, tier)
    const { body } = await tenant.rest('POST /points/issue', { user_id, amount })
    t.is(body.data.transaction.points, points)
  })
}

async function withTier(tenant: Tenant, customerId: string, multiplier: string) {
  const { data } = await tenant.graph(
    'mutation { createTier(input: { name: "Gold", rank: 1, minPoints: 0 }) { id } }',
  )
  await app.database.pool.query(
    'UPDATE tiers SET points_multiplier = $2 WHERE business_id = $3 AND id = $1',
    [data.createTier.id, multiplier, tenant.businessId],
  )
  await app.database.pool.query('UPDATE customers SET tier_id = $1 WHERE business_id = $3 AND id = $2', [
    data.createTier.id,
    customerId,
    tenant.businessId,
  ])
}

// Lord Howe's clocks go back by half an hour on 5 April 2026 and forward on 4 October.
for (const { timezone, day, from, to } of [
  { timezone: 'Europe/Berlin', day: '2026-03-29', from: '2026-03-28T23:00:00Z', to: '2026-03-29T22:00:00Z' },
  { timezone: 'Europe/Berlin', day: '2025-10-26', from: '2025-10-25T22:00:00Z', to: '2025-10-26T23:00:00Z' },
  {
    timezone: 'America/New_York',
    day: '2026-03-08',
    from: '2026-03-08T05:00:00Z',
    to: '2026-03-09T04:00:00Z',
  },
  {
    timezone: 'Australia/Lord_Howe',
    day: '2026-04-05',
    from: '2026-04-04T13:00:00Z',
    to: '2026-04-05T13:30:00Z',
  },
  {
    timezone: 'Pacific/Kiritimati',
    day: '2026-05-01',
    from: '2026-04-30T10:00:00Z',
    to: '2026-05-01T10:00:00Z',
  },
  { timezone: 'Pacific/Niue', day: '2026-05-01', from: '2026-05-01T11:00:00Z', to: '2026-05-02T11:00:00Z' },
]) {
  test(`an earning dated back into a past promotion of ${day} in ${timezone} gets it, to the millisecond`, async (t) => {
    const tenant = await createTenant(app, { timezone })
    await createPromotion(tenant, { points_multiplier: '3', start_date: day, end_date: day })
    const pointsAt = async (moment: number) =>
      (await earn(tenant, { amount: '1', occurred_at: new Date(moment).toISOString() })).points
    const [start, end] = [Date.parse(from), Date.parse(to)]
    const seen = [
      await pointsAt(start - 1),
      await pointsAt(start),
      await pointsAt(end - 1),
      await pointsAt(end),
    ]
    t.deepEqual(seen, [1, 3, 3, 1])
    t.is((await earn(tenant, { amount: '1' })).points, 1)
  })
}

test('an earning is two statements between BEGIN and COMMIT, with a promotion or without', async (t) => {
  const own = await startApp(t, { beside: app })
  const tenant = await createTenant(own)
  const { user_id } = await createCustomer(tenant)
  const issue = () => tenant.rest('POST /points/issue', { user_id, amount: '10.00' })
  const sent = ['BEGIN', 'lock_earner_by_id', 'ledger_post', 'COMMIT']
  t.deepEqual(await transactionStatementsDuring(own, issue), sent)
  await createPromotion(tenant)
  t.deepEqual(await transactionStatementsDuring(own, issue), sent)
})
