import type { Context } from '../context.js'
import { statement } from '../database/sql.js'
import { type LocalDay, lastLocalDays, type PointFigures } from './overview.rules.js'

/**
 * What a dashboard shows of a business. Everything is read when it is asked for, from indexes that hold what is summed,
 * so that back-dated rows and a changed time zone count at once; nothing is kept that could be wrong.
 */

export interface Overview {
  days: readonly LocalDay[]
  timezone: string
  byDay(): Promise<readonly DayFigures[]>
  tiers(): Promise<readonly TierShare[]>
  outstanding(): Promise<number>
  topRewards(): Promise<readonly TopReward[]>
}

export interface DayFigures extends PointFigures {
  date: string
}

/** Of the customers without a tier the first three are null. */
export interface TierShare {
  tierId: string | null
  name: string | null
  rank: number | null
  members: number
  activeMembers: number
}

export interface TopReward {
  rewardId: string
  name: string
  redemptions: number
  points: number
}

export function overviewOf(ctx: Context, asked: { days: number; topRewards: number }): Overview {
  const { id, timezone } = ctx.business
  const days = lastLocalDays(ctx.now, asked.days, timezone)
  const since = days[0]!.start
  return {
    days,
    timezone,
    byDay: once(() =>
      ctx.sql.rows(figuresByDay, [
        id,
        days.map(({ date }) => date),
        days.map(({ start }) => start),
        days.map(({ until }) => until),
      ]),
    ),
    tiers: once(() => ctx.sql.rows(membersByTier, [id, since])),
    outstanding: async () => (await ctx.sql.row(outstandingPoints, [id]))!.points,
    topRewards: () => ctx.sql.rows(mostRedeemed, [id, since, days.at(-1)!.until, asked.topRewards]),
  }
}

/** Several fields are made of one answer. */
function once<T>(read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | undefined
  return () => {
    reading ??= read()
    return reading
  }
}

const points = (condition: string): string => `coalesce(sum(points) FILTER (WHERE ${condition}), 0)`
const figuresByDay = statement<DayFigures>(
  'overview_by_day',
  `SELECT d.date::text, f.*,
          (SELECT count(*) FROM visits v WHERE v.business_id = $1 AND v.date = d.date) AS visits
     FROM unnest($2::date[], $3::timestamptz[], $4::timestamptz[]) AS d (date, start, until)
    CROSS JOIN LATERAL (
      SELECT (${points(`type = 'earn' AND source <> 'refund'`)} - ${points(`source = 'reversal'`)})::bigint AS "pointsEarned",
             (${points(`type = 'redeem' AND source NOT IN ('reversal', 'expiry', 'erasure')`)}
               - ${points(`source = 'refund'`)})::bigint AS "pointsRedeemed",
             ${points(`source = 'expiry'`)}::bigint AS "pointsExpired",
             ${points(`source = 'erasure'`)}::bigint AS "pointsWrittenOff",
             count(*) FILTER (WHERE source = 'reward') AS redemptions
        FROM transactions
       WHERE business_id = $1 AND status = 'completed' AND occurred_at >= d.start AND occurred_at < d.until
    ) AS f
    ORDER BY d.date`,
)

/** One pass over the customers tells all that is said of them. */
const membersByTier = statement<TierShare>(
  'overview_members_by_tier',
  `SELECT coalesce(c.tier_id, t.id) AS "tierId", t.name, t.rank, coalesce(c.members, 0) AS members,
          coalesce(c."activeMembers", 0) AS "activeMembers"
     FROM (SELECT tier_id, count(*) AS members, count(*) FILTER (WHERE last_visit_at >= $2) AS "activeMembers"
             FROM customers WHERE business_id = $1 AND erased_at IS NULL GROUP BY tier_id) AS c
     FULL JOIN (SELECT id, name, rank FROM tiers WHERE business_id = $1) AS t ON t.id = c.tier_id
    ORDER BY t.rank NULLS FIRST`,
)

/** From the sums that are kept with the rows. Expired points count until the sweep has booked them, within a minute. */
const outstandingPoints = statement<{ points: number }>(
  'overview_outstanding',
  `SELECT coalesce(sum(CASE type WHEN 'earn' THEN points ELSE -points END), 0)::bigint AS points
     FROM transaction_counts WHERE business_id = $1 AND status = 'completed'`,
)

const mostRedeemed = statement<TopReward>(
  'overview_top_rewards',
  `SELECT t.reward_id AS "rewardId", r.name, t.redemptions, t.points
     FROM (SELECT reward_id, count(*) AS redemptions, sum(points)::bigint AS points FROM transactions
            WHERE business_id = $1 AND source = 'reward' AND status = 'completed'
              AND occurred_at >= $2 AND occurred_at < $3
            GROUP BY reward_id ORDER BY count(*) DESC, reward_id LIMIT $4) AS t
     JOIN rewards r ON r.business_id = $1 AND r.id = t.reward_id
    ORDER BY t.redemptions DESC, t.reward_id`,
)
