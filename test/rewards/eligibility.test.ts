import assert from 'node:assert/strict'
import test from 'ava'
import fc from 'fast-check'
import {
  absentLongEnough,
  type BirthdayRule,
  type EligibilityCustomer,
  earlyAccessHours,
  effectiveCooldown,
  eligibilityFailure,
  inBirthdayWindow,
  passesTierGate,
  type RewardCooldown,
  type RewardEligibility,
} from '../../src/rewards/eligibility.rules.js'
import type { TimeUnit } from '../../src/time.js'
import {
  at,
  DAY,
  daysBetween,
  HOUR,
  holds,
  MINUTE,
  reading,
  whenReads,
  zonedMoment,
} from '../helpers/wall-clock.js'

// Tiers
const bronze = { tierId: 'bronze', tier: { rank: 1 } }
const silver = { tierId: 'silver', tier: { rank: 2 } }
const gold = { tierId: 'gold', tier: { rank: 3 } }
const noTier = { tierId: null, tier: null }
const gate = (tierGateMode: 'minimum' | 'only') => ({
  tierGateMode,
  tierGateTierId: 'silver',
  tierGateTier: { rank: 2 },
})
const noGate = { tierGateMode: null, tierGateTierId: null, tierGateTier: null }

test('a minimum gate lets in its tier and those above, an only gate its tier alone', (t) => {
  t.deepEqual(
    [bronze, silver, gold, noTier].map((customer) => passesTierGate(gate('minimum'), customer)),
    [false, true, true, false],
  )
  t.deepEqual(
    [bronze, silver, gold, noTier].map((customer) => passesTierGate(gate('only'), customer)),
    [false, true, false, false],
  )
  t.deepEqual(
    [bronze, silver, gold, noTier].map((customer) => passesTierGate(noGate, customer)),
    [true, true, true, true],
  )
})

test('a gate whose tier is missing lets nobody in', (t) => {
  for (const tierGateMode of ['minimum', 'only'] as const) {
    for (const customer of [gold, noTier]) {
      t.false(passesTierGate({ tierGateMode, tierGateTierId: null, tierGateTier: null }, customer))
    }
  }
})

const daily: RewardCooldown = {
  cooldownMode: 'limit',
  cooldownCount: 2,
  cooldownAmount: 1,
  cooldownUnit: 'day',
  tierOverrides: [
    { tierId: 'silver', cooldownCount: 5, cooldownUnit: null, earlyAccessHours: 24 },
    { tierId: 'gold', cooldownMode: 'none' },
    { tierId: 'bronze', cooldownMode: 'once', cooldownAmount: 3 },
    {
      tierId: 'amber',
      cooldownMode: null,
      cooldownCount: null,
      cooldownAmount: 7,
      cooldownUnit: 'hour',
      earlyAccessHours: null,
    },
  ],
}

test('a tier override changes the fields it has; absent and null ones are the reward’s own', (t) => {
  t.deepEqual(effectiveCooldown(daily, null), { mode: 'limit', count: 2, amount: 1, unit: 'day' })
  t.deepEqual(effectiveCooldown(daily, 'other'), { mode: 'limit', count: 2, amount: 1, unit: 'day' })
  t.deepEqual(effectiveCooldown(daily, 'silver'), { mode: 'limit', count: 5, amount: 1, unit: 'day' })
  t.deepEqual(effectiveCooldown(daily, 'gold'), { mode: 'none' })
  t.deepEqual(effectiveCooldown(daily, 'bronze'), { mode: 'once' })
  t.deepEqual(effectiveCooldown(daily, 'amber'), { mode: 'limit', count: 2, amount: 7, unit: 'hour' })
})

test('a tier override can put a limit on a reward that has none', (t) => {
  const none = {
    cooldownMode: 'none',
    cooldownCount: null,
    cooldownAmount: null,
    cooldownUnit: null,
  } as const
  const override = {
    tierId: 'silver',
    cooldownMode: 'limit',
    cooldownCount: 1,
    cooldownAmount: 2,
    cooldownUnit: 'month',
  } as const
  t.deepEqual(effectiveCooldown({ ...none, tierOverrides: [override] }, 'silver'), {
    mode: 'limit',
    count: 1,
    amount: 2,
    unit: 'month',
  })
  t.deepEqual(effectiveCooldown({ ...none, tierOverrides: [override] }, null), { mode: 'none' })
})

