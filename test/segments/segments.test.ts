import test from 'ava'
import { audit } from '../../src/audit/audit.js'
import { keepVisitHours } from '../../src/segments/keep-visit-hours.js'
import { createTenant, startApp, type Tenant, testClock } from '../helpers/app.js'
import { createCustomer, createReward } from '../helpers/factories.js'
import { statementsDuring } from '../helpers/statements.js'
import { at } from '../helpers/wall-clock.js'

const NOW = '2026-07-15T12:00:00Z'
const clock = testClock(NOW)
const app = await startApp({ teardown: (end) => test.after.always(end) }, { clock })

const asked = async ({ rest }: Pick<Tenant, 'rest'>, filter: object = {}) => {
  const { status, body, text } = await rest('POST /segments/customers', filter)
  if (status !== 200) throw new Error(text)
  return body.data
}
const idsOf = async (tenant: Pick<Tenant, 'rest'>, filter: object): Promise<string[]> =>
  (await asked(tenant, filter)).customers.map(({ user_id }: { user_id: string }) => user_id)

const visit = (tenant: Tenant, user_id: string, occurred_at: string, more: object = { amount: '10' }) =>
  tenant.rest('POST /points/issue', { user_id, occurred_at, ...more })

test('a row of a segment says all there is to say, and pages by id with the exact total', async (t) => {
  const tenant = await createTenant(app, { timezone: 'Europe/Berlin', currency: 'EUR' })
  const [one, other] = [
    await createCustomer(tenant, {
      display_name: 'Ada',
      identifiers: [{ value: 'card-1', label: 'Card' }, { value: 'x' }],
    }),
    await createCustomer(tenant, { joined_at: '2020-01-01T00:00:00Z' }),
  ]
  await visit(tenant, one.user_id, '2026-07-01T08:00:00Z', { amount: '99.99' })
  const data = await asked(tenant)
  t.deepEqual(data, {
    customers: [
      {
        user_id: one.user_id,
        display_name: 'Ada',
        points_balance: 99,
        visit_count: 1,
        redemption_count: 0,
        spend_usd_estimated: 99,
        last_visit_at: '2026-07-01T08:00:00.000Z',
        joined_at: at(NOW).toISOString(),
        tier_id: null,
        identifiers: one.identifiers,
      },
      {
        user_id: other.user_id,
        display_name: null,
        points_balance: 0,
        visit_count: 0,
        redemption_count: 0,
        spend_usd_estimated: 0,
        last_visit_at: null,
        joined_at: '2020-01-01T00:00:00.000Z',
        tier_id: null,
        identifiers: [],
      },
    ],
    pagination: { limit: 50, offset: 0, returned: 2, total_count: 2 },
  })
  const second = await asked(tenant, { pagination: { limit: 1, offset: 1 } })
  t.deepEqual(second, {
    customers: [data.customers[1]],
    pagination: { limit: 1, offset: 1, returned: 1, total_count: 2 },
  })
  const beyond = await asked(tenant, { pagination: { limit: 100, offset: 7 } })
  t.deepEqual(beyond, { customers: [], pagination: { limit: 100, offset: 7, returned: 0, total_count: 2 } })
  const preview = await tenant.rest('POST /segments/preview', { points_balance: { min: 1 } })
  t.deepEqual(preview.body.data, { count: 1, sample: [data.customers[0]] })
})

test('rows, identifiers and total of a page come from one statement', async (t) => {
  const alone = await startApp(t)
  const tenant = await createTenant(alone)
  for (const value of ['a', 'b', 'c']) await createCustomer(tenant, { identifiers: [{ value }] })
  const statements = await statementsDuring(alone, () => asked(tenant))
  t.deepEqual(statements.filter((text) => !/FROM businesses b WHERE/.test(text)).length, 1)
})

