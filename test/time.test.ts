import assert from 'node:assert/strict'
import test from 'ava'
import fc from 'fast-check'
import {
  addTime,
  elapsesAt,
  endOfLocalDay,
  isTimeZone,
  localDate,
  startOfLocalDay,
  subtractTime,
  type TimeUnit,
  wallClock,
} from '../src/time.js'
import {
  at,
  DAY,
  firstWhen,
  HOUR,
  holds,
  MINUTE,
  reading,
  sameDayLater,
  weekMinute,
  whenReads,
  zonedMoment,
} from './helpers/wall-clock.js'

const months = fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 50 }))

test('a time zone is an IANA region or UTC, in any case', (t) => {
  const zones = ['UTC', 'GMT', 'Etc/UTC', 'Europe/Berlin', 'europe/berlin', 'America/Argentina/Buenos_Aires']
  for (const zone of [...zones, 'Asia/Kolkata', 'Asia/Calcutta', 'America/Port-au-Prince', 'Etc/GMT+5']) {
    t.true(isTimeZone(zone), zone)
  }
  for (const zone of Intl.supportedValuesOf('timeZone')) t.true(isTimeZone(zone), zone)
})

test('an offset, an abbreviation, a name of nowhere or a date is no time zone', (t) => {
  const offsets = ['+02:00', '-0500', 'UTC+1', 'GMT+2', 'Z']
  const abbreviations = ['CET', 'EST', 'IST', 'PST', 'BST', 'SystemV/PST8']
  const nowhere = [
    '',
    ' ',
    'Europe',
    'Europe/',
    'Europe/Atlantis',
    'Etc/Unknown',
    'localtime',
    'posix/Europe/Berlin',
  ]
  const inexact = [' Europe/Berlin', 'Europe/Berlin ', 'Europe/Berlin\0', 'Europe/Berlin\n']
  const dates = ['2026-01-01T00:00Z', '2026-01-01T00:00[Europe/Berlin]']
  for (const name of [...offsets, ...abbreviations, ...nowhere, ...inexact, ...dates])
    t.false(isTimeZone(name), name)
})

test('the local date, weekday and time are what the clock on the wall shows', (t) => {
  const moment = zonedMoment(1)
  holds(
    t,
    fc.property(moment, ({ zone, ms }) => {
      const shown = wallClock(new Date(ms), zone)
      assert.equal(`${shown.date} ${shown.time}`, reading(ms, zone))
      assert.equal(shown.dayOfWeek - 1, weekMinute(ms, zone).weekday)
      assert.equal(localDate(new Date(ms), zone), shown.date)
    }),
    3000,
  )
})

test('a local day ends at the first moment of the next, also on days of 23, 23.5, 24.5 and 25 hours', (t) => {
  holds(
    t,
    fc.property(zonedMoment(15 * MINUTE), ({ zone, ms }) => {
      const today = reading(ms, zone).slice(0, 10)
      const end = firstWhen(ms, 15 * MINUTE, (later) => reading(later, zone).slice(0, 10) > today)
      assert.equal(endOfLocalDay(new Date(ms), zone).getTime(), end)
      assert.equal(startOfLocalDay(reading(end, zone).slice(0, 10), zone).getTime(), end)
    }),
    1000,
  )
  const hours = (date: string, zone: string) => {
    const start = startOfLocalDay(date, zone)
    return (endOfLocalDay(start, zone).getTime() - start.getTime()) / HOUR
  }
  t.is(hours('2026-03-29', 'Europe/Berlin'), 23)
  t.is(hours('2026-10-25', 'Europe/Berlin'), 25)
  t.is(hours('2026-10-04', 'Australia/Lord_Howe'), 23.5)
  t.is(hours('2026-04-05', 'Australia/Lord_Howe'), 24.5)
})

test('a day begins at 01:00 where the clock skips midnight', (t) => {
  t.deepEqual(startOfLocalDay('2026-03-08', 'America/Havana'), at('2026-03-08T05:00:00Z'))
  t.is(reading(Date.parse('2026-03-08T05:00:00Z'), 'America/Havana'), '2026-03-08 01:00')
})

