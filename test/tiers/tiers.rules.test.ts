import test from 'ava'
import fc from 'fast-check'
import {
  changeTierRules,
  DEFAULT_TIER_RULES,
  type Level,
  passed,
  requireAscending,
  type TierRules,
  tierAfterCheck,
  tierFor,
} from '../../src/tiers/tiers.rules.js'

/** Tiers in any order, whose thresholds never fall with the rank. */
const levels: fc.Arbitrary<Level[]> = fc
  .uniqueArray(fc.nat(12), { maxLength: 7 })
  .chain((ranks) =>
    fc.tuple(fc.constant(ranks), fc.array(fc.nat(60), { minLength: ranks.length, maxLength: ranks.length })),
  )
  .map(([ranks, thresholds]) => {
    const sorted = [...thresholds].sort((a, b) => a - b)
    const places = [...ranks].sort((a, b) => a - b)
    return ranks.map((rank) => ({ id: `tier ${rank}`, rank, minPoints: sorted[places.indexOf(rank)]! }))
  })

const byRank = (tiers: readonly Level[]) => [...tiers].sort((a, b) => a.rank - b.rank)

/** Climbs as a person would: one tier after the other, as long as the next asks for no more than there is. */
function climb(progress: number, tiers: readonly Level[]): Level | undefined {
  let reached: Level | undefined
  for (const tier of byRank(tiers)) {
    if (tier.minPoints > progress) break
    reached = tier
  }
  return reached
}

test('a customer belongs in the tier that climbing one by one leads to', (t) => {
  fc.assert(
    fc.property(levels, fc.nat(70), (tiers, progress) => tierFor(progress, tiers) === climb(progress, tiers)),
    { numRuns: 3000 },
  )
  t.pass()
})

test('the tiers passed on the way up are those climbed, each once and in order', (t) => {
  fc.assert(
    fc.property(levels, fc.nat(70), fc.nat(70), (tiers, one, other) => {
      const [from, to] = [climb(Math.min(one, other), tiers), climb(Math.max(one, other), tiers)]
      const ladder = byRank(tiers)
      const way = ladder.slice(from ? ladder.indexOf(from) + 1 : 0, to ? ladder.indexOf(to) + 1 : 0)
      t.deepEqual(passed(from?.rank ?? -1, to?.rank ?? -1, tiers), way)
    }),
    { numRuns: 1000 },
  )
})

const [bronze, silver, gold] = [
  { id: 'bronze', rank: 1, minPoints: 10 },
  { id: 'silver', rank: 2, minPoints: 100 },
  { id: 'gold', rank: 3, minPoints: 1000 },
]
const ladder = [silver, gold, bronze] as Level[]

for (const [policy, current, progress, cameDown, left] of [
  ['none', gold, 0, false, gold],
  ['requalify', gold, 1000, false, gold],
  ['requalify', gold, 999, false, silver],
  ['requalify', gold, 10, true, bronze],
  ['requalify', gold, 9, false, undefined],
  ['requalify', bronze, 5000, false, bronze],
  ['one_down', gold, 1000, false, gold],
  ['one_down', gold, 999, false, silver],
  ['one_down', gold, 0, false, silver],
  ['one_down', gold, 0, true, gold],
  ['one_down', silver, 0, false, bronze],
  ['one_down', bronze, 9, false, undefined],
  ['one_down', bronze, 9, true, bronze],
  ['one_down', bronze, 5000, false, bronze],
] as const) {
  const before = cameDown ? ', having come down in the period,' : ''
  test(`policy ${policy} leaves ${current!.id} with ${progress}${before} in ${left?.id ?? 'no tier'}`, (t) => {
    t.is(tierAfterCheck({ current: current!, progress, cameDown }, policy, ladder), left)
  })
}

test('no policy ever leads up, and what progress reaches is never lost', (t) => {
  fc.assert(
    fc.property(
      levels.filter((tiers) => tiers.length > 0),
      fc.nat(70),
      fc.nat(6),
      fc.boolean(),
      fc.constantFrom('none' as const, 'one_down' as const, 'requalify' as const),
      (tiers, progress, which, cameDown, policy) => {
        const current = tiers[which % tiers.length]!
        const left = tierAfterCheck({ current, progress, cameDown }, policy, tiers)?.rank ?? -1
        return left <= current.rank && left >= Math.min(current.rank, climb(progress, tiers)?.rank ?? -1)
      },
    ),
    { numRuns: 2000 },
  )
  t.pass()
})

const rolling: TierRules = {
  ...DEFAULT_TIER_RULES,
  period: 'rolling',
  periodMonths: 12,
  downgradePolicy: 'requalify',
}

for (const [what, before, change, message] of [
  [
    'rolling without months',
    DEFAULT_TIER_RULES,
    { period: 'rolling' },
    'periodMonths: required when period is rolling',
  ],
  ['months taken away', rolling, { periodMonths: null }, 'periodMonths: required when period is rolling'],
  [
    'months of a lifetime',
    DEFAULT_TIER_RULES,
    { periodMonths: 3 },
    'periodMonths: only allowed when period is rolling',
  ],
  [
    'a policy of a lifetime',
    DEFAULT_TIER_RULES,
    { downgradePolicy: 'one_down' },
    'downgradePolicy: must be none when period is lifetime',
  ],
  [
    'a balance over a period',
    DEFAULT_TIER_RULES,
    { metric: 'points_balance', period: 'rolling', periodMonths: 3 },
    'period: must be lifetime when metric is points_balance; periodMonths: only allowed when period is rolling',
  ],
] as const) {
  test(`${what} is refused by name`, (t) => {
    t.is(t.throws(() => changeTierRules(before, change as Partial<TierRules>))!.message, message)
  })
}

test('a mode that makes others meaningless clears them, and null passes where a field must be absent', (t) => {
  const cleared = { ...rolling, period: 'lifetime', periodMonths: null, downgradePolicy: 'none' }
  t.deepEqual(changeTierRules(rolling, { period: 'lifetime', periodMonths: null }), cleared as TierRules)
  t.deepEqual(changeTierRules(rolling, { metric: 'points_balance' }), {
    ...cleared,
    metric: 'points_balance',
  } as TierRules)
})

test('a tier that asks for less than a lower one or more than a higher one is refused; equal ones are not', (t) => {
  const ask = (rank: number, minPoints: number) => () =>
    requireAscending({ id: 'new', rank, minPoints }, ladder, 'minPoints')
  t.is(t.throws(ask(4, 999))!.message, 'minPoints: a lower tier must not ask for more')
  t.is(t.throws(ask(0, 11))!.message, 'minPoints: a higher tier must not ask for less')
  t.notThrows(ask(4, 1000))
  t.notThrows(ask(0, 10))
})