test('a preset is its filter: what the catalogue shows can be sent back, and selects the same', async (t) => {
  const tenant = await createTenant(app)
  const { body } = await tenant.rest('GET /segments/presets')
  const presets: { id: string; name: string; description: string; filter: object }[] = body.data.presets
  t.deepEqual(Object.fromEntries(presets.map(({ id, filter }) => [id, filter])), {
    champions: { visit_count: { min: 10 }, last_visit_within_days: 30 },
    loyal: { visit_count: { min: 5 }, last_visit_within_days: 60 },
    at_risk: { visit_count: { min: 3 }, last_visit_not_within_days: 60 },
    lapsed: { visit_count: { min: 1 }, last_visit_not_within_days: 180 },
    new: { joined_within_days: 30 },
    one_time: { visit_count: { min: 1, max: 1 } },
    big_spenders: { spend_usd_estimated: { min: 500 } },
    birthday_this_month: { birthday_in_month: 7 },
    unredeemed_balance: { points_balance: { min: 1000 }, has_redeemed: false },
    frequent_redeemers: { redemption_count: { min: 3 } },
  })
  const reward = await createReward(tenant, { points_cost: 1 })
  for (let n = 0; n < 12; n++) {
    const joined_at = n % 2 ? '2026-07-01T00:00:00Z' : '2025-01-01T00:00:00Z'
    const { user_id } = await createCustomer(tenant, { joined_at, birthday: `--0${6 + (n % 3)}-30` })
    for (let day = 1; day <= n; day++)
      await visit(
        tenant,
        user_id,
        `2026-0${n % 5 ? 1 + ((n + day) % 7) : 1}-${String(day).padStart(2, '0')}T10:00:00Z`,
        {
          amount: `${n * 30}`,
        },
      )
    for (let times = 0; times < n % 5; times++) {
      const made = await tenant.rest('POST /redemptions', { user_id, reward_id: reward.id })
      await tenant.rest(`POST /redemptions/${made.body.data?.redemption.code}/complete`)
    }
  }
  for (const { id, filter } of presets) {
    const [byId, byFilter] = [await asked(tenant, { preset_id: id }), await asked(tenant, filter)]
    t.deepEqual(byId, byFilter)
    t.true(byId.pagination.total_count < 12, id)
  }
  t.true((await asked(tenant, { preset_id: 'at_risk' })).pagination.total_count > 0)
})

test('nobody of another business is in a segment, nor anybody who was erased', async (t) => {
  const [tenant, other] = [await createTenant(app), await createTenant(app)]
  const kept = await createCustomer(tenant)
  const erased = await createCustomer(tenant)
  const foreign = await createCustomer(other)
  await tenant.rest(`DELETE /customers/${erased.user_id}`)
  for (const filter of [{}, { has_redeemed: false }, { hour_of_day: { from: 0, to: 23 }, timezone: 'UTC' }]) {
    for (const user_id of [kept.user_id, foreign.user_id])
      await visit(user_id === kept.user_id ? tenant : other, user_id, NOW)
    t.deepEqual(await idsOf(tenant, filter), [kept.user_id])
    t.deepEqual(await idsOf(other, filter), [foreign.user_id])
  }
  const explain = await tenant.graph(EXPLAIN, { customer: foreign.user_id, input: {} })
  t.is(explain.errors![0].extensions.code, 'CUSTOMER_NOT_FOUND')
})

