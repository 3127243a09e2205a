import fc from 'fast-check'
import type { Filter } from '../../src/segments/filter.js'
import { createTenant, type Tenant, type TestApp, type TestClock } from '../helpers/app.js'
import { createCustomer, createReward } from '../helpers/factories.js'
import { DAY, HOUR, zonedMoment } from '../helpers/wall-clock.js'
import type { CustomerRows, ProgramRows } from './oracle.js'

/** The settings of a business, such that spend is awkward to compare. */
export interface ProgramPlan {
  timezone: string
  currency: 'EUR' | 'JPY' | 'KWD'
  settings: Record<string, string | number | null>
}

const DECIMALS = { EUR: 2, JPY: 0, KWD: 3 }
const CUSTOMERS = 60

/** Something that a customer does, some days after the program began. */
type Deed =
  | { kind: 'spend'; units: number; minorDigit: number }
  | { kind: 'points'; points: number }
  | { kind: 'redeem'; points: number }
  | { kind: 'reward' }
  | { kind: 'parcel' }
  | { kind: 'reverse' }
  | { kind: 'interest' }

interface Event {
  customer: number
  at: number
  backdatedHours: number
  deed: Deed
}

const deed: fc.Arbitrary<Deed> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('spend'), units: fc.nat(400), minorDigit: fc.nat(9) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('points'), points: fc.integer({ min: 1, max: 900 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('redeem'), points: fc.integer({ min: 1, max: 50 }) }),
  },
  { weight: 3, arbitrary: fc.constant({ kind: 'reward' }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'parcel' }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'reverse' }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'interest' }) },
) as fc.Arbitrary<Deed>

/** The last day of every program; a night on which clocks in Europe changed lies two days back. */
export const NOW = new Date('2026-03-31T10:15:00Z')
const BEGAN = NOW.getTime() - 500 * DAY

/** Moments of the program, many of them around changes of the clocks. */
const moment = fc.oneof(
  fc.integer({ min: BEGAN, max: NOW.getTime() }),
  fc.integer({ min: NOW.getTime() - 70 * DAY, max: NOW.getTime() }),
  zonedMoment(HOUR / 4)
    .map(({ ms }) => ms)
    .filter((ms) => ms >= BEGAN && ms <= NOW.getTime()),
)

const events = fc.array(
  fc.record({
    // Few do much, many do little.
    customer: fc.nat(CUSTOMERS * CUSTOMERS - 1).map((n) => Math.floor(n ** 2 / CUSTOMERS ** 3)),
    at: moment,
    backdatedHours: fc.oneof(fc.constant(0), fc.nat(500)),
    deed,
  }),
  { minLength: 320, maxLength: 320 },
)

const person = fc.record({
  birthday: fc.constantFrom(null, '--02-29', '1990-12-31', '--03-01', '1971-03-31', '2004-02-29'),
  joined: fc.integer({ min: BEGAN - 100 * DAY, max: NOW.getTime() }),
})

/** Makes a program through the API, and reads its rows back. */
export async function makeProgram(
  app: TestApp,
  clock: TestClock,
  { timezone, currency, settings }: ProgramPlan,
  seed: number,
): Promise<{ tenant: Tenant; rows: ProgramRows }> {
  clock.set(new Date(BEGAN - 200 * DAY))
  const tenant = await createTenant(app, { timezone, currency })
  await expectOk(tenant.rest('PATCH /settings', settings))
  const reward = await createReward(tenant, { points_cost: 5 })
  const parcel = await createReward(tenant, { points_cost: 3, delivery_mode: 'shipping' })
  const { body } = await tenant.rest('POST /promotions', { name: 'Autumn' })
  const things = { reward: reward.id, parcel: parcel.id, promotion: body.data.promotion.id, currency }

  const [people] = fc.sample(fc.array(person, { minLength: CUSTOMERS, maxLength: CUSTOMERS }), {
    seed,
    numRuns: 1,
  })
  const ids: string[] = []
  clock.set(NOW)
  for (const { birthday, joined } of people!) {
    const body = { birthday, joined_at: new Date(joined).toISOString() }
    ids.push((await createCustomer(tenant, body)).user_id)
  }
  const [plan] = fc.sample(events, { seed, numRuns: 1 })
  for (const event of plan!.toSorted((a, b) => a.at - b.at)) {
    clock.set(new Date(event.at))
    await act(app, tenant, ids[event.customer]!, event, things)
  }
  clock.set(NOW)
  return { tenant, rows: await readRows(app, tenant, { timezone, currency, settings }) }
}

async function expectOk(answer: Promise<{ status: number; text: string }>) {
  const { status, text } = await answer
  if (status >= 300) throw new Error(text)
}

const ADDRESS = { name: 'Ada', line1: '1 Main St', city: 'Berlin', country: 'DE' }

