import test from 'ava'
import fc from 'fast-check'
import { lastLocalDays } from '../../src/overview/overview.rules.js'
import { localDate } from '../../src/time.js'

const zones = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'Africa/Cairo',
  'Pacific/Apia',
]

test('the last local days follow each other without a gap, are dated by the wall, and end with today', (t) => {
  fc.assert(
    fc.property(
      fc.date({ min: new Date('2010-01-01'), max: new Date('2040-01-01'), noInvalidDate: true }),
      fc.integer({ min: 1, max: 90 }),
      fc.constantFrom(...zones),
      (now, count, zone) => {
        const days = lastLocalDays(now, count, zone)
        t.is(days.length, count)
        t.is(days.at(-1)!.date, localDate(now, zone))
        t.true(days.at(-1)!.start <= now && now < days.at(-1)!.until)
        for (const [index, { date, start, until }] of days.entries()) {
          if (index > 0) t.deepEqual(start, days[index - 1]!.until)
          // Apia left out a whole day, which has no moment.
          if (start < until) {
            t.is(localDate(start, zone), date)
            t.is(localDate(new Date(until.getTime() - 1), zone), date)
          }
        }
      },
    ),
    { numRuns: 1000 },
  )
})

test('days on which the clock is changed have 23 and 25 hours', (t) => {
  const hours = (now: string, zone: string) =>
    lastLocalDays(new Date(now), 1, zone).map(
      ({ start, until }) => (until.getTime() - start.getTime()) / 3_600_000,
    )
  t.deepEqual(hours('2026-03-29T12:00:00Z', 'Europe/Berlin'), [23])
  t.deepEqual(hours('2026-10-25T12:00:00Z', 'Europe/Berlin'), [25])
  t.deepEqual(hours('2026-04-04T16:00:00Z', 'Australia/Lord_Howe'), [24.5])
})