test('hours and weekdays are those on the wall of the zone asked for, also when clocks change', async (t) => {
  const tenant = await createTenant(app, { timezone: 'Europe/Berlin' })
  const came = async (moment: string) => {
    const { user_id } = await createCustomer(tenant)
    await visit(tenant, user_id, moment)
    return user_id
  }
  // Berlin 2026-03-29: after 01:59 comes 03:00. 2025-10-26: 02:00 to 02:59 comes twice. Both are Sundays.
  const [before, after] = [await came('2026-03-29T00:59:59.999Z'), await came('2026-03-29T01:00:00Z')]
  const [first, second] = [await came('2025-10-26T00:30:00Z'), await came('2025-10-26T01:30:00Z')]
  const [zone, all] = ['Europe/Berlin', [before, after, first, second]]
  const within = (from: number, to: number, timezone = zone, more = {}) =>
    idsOf(tenant, { hour_of_day: { from, to }, timezone, ...more })
  t.deepEqual(await within(1, 1), [before])
  t.deepEqual(await within(2, 2), [first, second])
  t.deepEqual(await within(3, 3), [after])
  t.deepEqual(await within(23, 1), [before])
  t.deepEqual(await within(4, 0), [])
  // Across the ocean it is the evening before, a Saturday; in Kathmandu it is 45 minutes off the hour.
  t.deepEqual(await within(20, 21, 'America/New_York'), all)
  t.deepEqual(await idsOf(tenant, { day_of_week: [6], timezone: 'America/New_York' }), all)
  t.deepEqual(await idsOf(tenant, { day_of_week: [0], timezone: zone }), all)
  t.deepEqual(await within(6, 6, 'Asia/Kathmandu'), [before, after, first])
  t.deepEqual(await within(7, 7, 'Asia/Kathmandu'), [second])
  t.deepEqual(await within(2, 3, zone, { day_of_week: [1, 2, 3, 4, 5, 6] }), [])
})

test('hour and weekday have to be met by one visit, and only rows that are visits count', async (t) => {
  const tenant = await createTenant(app)
  const { user_id } = await createCustomer(tenant)
  // A Monday morning and a Tuesday evening.
  const issued = await visit(tenant, user_id, '2026-07-06T09:00:00Z')
  await visit(tenant, user_id, '2026-07-07T19:00:00Z')
  const [timezone, morning] = ['UTC', { from: 9, to: 9 }]
  t.deepEqual(await idsOf(tenant, { hour_of_day: morning, timezone }), [user_id])
  t.deepEqual(await idsOf(tenant, { hour_of_day: morning, day_of_week: [1], timezone }), [user_id])
  t.deepEqual(await idsOf(tenant, { hour_of_day: morning, day_of_week: [2], timezone }), [])
  await tenant.rest(`POST /transactions/${issued.body.data.transaction.id}/reverse`)
  t.deepEqual(
    await idsOf(tenant, { hour_of_day: { from: 12, to: 12 }, timezone }),
    [],
    'taking back is no visit',
  )
})

test('a change of the time zone leaves hours right in every zone, before and after the kept ones are brought over', async (t) => {
  const alone = await startApp(t, { clock })
  const tenant = await createTenant(alone)
  const [early, late] = [(await createCustomer(tenant)).user_id, (await createCustomer(tenant)).user_id]
  const due = async () => {
    const { rows } = await alone.database.pool.query('SELECT visit_hours_due_after AS after FROM businesses')
    return rows[0].after !== null
  }
  const hoursAreRight = async (hours: Record<string, number>, expected: string[]) => {
    for (const [timezone, hour] of Object.entries(hours)) {
      const filter = { hour_of_day: { from: hour, to: hour }, timezone }
      t.deepEqual(await idsOf(tenant, filter), expected, timezone)
    }
    const { checks } = await audit(alone.database)
    t.deepEqual(
      checks.filter(({ broken }) => broken > 0),
      [],
    )
  }
  const night = { UTC: 22, 'Asia/Tokyo': 7, 'America/New_York': 18 }
  const morning = { UTC: 1, 'Asia/Tokyo': 10, 'America/New_York': 21 }

  await visit(tenant, early, '2026-07-06T22:30:00Z')
  t.false(await due())
  await tenant.rest('PATCH /settings', { timezone: 'Asia/Tokyo' })
  t.true(await due())
  await visit(tenant, late, '2026-07-06T22:30:00Z')
  await visit(tenant, early, '2026-07-07T01:30:00Z')
  await hoursAreRight(night, [early, late])
  await hoursAreRight(morning, [early])

  t.is(await keepVisitHours(alone), 1)
  t.false(await due())
  await hoursAreRight(night, [early, late])
  await visit(tenant, late, '2026-07-08T01:30:00Z')
  await hoursAreRight(morning, [early, late])
  await tenant.rest('PATCH /settings', { usd_rate: '2' })
  t.is(await keepVisitHours(alone), 0)
})