test('minutes, hours and days are exact durations, whatever the clocks do', (t) => {
  const inMinutes = { minute: 1, hour: 60, day: 1440 }
  const unit = fc.constantFrom('minute', 'hour', 'day')
  holds(
    t,
    fc.property(zonedMoment(1), fc.integer({ min: 1, max: 1000 }), unit, ({ zone, ms }, amount, unit) => {
      assert.equal(
        (addTime(new Date(ms), amount, unit, zone).getTime() - ms) / MINUTE,
        amount * inMinutes[unit],
      )
      assert.equal(
        (ms - subtractTime(new Date(ms), amount, unit, zone).getTime()) / MINUTE,
        amount * inMinutes[unit],
      )
    }),
    500,
  )
})

const addMonths: [zone: string, from: string, months: number, to: string][] = [
  ['UTC', '2026-01-31T10:00Z', 1, '2026-02-28T10:00Z'],
  ['UTC', '2024-01-31T10:00Z', 1, '2024-02-29T10:00Z'],
  ['UTC', '2024-02-29T10:00Z', 12, '2025-02-28T10:00Z'],
  ['UTC', '2024-02-29T10:00Z', 48, '2028-02-29T10:00Z'],
  ['UTC', '2026-03-31T10:00Z', -1, '2026-02-28T10:00Z'],
  ['UTC', '2026-12-31T23:59Z', 2, '2027-02-28T23:59Z'],
  // The local time stays, the distance in hours does not.
  ['Europe/Berlin', '2026-03-01T11:00Z', 1, '2026-04-01T10:00Z'],
  ['America/New_York', '2026-10-15T04:30Z', 1, '2026-11-15T05:30Z'],
  // It is the 31st in New York while UTC has the 1st.
  ['America/New_York', '2026-02-01T03:00Z', 1, '2026-03-01T03:00Z'],
  // 02:30 is skipped: 03:30. 02:15 is skipped by half an hour: 02:45.
  ['Europe/Berlin', '2026-01-29T01:30Z', 2, '2026-03-29T01:30Z'],
  ['Australia/Lord_Howe', '2026-09-03T15:45Z', 1, '2026-10-03T15:45Z'],
  // 02:30 comes twice: the first.
  ['Europe/Berlin', '2026-09-25T00:30Z', 1, '2026-10-25T00:30Z'],
  ['America/New_York', '2026-12-01T06:30Z', -1, '2026-11-01T05:30Z'],
]

for (const [zone, from, months, to] of addMonths) {
  test(`${Math.abs(months)} months ${months > 0 ? 'after' : 'before'} ${from} in ${zone} it is ${to}`, (t) => {
    t.deepEqual(addTime(at(from), months, 'month', zone), at(to))
    t.deepEqual(subtractTime(at(from), -months, 'month', zone), at(to))
  })
}

test('a month later is the same time on the same day of the calendar, or on the last the month has', (t) => {
  holds(
    t,
    fc.property(zonedMoment(15 * MINUTE), months, ({ zone, ms }, amount) => {
      const { at: sameDay, lastDay } = sameDayLater(ms, amount, zone)
      const expected = sameDay ?? whenReads(`${lastDay} ${reading(ms, zone).slice(11)}`, zone)
      assert.equal(addTime(new Date(ms), amount, 'month', zone).getTime(), expected)
    }),
    800,
  )
})

test('something is months ago from the same time of the same day on, or from the end of a month too short', (t) => {
  holds(
    t,
    fc.property(zonedMoment(15 * MINUTE), months, ({ zone, ms }, amount) => {
      const { at: sameDay, lastDay } = sameDayLater(ms, amount, zone)
      const over = (later: number) => reading(later, zone).slice(0, 10) > lastDay
      const expected = sameDay ?? firstWhen(whenReads(`${lastDay} 12:00`, zone), 15 * MINUTE, over)
      assert.equal(elapsesAt(new Date(ms), amount, 'month', zone).getTime(), expected)
    }),
    800,
  )
})

test('something is an amount ago from the first moment at which now less the amount reaches it', (t) => {
  const hour = fc.integer({ min: 0, max: 7 * 365 * 24 }).map((hours) => Date.UTC(2024, 0, 1) + hours * HOUR)
  const amount = fc.integer({ min: 1, max: 3 })
  const unit = fc.constantFrom<TimeUnit>('hour', 'day', 'month')
  holds(
    t,
    fc.property(hour, amount, unit, (ms, amount, unit) => {
      const early = unit === 'month' ? 27 * amount * DAY : 0
      const reached = (now: number) => subtractTime(new Date(now), amount, unit, 'UTC').getTime() >= ms
      assert.equal(
        elapsesAt(new Date(ms), amount, unit, 'UTC').getTime(),
        firstWhen(ms + early, HOUR, reached),
      )
    }),
    200,
  )
})