test('a limit that lacks a number is never taken for no cooldown', (t) => {
  for (const field of ['cooldownCount', 'cooldownAmount', 'cooldownUnit']) {
    t.throws(() => effectiveCooldown({ ...daily, [field]: null }, null))
  }
})

test('early access is the tier’s own, else 0', (t) => {
  t.deepEqual(
    [null, 'silver', 'gold', 'amber', 'other'].map((tierId) => earlyAccessHours(daily, tierId)),
    [0, 24, 0, 0, 0],
  )
})

// Absence
const absence = (absenceAmount: number, absenceUnit: TimeUnit) => ({ absenceAmount, absenceUnit })

test('a visit exactly the absence ago is long enough, a millisecond later is not; no visit always is', (t) => {
  const now = at('2026-06-01T12:00:00Z')
  t.true(absentLongEnough(absence(30, 'day'), at('2026-05-02T12:00:00.000Z'), now, 'Europe/Berlin'))
  t.false(absentLongEnough(absence(30, 'day'), at('2026-05-02T12:00:00.001Z'), now, 'Europe/Berlin'))
  t.true(absentLongEnough(absence(1000, 'month'), null, now, 'Europe/Berlin'))
  t.true(absentLongEnough({ absenceAmount: null, absenceUnit: null }, now, now, 'Europe/Berlin'))
})

test('an absence of months is one of calendar months on the business clock, reached once and for good', (t) => {
  const absent = (visit: string, now: string, zone = 'Europe/Berlin') =>
    absentLongEnough(
      absence(1, 'month'),
      new Date(whenReads(visit, zone)),
      new Date(whenReads(now, zone)),
      zone,
    )
  t.false(absent('2026-03-15 09:00', '2026-04-15 08:59'))
  t.true(absent('2026-03-15 09:00', '2026-04-15 09:00'))
  t.false(absent('2026-01-31 09:00', '2026-02-28 23:59'))
  t.true(absent('2026-01-31 09:00', '2026-03-01 00:00'))
  t.true(absent('2026-02-28 20:00', '2026-03-28 20:00'))
  t.true(absent('2026-02-28 20:00', '2026-03-31 10:00'))
  t.false(absent('2026-02-28 23:30', '2026-03-28 23:29', 'America/New_York'))
})

test('an absence in minutes, hours or days holds exactly when that much time has passed', (t) => {
  const minutes = { minute: 1, hour: 60, day: 1440 }
  const unit = fc.constantFrom('minute', 'hour', 'day')
  const passed = fc.integer({ min: 0, max: 3000 })
  holds(
    t,
    fc.property(
      zonedMoment(1),
      unit,
      fc.integer({ min: 1, max: 3 }),
      passed,
      ({ zone, ms }, unit, amount, passed) => {
        const visit = new Date(ms - passed * MINUTE)
        assert.equal(
          absentLongEnough(absence(amount, unit), visit, new Date(ms), zone),
          passed >= amount * minutes[unit],
        )
      },
    ),
    500,
  )
})

// Birthdays
const exact: BirthdayRule = {
  birthday: true,
  birthdayWindowMode: 'exact',
  birthdayDaysBefore: null,
  birthdayDaysAfter: null,
}
const month: BirthdayRule = { ...exact, birthdayWindowMode: 'month' }
const days = (before: number, after: number): BirthdayRule => ({
  birthday: true,
  birthdayWindowMode: 'days',
  birthdayDaysBefore: before,
  birthdayDaysAfter: after,
})