test('visits that are not kept by hour are read from the rows', async (t) => {
  const alone = await startApp(t, { clock })
  const tenant = await createTenant(alone)
  const { user_id } = await createCustomer(tenant)
  await visit(tenant, user_id, '2026-07-06T22:30:00Z')
  await alone.database.pool.query('UPDATE customers SET visit_hours = NULL, visit_hours_timezone = NULL')
  await visit(tenant, user_id, '2026-07-06T10:30:00Z')
  for (const hour of [10, 22])
    t.deepEqual(await idsOf(tenant, { hour_of_day: { from: hour, to: hour }, timezone: 'UTC' }), [user_id])
  t.deepEqual(await idsOf(tenant, { hour_of_day: { from: 11, to: 21 }, timezone: 'UTC' }), [])
})

const days = { 0: 'must be at least 1', 3651: 'must be at most 3650', 1.5: 'must be an integer' }
const bounds: [field: string, refused: Record<string, string>][] = [
  ['last_visit_within_days', days],
  ['last_visit_not_within_days', days],
  ['joined_within_days', days],
  ['joined_before_days_ago', days],
  ['birthday_in_month', { 0: 'must be at least 1', 13: 'must be at most 12' }],
]

for (const [field, refused] of bounds)
  test(`${field} has its bounds`, async (t) => {
    const { rest } = await createTenant(app)
    for (const [value, message] of Object.entries(refused)) {
      const { status, body } = await rest('POST /segments/customers', { [field]: Number(value) })
      t.deepEqual([status, body.error?.message], [400, `${field}: ${message}`])
    }
  })

const refusals: [body: object, message: string][] = [
  ...['points_balance', 'spend_usd_estimated', 'visit_count', 'redemption_count'].flatMap(
    (field): [object, string][] => [
      [{ [field]: { min: 5, max: 4 } }, `${field}.min: must not be greater than max`],
      [{ [field]: { min: -1 } }, `${field}.min: must be at least 0`],
      [{ [field]: { max: 1.5 } }, `${field}.max: must be an integer`],
      [{ [field]: { min: 1, least: 1 } }, `${field}.least: unknown field`],
      [{ [field]: {} }, `${field}: give min, max or both`],
      [{ [field]: 5 }, `${field}: must be an object`],
    ],
  ),
  [
    { last_visit_within_days: 3, last_visit_not_within_days: 3 },
    'last_visit_not_within_days: must not be given together with last_visit_within_days',
  ],
  [{ hour_of_day: { from: 1, to: 2 } }, 'timezone: required with hour_of_day'],
  [{ day_of_week: [1] }, 'timezone: required with day_of_week'],
  [{ hour_of_day: { from: -1, to: 2 }, timezone: 'UTC' }, 'hour_of_day.from: must be at least 0'],
  [{ hour_of_day: { from: 1, to: 24 }, timezone: 'UTC' }, 'hour_of_day.to: must be at most 23'],
  [{ hour_of_day: { from: 1 }, timezone: 'UTC' }, 'hour_of_day.to: required'],
  [{ day_of_week: [7], timezone: 'UTC' }, 'day_of_week.0: must be at most 6'],
  [{ day_of_week: [], timezone: 'UTC' }, 'day_of_week: must name at least one day'],
  [{ day_of_week: 1, timezone: 'UTC' }, 'day_of_week: must be an array'],
  [{ timezone: '+02:00' }, 'timezone: must be an IANA time zone'],
  [{ has_redeemed: 'yes' }, 'has_redeemed: must be true or false'],
  [{ promotion_interest: 1 }, 'promotion_interest: must be true or false'],
  [
    { preset_id: 'champions', visit_count: { min: 1 } },
    'visit_count: must not be given together with preset_id',
  ],
  [{ preset_id: 'champions', timezone: 'UTC' }, 'timezone: must not be given together with preset_id'],
  [
    { preset_id: 'nobody' },
    'preset_id: must be one of champions, loyal, at_risk, lapsed, new, one_time, big_spenders, birthday_this_month, unredeemed_balance, frequent_redeemers',
  ],
  [{ pagination: { limit: 0 } }, 'pagination.limit: must be at least 1'],
  [{ pagination: { limit: 101 } }, 'pagination.limit: must be at most 100'],
  [{ pagination: { offset: -1 } }, 'pagination.offset: must be at least 0'],
  [{ filter: {} }, 'filter: unknown field'],
  [{ as_of: '2020-01-01T00:00:00Z' }, 'as_of: unknown field'],
]

