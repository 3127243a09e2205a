import type { DowngradePolicy, TierMetric, TierPeriod } from '../database/generated/prisma/client.js'
import { type FieldIssue, InvalidInput } from '../errors.js'

/** Which tier a customer belongs in (docs: decisions, Tiers). */

/** A tier as far as reaching it is concerned. */
export interface Level {
  readonly id: string
  /** Unique within the business; a higher rank is a better tier, and never has a lower `minPoints`. */
  readonly rank: number
  /** What progress must reach: points, or whole units of the currency. */
  readonly minPoints: number
}

/** The best tier that some progress reaches. */
export const tierFor = <L extends Level>(progress: number, tiers: readonly L[]): L | undefined =>
  tiers.reduce<L | undefined>(
    (best, tier) => (tier.minPoints <= progress && tier.rank > (best?.rank ?? -1) ? tier : best),
    undefined,
  )

/** The tiers that lie between two ranks, the upper one included, lowest first. */
export const passed = <L extends Level>(from: number, to: number, tiers: readonly L[]): L[] =>
  tiers.filter(({ rank }) => from < rank && rank <= to).sort((a, b) => a.rank - b.rank)

/** A customer's standing when the daily check comes by. */
export interface Standing {
  readonly current: Level
  readonly progress: number
  /** Whether the customer has already come down within the period. */
  readonly cameDown: boolean
}

/**
 * Where the daily check leaves a customer; undefined = in no tier. `requalify`: in the tier that the progress
 * reaches. `one_down`: one tier lower, once in a period. Never higher: that is what earning does.
 */
export function tierAfterCheck<L extends Level>(
  { current, progress, cameDown }: Standing,
  policy: DowngradePolicy,
  tiers: readonly L[],
): L | undefined {
  const own = tiers.find(({ id }) => id === current.id)
  const earned = tierFor(progress, tiers)
  if (policy === 'none' || (earned?.rank ?? -1) >= current.rank) return own
  if (policy === 'requalify') return earned
  return cameDown ? own : passed(-1, current.rank - 1, tiers).at(-1)
}

/** How customers come by their tiers. */
export interface TierRules {
  enabled: boolean
  metric: TierMetric
  period: TierPeriod
  /** Of a rolling period. */
  periodMonths: number | null
  downgradePolicy: DowngradePolicy
}

export const DEFAULT_TIER_RULES: TierRules = {
  enabled: false,
  metric: 'points_earned',
  period: 'lifetime',
  periodMonths: null,
  downgradePolicy: 'none',
}

/**
 * The rules after a change. A new mode clears what it makes meaningless: a metric without a past the rolling period, a
 * lifetime period its months and the policy. Throws InvalidInput that names every contradiction in what was sent.
 */
export function changeTierRules(before: TierRules, change: Partial<TierRules>): TierRules {
  const issues: FieldIssue[] = []
  const refuse = (path: string, message: string) => issues.push({ path, message })
  const after = { ...before, ...change }
  if (after.metric === 'points_balance' && after.period === 'rolling') {
    if (change.period === 'rolling') refuse('period', 'must be lifetime when metric is points_balance')
    after.period = 'lifetime'
  }
  if (after.period === 'rolling') {
    if (after.periodMonths === null) refuse('periodMonths', 'required when period is rolling')
  } else {
    if (change.periodMonths != null) refuse('periodMonths', 'only allowed when period is rolling')
    if (change.downgradePolicy !== undefined && change.downgradePolicy !== 'none')
      refuse('downgradePolicy', 'must be none when period is lifetime')
    after.periodMonths = null
    after.downgradePolicy = 'none'
  }
  if (issues.length > 0) throw new InvalidInput(issues)
  return after
}

/**
 * Refuses a tier that asks for less than a lower one or more than a higher one, under the name of the field that was
 * sent.
 */
export function requireAscending(tier: Level, others: readonly Level[], field: 'minPoints' | 'rank'): void {
  const message = others.some(({ rank, minPoints }) => rank < tier.rank && minPoints > tier.minPoints)
    ? 'a lower tier must not ask for more'
    : others.some(({ rank, minPoints }) => rank > tier.rank && minPoints < tier.minPoints)
      ? 'a higher tier must not ask for less'
      : undefined
  if (message !== undefined) throw new InvalidInput([{ path: field, message }])
}
