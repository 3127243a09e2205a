import type { Context } from '../context.js'
import { statement } from '../database/sql.js'

/**
 * The circuit breaker of a reward's webhook (spec §6): five failures in a row stop all calls for 60 seconds; the first
 * call after that is a probe, and only its success lets others follow. It is a row, so all instances share it.
 */
const FAILURES_TO_OPEN = 5
const PAUSE_MS = 60_000

const admit = statement<{ one: number }>(
  'breaker_admit',
  `INSERT INTO webhook_breakers AS b (business_id, reward_id, failures) VALUES ($1, $2, 0)
   ON CONFLICT (business_id, reward_id) DO UPDATE
     SET open_until = CASE WHEN b.open_until IS NULL THEN NULL ELSE $4::timestamptz END
     WHERE b.open_until IS NULL OR b.open_until <= $3
   RETURNING 1 AS one`,
)
const recordSuccess = statement<never>(
  'breaker_success',
  'UPDATE webhook_breakers SET failures = 0, open_until = NULL WHERE business_id = $1 AND reward_id = $2',
)
const recordFailure = statement<never>(
  'breaker_failure',
  `UPDATE webhook_breakers
      SET failures = failures + 1,
          open_until = CASE WHEN failures + 1 >= ${FAILURES_TO_OPEN} THEN $3::timestamptz ELSE open_until END
    WHERE business_id = $1 AND reward_id = $2`,
)

const pauseFrom = (moment: Date): Date => new Date(moment.getTime() + PAUSE_MS)

/** Whether a call may be made now. Where the pause is over, the caller who is told so is the one probe. */
export const breakerAdmits = async (ctx: Context, rewardId: string): Promise<boolean> =>
  (await ctx.sql.row(admit, [ctx.business.id, rewardId, ctx.now, pauseFrom(ctx.now)])) !== undefined

/** Counts how a call ended, at the moment it did. */
export async function recordCall(ctx: Context, rewardId: string, ok: boolean, endedAt: Date): Promise<void> {
  if (ok) await ctx.sql.run(recordSuccess, [ctx.business.id, rewardId])
  else await ctx.sql.run(recordFailure, [ctx.business.id, rewardId, pauseFrom(endedAt)])
}
