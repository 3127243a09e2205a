import assert from 'node:assert/strict'
import test from 'ava'
import fc from 'fast-check'
import { type CooldownLimit, cooldownSecondsLeft, windowStart } from '../../src/rewards/cooldown.rules.js'
import type { TimeUnit } from '../../src/time.js'
import {
  at,
  DAY,
  firstWhen,
  HOUR,
  holds,
  MINUTE,
  reading,
  sameDayLater,
  whenReads,
  zonedMoment,
} from '../helpers/wall-clock.js'

const limit = (count: number, amount: number, unit: TimeUnit): CooldownLimit => ({
  mode: 'limit',
  count,
  amount,
  unit,
})

/** Seconds left, all times read on the clock of `zone`. */
function left(cooldown: CooldownLimit, completed: string[], now: string, zone = 'Europe/Berlin') {
  const read = (text: string) => new Date(whenReads(text, zone))
  return cooldownSecondsLeft(cooldown, completed.map(read), read(now), zone)
}

test('no cooldown never blocks', (t) => {
  const now = at('2026-06-01T12:00:00Z')
  t.is(cooldownSecondsLeft({ mode: 'none' }, [now, now], now, 'UTC'), null)
})

test('once blocks for ever after one completion, and says 0', (t) => {
  const now = at('2026-06-01T12:00:00Z')
  t.is(cooldownSecondsLeft({ mode: 'once' }, [], now, 'UTC'), null)
  t.is(cooldownSecondsLeft({ mode: 'once' }, [at('1999-01-01T00:00:00Z')], now, 'UTC'), 0)
  t.is(windowStart({ mode: 'once' }, now, 'UTC'), null)
})

test('a completion exactly the amount ago is out of the window, a millisecond less is in and rounds up to 1', (t) => {
  const now = at('2026-06-01T12:00:00.000Z')
  const seconds = (completed: string) => cooldownSecondsLeft(limit(1, 1, 'hour'), [at(completed)], now, 'UTC')
  t.is(seconds('2026-06-01T11:00:00.000Z'), null)
  t.is(seconds('2026-06-01T11:00:00.001Z'), 1)
  t.is(seconds('2026-06-01T11:00:01.000Z'), 1)
  t.is(seconds('2026-06-01T11:00:01.001Z'), 2)
  t.is(seconds('2026-06-01T12:00:00.000Z'), 3600)
})

test('with a count the wait lasts until enough of the oldest are out, in whatever order they come', (t) => {
  const completed = ['2026-06-01 11:00', '2026-06-01 10:00', '2026-06-01 11:30']
  t.is(left(limit(4, 2, 'hour'), completed, '2026-06-01 11:45'), null)
  t.is(left(limit(3, 2, 'hour'), completed, '2026-06-01 11:45'), 15 * 60)
  t.is(left(limit(2, 2, 'hour'), completed, '2026-06-01 11:45'), 75 * 60)
  t.is(left(limit(1, 2, 'hour'), completed, '2026-06-01 11:45'), 105 * 60)
})

const table: [why: string, cooldown: CooldownLimit, completed: string, now: string, left: number | null][] = [
  ['a day is 24 hours, not a date', limit(1, 1, 'day'), '2026-06-01 20:00', '2026-06-02 08:00', 12 * 3600],
  [
    'a day is 24 hours when the clock skips one',
    limit(1, 1, 'day'),
    '2026-03-28 12:00',
    '2026-03-29 12:00',
    3600,
  ],
  [
    'a day is 24 hours when one comes twice',
    limit(1, 1, 'day'),
    '2026-10-24 12:00',
    '2026-10-25 11:00',
    null,
  ],
  [
    'a month is the same time on the same day',
    limit(1, 1, 'month'),
    '2026-03-15 09:00',
    '2026-04-15 08:59',
    60,
  ],
  ['it is then over', limit(1, 1, 'month'), '2026-03-15 09:00', '2026-04-15 09:00', null],
  [
    'a month over the change of clocks',
    limit(1, 1, 'month'),
    '2026-03-15 09:00',
    '2026-03-15 09:00',
    (31 * 24 - 1) * 3600,
  ],
  [
    '31 January is a month ago when February is over',
    limit(1, 1, 'month'),
    '2026-01-31 10:00',
    '2026-02-28 23:00',
    3600,
  ],
  ['and no earlier than that', limit(1, 1, 'month'), '2026-01-31 10:00', '2026-03-01 00:00', null],
  [
    '29 January has its day in a leap year',
    limit(1, 1, 'month'),
    '2028-01-29 10:00',
    '2028-02-29 09:00',
    3600,
  ],
  ['29 February a year later', limit(1, 12, 'month'), '2028-02-29 10:00', '2029-02-28 23:00', 3600],
  ['29 February four years later', limit(1, 48, 'month'), '2024-02-29 10:00', '2028-02-29 09:00', 3600],
  [
    '28 February is a month ago on 28 March',
    limit(1, 1, 'month'),
    '2026-02-28 20:00',
    '2026-03-28 20:00',
    null,
  ],
  ['and stays so on the 31st', limit(1, 1, 'month'), '2026-02-28 20:00', '2026-03-31 10:00', null],
  [
    'a time that the clock skips moves on by the skip',
    limit(1, 2, 'month'),
    '2026-01-29 02:30',
    '2026-03-29 01:59',
    31 * 60,
  ],
]
for (const [why, cooldown, completed, now, seconds] of table) {
  test(`cooldown: ${why} (${completed}, at ${now})`, (t) => {
    t.is(left(cooldown, [completed], now), seconds)
  })
}

