import assert from 'node:assert/strict'
import test from 'ava'
import fc from 'fast-check'
import {
  type DayHours,
  isOpen,
  type RewardSchedule,
  type TimeActive,
  WEEKDAYS,
} from '../../src/rewards/schedule.rules.js'
import {
  at,
  DAY,
  daysBetween,
  firstWhen,
  HOUR,
  holds,
  MINUTE,
  reading,
  weekMinute,
  whenReads,
  zonedMoment,
} from '../helpers/wall-clock.js'

const always: RewardSchedule = { startDate: null, endDate: null, timeActive: null }
const hours = (start: string, end: string): DayHours => ({ active: true, start, end })
const closed: DayHours = { active: false }

/** Whether `schedule` is open when the clock of `zone` reads `text`. */
function openWhen(
  text: string,
  schedule: Partial<RewardSchedule>,
  zone = 'Europe/Berlin',
  earlyAccessHours = 0,
) {
  return isOpen({ ...always, ...schedule }, new Date(whenReads(text, zone)), zone, earlyAccessHours)
}

test('a reward without a schedule is always open', (t) => {
  holds(
    t,
    fc.property(zonedMoment(1), ({ zone, ms }) => isOpen(always, new Date(ms), zone)),
    50,
  )
  t.true(openWhen('2026-05-01 12:00', { timeActive: {} }))
})

// 2026-06-05 is a Friday.
const week: TimeActive = {
  monday: closed,
  tuesday: hours('09:00', '17:30'),
  wednesday: hours('00:00', '00:00'),
  thursday: hours('18:00', '18:00'),
  friday: hours('22:00', '02:00'),
  saturday: closed,
}
const weekTable: [when: string, open: boolean, why: string][] = [
  ['2026-06-01 12:00', false, 'a closed day'],
  ['2026-06-02 08:59', false, 'before the start'],
  ['2026-06-02 09:00', true, 'the start is inside'],
  ['2026-06-02 17:29', true, 'the last minute is inside'],
  ['2026-06-02 17:30', false, 'the end is outside'],
  ['2026-06-03 00:00', true, 'start = end is the whole day: its beginning'],
  ['2026-06-03 23:59', true, 'start = end is the whole day: its last minute'],
  ['2026-06-04 03:00', true, 'start = end is the whole day, also before start'],
  ['2026-06-05 00:30', false, 'a whole day does not run into the next'],
  ['2026-06-05 21:59', false, 'before a window past midnight'],
  ['2026-06-05 22:00', true, 'a window past midnight begins'],
  ['2026-06-06 00:00', true, 'it goes on at midnight, into a closed day'],
  ['2026-06-06 01:59', true, 'its last minute, on a closed day'],
  ['2026-06-06 02:00', false, 'its end'],
  ['2026-06-06 22:30', false, 'a closed day has no evening'],
  ['2026-06-07 00:30', true, 'a day left out is unrestricted'],
  ['2026-06-07 23:59', true, 'a day left out is open to its end'],
  ['2026-06-08 00:00', false, 'a day left out does not run into a closed one'],
]
for (const [when, open, why] of weekTable) {
  test(`weekly hours: ${why} (${when} ${open ? 'open' : 'shut'})`, (t) => {
    t.is(openWhen(when, { timeActive: week }), open)
  })
}

test('two windows past midnight in a row leave the day between them shut', (t) => {
  const timeActive = { friday: hours('20:00', '04:00'), saturday: hours('22:00', '06:00') }
  const shut = ['2026-06-06 04:00', '2026-06-06 21:59']
  const open = ['2026-06-06 03:59', '2026-06-06 22:00', '2026-06-07 05:59', '2026-06-07 06:00']
  for (const when of shut) t.false(openWhen(when, { timeActive }), when)
  for (const when of open) t.true(openWhen(when, { timeActive }), when)
})

test('the evening before that was closed does not run into the day, whatever its hours said', (t) => {
  const timeActive = { friday: { active: false, start: '22:00', end: '02:00' }, saturday: closed }
  t.false(openWhen('2026-06-06 01:00', { timeActive }))
})

test('both dates belong to the reward, on the business clock', (t) => {
  const dates = { startDate: '2026-06-01', endDate: '2026-06-02' }
  t.false(openWhen('2026-05-31 23:59', dates))
  t.true(openWhen('2026-06-01 00:00', dates))
  t.true(openWhen('2026-06-02 23:59', dates))
  t.false(openWhen('2026-06-03 00:00', dates))
  t.true(openWhen('2026-06-02 23:59', dates, 'America/New_York'))
  t.true(openWhen('2020-01-01 00:00', { endDate: '2026-06-02' }))
  t.true(openWhen('2030-01-01 00:00', { startDate: '2026-06-01' }))
})

test('dates as Prisma returns them, midnight UTC, are the same days', (t) => {
  const dates = { startDate: at('2026-06-01T00:00:00Z'), endDate: at('2026-06-02T00:00:00Z') }
  t.false(openWhen('2026-05-31 23:59', dates, 'America/New_York'))
  t.true(openWhen('2026-06-01 00:00', dates, 'America/New_York'))
  t.true(openWhen('2026-06-02 23:59', dates, 'America/New_York'))
  t.false(openWhen('2026-06-03 00:00', dates, 'America/New_York'))
})

test('a window past midnight ends with the last day and is entered on the first', (t) => {
  const friday = { timeActive: { friday: hours('22:00', '02:00'), saturday: closed } }
  t.false(openWhen('2026-06-06 01:00', { ...friday, endDate: '2026-06-05' }))
  t.true(openWhen('2026-06-06 01:00', { ...friday, startDate: '2026-06-06' }))
})

