import test from 'ava'
import fc from 'fast-check'
import { averageOf, distributionOf, STARS, totalOf } from '../../src/reviews/reviews.rules.js'

const counts = fc.uniqueArray(
  fc.record({ rating: fc.constantFrom(...STARS), count: fc.integer({ min: 0, max: 1_000_000_000 }) }),
  { selector: ({ rating }) => rating },
)

test('an average is the exact mean rounded to two decimals, whatever is counted and in whatever order', (t) => {
  fc.assert(
    fc.property(counts, (given) => {
      const distribution = distributionOf(given)
      const total = given.reduce((sum, { count }) => sum + BigInt(count), 0n)
      const sum = given.reduce((stars, { rating, count }) => stars + BigInt(rating * count), 0n)
      // Half a hundredth up, in whole numbers.
      const exact = total === 0n ? null : Number((sum * 200n + total) / (total * 2n)) / 100
      return averageOf(distribution) === exact && BigInt(totalOf(distribution)) === total
    }),
    { numRuns: 5000 },
  )
  t.pass()
})

test('a distribution has all five numbers of stars, 0 where none was counted', (t) => {
  fc.assert(
    fc.property(counts, (given) => {
      const distribution = distributionOf(given)
      const expected = STARS.map((stars) => given.find(({ rating }) => rating === stars)?.count ?? 0)
      return JSON.stringify(Object.values(distribution)) === JSON.stringify(expected)
    }),
  )
  t.pass()
})