const birthdays: [why: string, rule: BirthdayRule, birthday: string | null, today: string, open: boolean][] =
  [
    ['the day itself', exact, '1990-06-15', '2026-06-15', true],
    ['the day after', exact, '1990-06-15', '2026-06-16', false],
    ['a birthday without a year', exact, '--06-15', '2026-06-15', true],
    ['no mode is exact', { ...exact, birthdayWindowMode: null }, '--06-15', '2026-06-15', true],
    [
      'no mode is exact, not days',
      { ...exact, birthdayWindowMode: null, birthdayDaysAfter: 3 },
      '--06-15',
      '2026-06-16',
      false,
    ],
    ['no birthday on record', exact, null, '2026-06-15', false],
    ['no birthday on record, the whole year round', days(366, 366), null, '2026-06-15', false],
    ['no birthday rule', { ...exact, birthday: false }, null, '2026-06-15', true],
    ['29 February in a leap year', exact, '2000-02-29', '2028-02-29', true],
    ['29 February is not kept on the 28th in a leap year', exact, '2000-02-29', '2028-02-28', false],
    ['29 February is kept on the 28th in a common year', exact, '--02-29', '2026-02-28', true],
    ['29 February is not kept on 1 March', exact, '--02-29', '2026-03-01', false],
    ['28 February stays on the 28th in a leap year', exact, '--02-28', '2028-02-29', false],
    ['29 February belongs to February', month, '--02-29', '2026-02-01', true],
    ['the first of the month', month, '1990-06-15', '2026-06-01', true],
    ['the last of the month', month, '1990-06-15', '2026-06-30', true],
    ['the month after', month, '1990-06-15', '2026-07-01', false],
    ['the month before', month, '--12-15', '2026-11-30', false],
    ['the first day of a window', days(3, 2), '--06-15', '2026-06-12', true],
    ['before a window', days(3, 2), '--06-15', '2026-06-11', false],
    ['the last day of a window', days(3, 2), '--06-15', '2026-06-17', true],
    ['after a window', days(3, 2), '--06-15', '2026-06-18', false],
    ['a window of one day', days(0, 0), '--06-15', '2026-06-15', true],
    ['a window over the end of the year, from the old one', days(3, 2), '--01-02', '2026-12-30', true],
    ['a window over the end of the year, too early', days(3, 2), '--01-02', '2026-12-29', false],
    ['a window over the end of the year, in the new one', days(3, 2), '--12-31', '2027-01-02', true],
    ['a window over the end of the year, too late', days(3, 2), '--12-31', '2027-01-03', false],
    ['a window around 29 February in a common year', days(0, 1), '--02-29', '2026-03-01', true],
    ['a window around 29 February in a common year, over', days(0, 1), '--02-29', '2026-03-02', false],
    ['a window around 29 February in a leap year', days(1, 0), '--02-29', '2028-02-28', true],
    ['a window of the whole year', days(366, 0), '--06-15', '2026-06-16', true],
  ]
for (const [why, rule, birthday, today, open] of birthdays) {
  test(`birthday: ${why} is ${open ? 'in' : 'out'} (${today})`, (t) => {
    t.is(inBirthdayWindow(rule, birthday, at(`${today}T12:00:00Z`), 'UTC'), open)
  })
}

test('a birthday begins and ends at midnight of the business', (t) => {
  const on = (text: string, zone: string) =>
    inBirthdayWindow(exact, '--06-15', new Date(whenReads(text, zone)), zone)
  for (const zone of ['America/New_York', 'Europe/Berlin', 'Pacific/Chatham']) {
    t.deepEqual(
      ['2026-06-14 23:59', '2026-06-15 00:00', '2026-06-15 23:59', '2026-06-16 00:00'].map((text) =>
        on(text, zone),
      ),
      [false, true, true, false],
    )
  }
})