test('early access opens a reward that many hours before its first day, within the weekly hours', (t) => {
  const dates = { startDate: '2026-06-05' }
  t.false(openWhen('2026-06-03 23:59', dates, 'Europe/Berlin', 24))
  t.true(openWhen('2026-06-04 00:00', dates, 'Europe/Berlin', 24))
  t.false(openWhen('2026-06-04 22:59', dates, 'Europe/Berlin', 1))
  t.true(openWhen('2026-06-04 23:00', dates, 'Europe/Berlin', 1))
  t.false(openWhen('2026-06-01 12:00', { ...dates, timeActive: { monday: closed } }, 'Europe/Berlin', 999))
  t.false(openWhen('2026-06-07 12:00', { ...dates, endDate: '2026-06-06' }, 'Europe/Berlin', 999))
  // 30 March begins after a day of 23 hours.
  t.true(openWhen('2026-03-29 00:00', { startDate: '2026-03-30' }, 'Europe/Berlin', 23))
  t.false(openWhen('2026-03-28 23:59', { startDate: '2026-03-30' }, 'Europe/Berlin', 23))
})

const changeOfClocks: [zone: string, date: string, window: [string, string], openMinutes: number][] = [
  ['Europe/Berlin', '2026-03-29', ['02:00', '03:00'], 0],
  ['Europe/Berlin', '2026-10-25', ['02:00', '03:00'], 120],
  ['Europe/Berlin', '2026-03-29', ['01:30', '03:30'], 60],
  ['America/New_York', '2026-03-08', ['02:30', '02:45'], 0],
  ['America/New_York', '2026-11-01', ['01:00', '02:00'], 120],
  ['Australia/Lord_Howe', '2026-10-04', ['02:00', '02:45'], 15],
  ['Australia/Lord_Howe', '2026-04-05', ['01:30', '02:00'], 60],
  ['Australia/Lord_Howe', '2026-04-05', ['00:00', '00:00'], 24.5 * 60],
]
for (const [zone, date, [start, end], openMinutes] of changeOfClocks) {
  test(`${start}–${end} in ${zone} on ${date} is open for ${openMinutes} minutes, by the clock on the wall`, (t) => {
    const schedule = { startDate: date, endDate: date, timeActive: { sunday: hours(start, end) } }
    let minutes = 0
    for (let ms = Date.parse(date) - DAY; ms < Date.parse(date) + 2 * DAY; ms += MINUTE) {
      if (isOpen(schedule, new Date(ms), zone)) minutes++
    }
    t.is(minutes, openMinutes)
  })
}

const clock = (minute: number) =>
  `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`
const minuteOfDay = fc.oneof(fc.constantFrom(0, 1, 1439), fc.integer({ min: 0, max: 1439 }))
const dayHours = fc.record({ active: fc.boolean(), start: minuteOfDay, end: minuteOfDay })

test('any weekly hours are open in exactly the minutes that walking them through the week marks', (t) => {
  const plan = fc.array(fc.option(dayHours), { minLength: 7, maxLength: 7 })
  holds(
    t,
    fc.property(plan, fc.array(zonedMoment(MINUTE), { minLength: 10, maxLength: 10 }), (plan, moments) => {
      const open = new Uint8Array(7 * 1440)
      const timeActive: { [day: string]: DayHours } = {}
      for (const [weekday, hours] of plan.entries()) {
        const midnight = weekday * 1440
        if (hours)
          timeActive[WEEKDAYS[weekday]!] = { ...hours, start: clock(hours.start), end: clock(hours.end) }
        if (!hours || (hours.active && hours.start === hours.end)) open.fill(1, midnight, midnight + 1440)
        else if (hours.active) {
          for (let minute = hours.start; minute % 1440 !== hours.end; minute++)
            open[(midnight + minute) % open.length] = 1
        }
      }
      for (const { zone, ms } of moments) {
        const { weekday, minute } = weekMinute(ms, zone)
        assert.equal(
          isOpen({ ...always, timeActive }, new Date(ms), zone),
          open[weekday * 1440 + minute] === 1,
        )
      }
    }),
    300,
  )
})

test('any dates are open on exactly the days the calendar has between them, and early by hours on end', (t) => {
  const shift = fc.option(fc.integer({ min: -3, max: 3 }))
  const early = fc.constantFrom(0, 0, 1, 24, 49)
  holds(
    t,
    fc.property(zonedMoment(15 * MINUTE), shift, shift, early, ({ zone, ms }, from, to, earlyAccessHours) => {
      const today = Date.parse(reading(ms, zone).slice(0, 10))
      const day = (shift: number | null) =>
        shift === null ? null : new Date(today + shift * DAY).toISOString().slice(0, 10)
      const [startDate, endDate] = [day(from), day(to)]
      const days = new Set(daysBetween(startDate ?? '2023-01-01', endDate ?? '2032-01-01'))
      const inDays = (ms: number) => days.has(reading(ms, zone).slice(0, 10))
      const ended = endDate !== null && reading(ms, zone).slice(0, 10) > endDate
      // Early: the first day begins within so many hours from now.
      const begun = (ms: number) => startDate === null || reading(ms, zone).slice(0, 10) >= startDate
      const untilBegun = firstWhen(ms - 5 * DAY, 15 * MINUTE, begun) - ms
      const isEarly = !ended && untilBegun > 0 && untilBegun <= earlyAccessHours * HOUR
      const open = isOpen({ startDate, endDate, timeActive: null }, new Date(ms), zone, earlyAccessHours)
      assert.equal(open, inDays(ms) || isEarly)
    }),
    400,
  )
})
