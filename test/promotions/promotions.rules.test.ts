import test from 'ava'
import fc from 'fast-check'
import { bestMultiplier, type Multiplier, statusOn } from '../../src/promotions/promotions.rules.js'

const day = fc.integer({ min: 0, max: 59 }).map((offset) => {
  const date = new Date(Date.UTC(2028, 1, 1 + offset))
  return date.toISOString().slice(0, 10)
})

test('a promotion runs from its first to its last day, both included, and an open side has no bound', (t) => {
  const days = { startDate: '2026-03-10', endDate: '2026-03-12' }
  const seen = ['2026-03-09', '2026-03-10', '2026-03-11', '2026-03-12', '2026-03-13'].map((today) =>
    statusOn(days, today),
  )
  t.deepEqual(seen, ['scheduled', 'active', 'active', 'active', 'ended'])
  t.is(statusOn({ startDate: null, endDate: '2026-03-12' }, '0001-01-01'), 'active')
  t.is(statusOn({ startDate: '2026-03-10', endDate: null }, '9999-12-31'), 'active')
})

const promotions = fc.uniqueArray(
  fc.record({
    id: fc.uuid(),
    pointsMultiplier: fc.integer({ min: 110, max: 1000 }).map((hundredths) => (hundredths / 100).toFixed(2)),
    startDate: fc.option(day),
    endDate: fc.option(day),
  }),
  { selector: ({ id }) => id, maxLength: 8 },
)

test('the best promotion of a day is one that runs on it, and no other that does is better or, being as good, older', (t) => {
  fc.assert(
    fc.property(promotions, day, (all: Multiplier[], today) => {
      const best = bestMultiplier(all, today)
      const running = all.filter(
        ({ startDate, endDate }) => (startDate ?? today) <= today && today <= (endDate ?? today),
      )
      if (!best) return running.length === 0
      return (
        running.includes(best) &&
        running.every(({ pointsMultiplier, id }) => {
          const difference = Number(best.pointsMultiplier) - Number(pointsMultiplier)
          return difference > 0 || (difference === 0 && best.id <= id)
        })
      )
    }),
    { numRuns: 2000 },
  )
  t.pass()
})
