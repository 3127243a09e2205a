import type { Context } from '../context.js'
import { statement } from '../database/sql.js'
import { PURCHASES } from '../ledger/ledger.js'
import { wholeUnits } from '../points/earning.rules.js'
import { subtractTime } from '../time.js'
import type { Level, TierRules } from './tiers.rules.js'

/** The tiers of a business that moves its customers, as statements give them (`tierSystemColumn`). */
export interface TierSystem extends Omit<TierRules, 'enabled'> {
  tiers: readonly (Level & { reachBonusPoints: number })[]
}

/** The tier system of the business `$1`; null where it is switched off. */
export const tierSystemColumn = `
  (SELECT json_build_object('metric', s.metric, 'period', s.period, 'periodMonths', s.period_months,
                            'downgradePolicy', s.downgrade_policy, 'tiers', coalesce((
             SELECT json_agg(json_build_object('id', t.id, 'rank', t.rank, 'minPoints', t.min_points,
                                               'reachBonusPoints', t.tier_reach_bonus_points))
               FROM tiers t WHERE t.business_id = $1 AND t.deleted_at IS NULL), '[]'))
     FROM tier_settings s WHERE s.business_id = $1 AND s.enabled) AS "tierSystem"`

/** What a metric may count of a customer. */
export interface Counted {
  id: string
  balance: number
  earnedPoints: number
  /** Minor units of `currency`. */
  spendMinor: number
}

interface Zoned {
  currency: string
  timezone: string
}

/** An earning counts by when it happened, which is never after it was booked; one that was taken back does not. */
const windowSums = statement<{ id: string; points: number; spendMinor: number }>(
  'tier_progress_in_window',
  `SELECT c.id, s.points, s."spendMinor"
     FROM unnest($2::uuid[]) AS c (id) CROSS JOIN LATERAL (
       SELECT coalesce(sum(t.points) FILTER (WHERE t.source::text = ANY ($4)), 0)::bigint AS points,
              coalesce(sum(t.amount_minor), 0)::bigint AS "spendMinor"
         FROM transactions t
        WHERE t.business_id = $1 AND t.customer_id = c.id AND t.created_at > $3 AND t.occurred_at > $3
          AND t.type = 'earn' AND t.status = 'completed'
          AND NOT EXISTS (SELECT FROM transactions r WHERE r.business_id = $1 AND r.reverses_id = t.id)) s`,
)

/** When the rolling period began that ends now; an earning of that moment is out of it. */
export const windowStart = (
  ctx: Context,
  { periodMonths }: { periodMonths: number | null },
  timezone: string,
) => subtractTime(ctx.now, periodMonths!, 'month', timezone)

/** How far each customer has come by the metric, in its units: a look at the transactions only where the period rolls. */
export async function progressOf(
  ctx: Context,
  customers: readonly Counted[],
  system: TierSystem,
  { currency, timezone }: Zoned,
): Promise<Map<string, number>> {
  const { metric, period } = system
  const units = ({ points, spendMinor }: { points: number; spendMinor: number }) =>
    metric === 'spend' ? wholeUnits(spendMinor, currency) : points
  if (period === 'lifetime')
    return new Map(
      customers.map(({ id, balance, earnedPoints, spendMinor }) => [
        id,
        metric === 'points_balance' ? balance : units({ points: earnedPoints, spendMinor }),
      ]),
    )
  const ids = customers.map(({ id }) => id)
  const since = windowStart(ctx, system, timezone)
  const sums = await ctx.sql.rows(windowSums, [ctx.business.id, ids, since, [...PURCHASES]])
  return new Map(sums.map((row) => [row.id, units(row)]))
}