test('what a filter must not say is refused by name, by both routes', async (t) => {
  const { rest } = await createTenant(app)
  for (const [sent, message] of refusals)
    for (const route of ['POST /segments/customers', 'POST /segments/preview']) {
      const { status, body } = await rest(route, sent)
      t.deepEqual([status, body.error?.message], [400, message], JSON.stringify(sent))
    }
})

const EXPLAIN = `query ($input: SegmentInput!, $customer: String!, $asOf: DateTime) {
  segmentExplanation(input: $input, customer: $customer, asOf: $asOf) {
    userId matches conditions { field asked holds seen }
  }
}`

test('an explanation says of each condition whether it holds, with the value seen, now and in the past', async (t) => {
  const tenant = await createTenant(app)
  const { user_id } = await createCustomer(tenant, {
    identifiers: [{ value: 'card-1' }],
    birthday: '--03-14',
    joined_at: '2026-01-01T00:00:00Z',
  })
  await visit(tenant, user_id, '2026-05-04T09:30:00Z', { amount: '20.50' })
  await visit(tenant, user_id, '2026-07-14T17:00:00Z', { points: 7 })
  const input = {
    visitCount: { min: 2 },
    spendUsdEstimated: { min: 28 },
    lastVisitWithinDays: 10,
    hourOfDay: { from: 9, to: 9 },
    timezone: 'Europe/Berlin',
    birthdayInMonth: 3,
  }
  const now = await tenant.graph(EXPLAIN, { input, customer: 'card-1' })
  t.deepEqual(now.data.segmentExplanation, {
    userId: user_id,
    matches: false,
    conditions: [
      { field: 'spendUsdEstimated', asked: '{"min":28}', holds: false, seen: '27.50' },
      { field: 'visitCount', asked: '{"min":2}', holds: true, seen: '2' },
      { field: 'lastVisitWithinDays', asked: '10', holds: true, seen: '2026-07-14T17:00:00.000Z' },
      { field: 'hourOfDay', asked: '{"from":9,"to":9}', holds: false, seen: 'Mon 11, Tue 19' },
      { field: 'birthdayInMonth', asked: '3', holds: true, seen: '--03-14' },
    ],
  })
  const past = await tenant.graph(EXPLAIN, { input, customer: user_id, asOf: '2026-05-04T09:30:00Z' })
  t.deepEqual(
    past.data.segmentExplanation.conditions.map(({ holds, seen }: { holds: boolean; seen: string }) => [
      holds,
      seen,
    ]),
    [
      [false, '20.50'],
      [false, '1'],
      [true, '2026-05-04T09:30:00.000Z'],
      [false, 'Mon 11'],
      [true, '--03-14'],
    ],
  )
  const unborn = await tenant.graph(EXPLAIN, { input, customer: user_id, asOf: '2025-12-31T23:59:59Z' })
  t.is(unborn.errors![0].extensions.code, 'CUSTOMER_NOT_FOUND')
  const future = await tenant.graph(EXPLAIN, { input, customer: user_id, asOf: '2026-07-15T12:00:00.001Z' })
  t.deepEqual(future.errors![0].extensions.fields, [{ path: 'asOf', message: 'must not be in the future' }])
})