test('any birthday window holds on exactly the days around the celebrations that the calendar has', (t) => {
  const calendar = daysBetween('2021-01-01', '2033-12-31')
  const anniversary = fc.oneof(
    fc.constantFrom('02-29', '02-28', '03-01', '12-31', '01-01'),
    fc.constantFrom(...daysBetween('2024-01-01', '2024-12-31').map((day) => day.slice(5))),
  )
  const year = fc.constantFrom('-', '1984', '2000', '2030')
  const around = fc.oneof(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 366 }))
  const mode = fc.constantFrom('exact', 'days', 'month')
  holds(
    t,
    fc.property(
      zonedMoment(1),
      year,
      anniversary,
      mode,
      around,
      around,
      ({ zone, ms }, year, monthDay, mode, before, after) => {
        const celebrated = new Set(
          calendar.filter((day, i) => {
            if (day.endsWith(monthDay)) return true
            return monthDay === '02-29' && day.endsWith('02-28') && calendar[i + 1]?.endsWith('03-01')
          }),
        )
        const rule = {
          birthday: true,
          birthdayWindowMode: mode,
          birthdayDaysBefore: before,
          birthdayDaysAfter: after,
        }
        const today = calendar.indexOf(reading(ms, zone).slice(0, 10))
        // On a day of the window, the celebration is at most `before` days ahead or `after` days back.
        const window =
          mode === 'days' ? calendar.slice(today - after, today + before + 1) : [calendar[today]!]
        const expected =
          mode === 'month'
            ? calendar[today]!.slice(5, 7) === monthDay.slice(0, 2)
            : window.some((day) => celebrated.has(day))
        assert.equal(inBirthdayWindow(rule, `${year}-${monthDay}`, new Date(ms), zone), expected)
      },
    ),
    1000,
  )
})

// All of them
const free: RewardEligibility = {
  startDate: null,
  endDate: null,
  timeActive: null,
  ...noGate,
  birthday: false,
  birthdayWindowMode: null,
  birthdayDaysBefore: null,
  birthdayDaysAfter: null,
  absenceAmount: null,
  absenceUnit: null,
  tierOverrides: [],
}
const customer: EligibilityCustomer = { ...bronze, birthday: '--06-16' }
const now = at('2026-06-15T12:00:00Z')
const moment = { now, zone: 'Europe/Berlin', priorVisitAt: new Date(now.getTime() - HOUR) }

test('of several rules that refuse a customer the first is told: schedule, tier, birthday, absence', (t) => {
  const refusals = [
    { rule: { endDate: '2026-06-14' }, failure: 'schedule' },
    { rule: gate('only'), failure: 'tier' },
    { rule: exact, failure: 'birthday' },
    { rule: absence(1, 'day'), failure: 'absence' },
  ]
  t.is(eligibilityFailure(free, customer, moment), null)
  for (const [first, { rule, failure }] of refusals.entries()) {
    t.is(eligibilityFailure({ ...free, ...rule }, customer, moment), failure as 'schedule')
    const rest = Object.assign({}, ...refusals.slice(first).map((refusal) => refusal.rule))
    t.is(eligibilityFailure({ ...free, ...rest }, customer, moment), failure as 'schedule')
  }
})

test('a customer who meets every rule at once is eligible', (t) => {
  const strict = {
    ...free,
    ...gate('minimum'),
    ...days(1, 0),
    ...absence(1, 'day'),
    startDate: '2026-06-15',
    endDate: '2026-06-15',
  }
  const absent = { ...moment, priorVisitAt: new Date(now.getTime() - DAY) }
  t.is(eligibilityFailure(strict, { ...customer, ...silver }, absent), null)
  t.is(eligibilityFailure(strict, { ...customer, ...silver }, { ...absent, priorVisitAt: null }), null)
})

test('early access is for the tier that has it', (t) => {
  const soon = {
    ...free,
    startDate: '2026-06-16',
    tierOverrides: [{ tierId: 'bronze', earlyAccessHours: 10 }],
  }
  t.is(eligibilityFailure(soon, customer, moment), null)
  t.is(eligibilityFailure(soon, { ...customer, ...gold }, moment), 'schedule')
  t.is(eligibilityFailure(soon, { ...customer, ...noTier }, moment), 'schedule')
  t.is(eligibilityFailure(soon, customer, { ...moment, now: at('2026-06-15T11:59:59Z') }), 'schedule')
})