const fixedUnit = fc.constantFrom<Exclude<TimeUnit, 'month'>>('minute', 'hour', 'day')
const anyUnit = fc.constantFrom<TimeUnit>('minute', 'hour', 'day', 'month')
const ago = (maxMs: number) => fc.array(fc.integer({ min: 0, max: maxMs / MINUTE }), { maxLength: 6 })

test('the seconds left are those after which waiting minute by minute finds fewer than count in the window', (t) => {
  const sizes = { minute: MINUTE, hour: HOUR, day: DAY }
  const count = fc.integer({ min: 1, max: 3 })
  const amount = fc.integer({ min: 1, max: 3 })
  holds(
    t,
    fc.property(fixedUnit, count, amount, ago(4 * DAY), (unit, count, amount, minutesAgo) => {
      const now = Date.UTC(2026, 5, 1, 12)
      const scale = unit === 'day' ? 1 : unit === 'hour' ? 20 : 1000
      const completed = minutesAgo.map((minutes) => now - Math.floor(minutes / scale) * MINUTE)
      const inWindow = (at: number) => completed.filter((ms) => at - ms < amount * sizes[unit]).length
      const free = firstWhen(now, MINUTE, (at) => inWindow(at) < count)
      const seconds = cooldownSecondsLeft(
        limit(count, amount, unit),
        completed.map((ms) => new Date(ms)),
        new Date(now),
        'UTC',
      )
      assert.equal(seconds, free === now ? null : (free - now) / 1000)
    }),
    500,
  )
})

test('in months the seconds left are those after which the calendar has let enough completions go', (t) => {
  const count = fc.integer({ min: 1, max: 3 })
  const amount = fc.integer({ min: 1, max: 3 })
  holds(
    t,
    fc.property(
      zonedMoment(15 * MINUTE),
      count,
      amount,
      ago(100 * DAY),
      ({ zone, ms }, count, amount, minutesAgo) => {
        const completed = minutesAgo.map((minutes) => ms - Math.floor(minutes / 15) * 15 * MINUTE)
        const leaves = completed.map((completedMs) => {
          const { at: sameDay, lastDay } = sameDayLater(completedMs, amount, zone)
          const over = (later: number) => reading(later, zone).slice(0, 10) > lastDay
          return sameDay ?? firstWhen(whenReads(`${lastDay} 12:00`, zone), 15 * MINUTE, over)
        })
        const free = firstWhen(ms, 15 * MINUTE, (at) => leaves.filter((leaf) => leaf > at).length < count)
        const dates = completed.map((completedMs) => new Date(completedMs))
        const seconds = cooldownSecondsLeft(limit(count, amount, 'month'), dates, new Date(ms), zone)
        assert.equal(seconds, free === ms ? null : (free - ms) / 1000)
      },
    ),
    300,
  )
})

test('who waits the seconds told is free then, not a second sooner, and stays free', (t) => {
  const amount = fc.integer({ min: 1, max: 14 })
  const later = fc.array(fc.integer({ min: 0, max: 70 * DAY }), { minLength: 20, maxLength: 20 })
  holds(
    t,
    fc.property(
      zonedMoment(1),
      amount,
      anyUnit,
      fc.integer({ min: 0, max: 40 * DAY }),
      later,
      ({ zone, ms }, amount, unit, agoMs, later) => {
        const completed = [new Date(ms - agoMs)]
        const leftAt = (at: number) =>
          cooldownSecondsLeft(limit(1, amount, unit), completed, new Date(at), zone)
        const seconds = leftAt(ms) ?? 0
        const free = ms + seconds * 1000
        if (seconds > 0) assert.equal(leftAt(free - 1000), 1)
        for (const wait of later) assert.equal(leftAt(free + wait), null)
      },
    ),
    150,
  )
})

test('a customer who redeems whenever allowed never has more than count in any window', (t) => {
  const sizes = { minute: MINUTE, hour: HOUR, day: DAY }
  const gaps = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 40, maxLength: 40 })
  holds(
    t,
    fc.property(
      fixedUnit,
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 3 }),
      gaps,
      (unit, count, amount, gaps) => {
        const completed: Date[] = []
        let now = Date.UTC(2026, 5, 1)
        for (const gap of gaps) {
          now += (gap * sizes[unit]) / 20
          if (cooldownSecondsLeft(limit(count, amount, unit), completed, new Date(now), 'UTC') === null)
            completed.push(new Date(now))
        }
        const inWindow = completed.map((last) => {
          const sinceMs = last.getTime() - amount * sizes[unit]
          return completed.filter((other) => other.getTime() > sinceMs && other <= last).length
        })
        assert.equal(Math.max(count, ...inWindow), count)
        assert.notEqual(completed.length, 0)
      },
    ),
    200,
  )
})

test('completions that windowStart leaves out make no difference', (t) => {
  const amount = fc.integer({ min: 1, max: 3 })
  holds(
    t,
    fc.property(
      zonedMoment(15 * MINUTE),
      amount,
      anyUnit,
      ago(100 * DAY),
      ({ zone, ms }, amount, unit, minutesAgo) => {
        const cooldown = limit(1, amount, unit)
        const now = new Date(ms)
        const start = windowStart(cooldown, now, zone)!
        const dates = minutesAgo.map((minutes) => new Date(ms - minutes * MINUTE))
        // Those at the very edge are the ones that could be missed.
        for (const shift of [-DAY, -HOUR, -1, 0, 1, HOUR, DAY]) dates.push(new Date(start.getTime() + shift))
        for (const date of dates) {
          if (date <= start) assert.equal(cooldownSecondsLeft(cooldown, [date], now, zone), null)
        }
        // And it leaves out all that is older, so that the query stays small.
        assert.ok(ms - start.getTime() <= amount * 31 * DAY + 2 * DAY, 'the window begins too early')
      },
    ),
    500,
  )
})