/** What a customer cannot do (too few points) is not done. */
async function act(
  app: TestApp,
  { rest, businessId }: Tenant,
  user_id: string,
  { deed, at, backdatedHours }: Event,
  program: { reward: string; parcel: string; promotion: string; currency: ProgramPlan['currency'] },
): Promise<void> {
  const occurred_at = new Date(at - backdatedHours * HOUR).toISOString()
  const give = (body: object) => expectOk(rest('POST /points/issue', { user_id, occurred_at, ...body }))
  switch (deed.kind) {
    case 'spend': {
      const fraction = DECIMALS[program.currency] === 0 ? '' : `.${deed.minorDigit}`
      return give({ amount: `${deed.units}${fraction}` })
    }
    case 'points':
      return give({ points: deed.points })
    case 'redeem':
      await rest('POST /points/redeem', { user_id, points: deed.points })
      return
    case 'reward': {
      const { body } = await rest('POST /redemptions', { user_id, reward_id: program.reward })
      if (body.success) await expectOk(rest(`POST /redemptions/${body.data.redemption.code}/complete`))
      return
    }
    case 'parcel': {
      const order = { user_id, reward_id: program.parcel, shipping_address: ADDRESS }
      const { body } = await rest('POST /redemptions', order)
      if (body.success) await expectOk(rest(`POST /redemptions/${body.data.redemption.code}/cancel`))
      return
    }
    case 'reverse': {
      const { rows } = await app.database.pool.query(
        `SELECT id FROM transactions WHERE business_id = $1 AND customer_id = $2 AND type = 'earn' AND source = 'api'
          ORDER BY id LIMIT 1`,
        [businessId, user_id],
      )
      if (rows[0]) await rest(`POST /transactions/${rows[0].id}/reverse`)
      return
    }
    case 'interest':
      return expectOk(rest(`POST /promotions/${program.promotion}/interest`, { user_id }))
  }
}

async function readRows(
  app: TestApp,
  { businessId, rest }: Tenant,
  { timezone, currency, settings }: ProgramPlan,
): Promise<ProgramRows> {
  const read = async <Row>(sql: string): Promise<Row[]> =>
    (await app.database.pool.query(sql, [businessId])).rows as Row[]
  type OfCustomer<Row> = Row & { customerId: string }
  const transactions = await read<OfCustomer<CustomerRows['transactions'][number]>>(
    `SELECT id, customer_id AS "customerId", type, status, source, points, amount_minor AS "amountMinor",
            reverses_id AS "reversesId", occurred_at AS "occurredAt" FROM transactions WHERE business_id = $1`,
  )
  const redemptions = await read<OfCustomer<{ at: Date }>>(
    `SELECT customer_id AS "customerId", completed_at AS at FROM redemptions
      WHERE business_id = $1 AND status = 'completed'`,
  )
  const interests = await read<OfCustomer<{ at: Date }>>(
    'SELECT customer_id AS "customerId", created_at AS at FROM promotion_interests WHERE business_id = $1',
  )
  const people = await read<Pick<CustomerRows, 'id' | 'joinedAt' | 'birthday'>>(
    'SELECT id, joined_at AS "joinedAt", birthday FROM customers WHERE business_id = $1',
  )
  const customers: CustomerRows[] = []
  for (const each of people) {
    const own = <Row>(rows: OfCustomer<Row>[]) => rows.filter(({ customerId }) => customerId === each.id)
    customers.push({
      ...each,
      balance: (await rest(`GET /customers/${each.id}/balance`)).body.data.balance,
      transactions: own(transactions),
      redeemedAt: own(redemptions).map(({ at }) => at),
      interestedAt: own(interests).map(({ at }) => at),
    })
  }
  return {
    timezone,
    decimals: DECIMALS[currency],
    earnPointsPerUnit: String(settings.earn_points_per_unit ?? '1'),
    pointSpendValue: (settings.point_spend_value as string | undefined) ?? null,
    usdRate: String(settings.usd_rate ?? '1'),
    customers,
  }
}

const range = (max: number) =>
  fc.oneof(
    fc.record({ min: fc.nat(max) }),
    fc.record({ max: fc.nat(max) }),
    fc.tuple(fc.nat(max), fc.nat(max)).map(([a, b]) => ({ min: Math.min(a, b), max: Math.max(a, b) })),
  )
const days = fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 3650 }))
const ZONES = [
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'America/Havana',
  'UTC',
]

const fields = fc.record(
  {
    pointsBalance: range(3000),
    spendUsdEstimated: range(1500),
    visitCount: range(12),
    redemptionCount: range(4),
    lastVisitWithinDays: days,
    lastVisitNotWithinDays: days,
    joinedWithinDays: days,
    joinedBeforeDaysAgo: days,
    hourOfDay: fc.record({ from: fc.nat(23), to: fc.nat(23) }),
    dayOfWeek: fc.uniqueArray(fc.nat(6), { minLength: 1 }),
    hasRedeemed: fc.boolean(),
    promotionInterest: fc.boolean(),
    birthdayInMonth: fc.constantFrom(2, 3, 7, 12),
    timezone: fc.constantFrom(...ZONES),
  },
  { requiredKeys: ['timezone'] },
)

/** Any filter that is allowed: mostly of few fields, as with many nobody is left. */
export const anyFilter: fc.Arbitrary<Filter> = fields.chain((all) => {
  const { timezone, ...asked } = all
  return fc
    .shuffledSubarray(Object.keys(asked) as (keyof typeof asked)[], {
      maxLength: Math.min(3, Object.keys(asked).length),
    })
    .map((names) => {
      const chosen = names.includes('lastVisitWithinDays')
        ? names.filter((name) => name !== 'lastVisitNotWithinDays')
        : names
      return { timezone, ...Object.fromEntries(chosen.map((name) => [name, asked[name]])) }
    })
})
