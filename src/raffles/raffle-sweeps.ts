import { type Context, type Services, unattendedContext } from '../context.js'
import { statement } from '../database/sql.js'
import type { Sweep } from '../jobs/sweeps.js'
import { drawIfDue } from './draw.js'
import { refundEntrants } from './refunds.js'

interface Due {
  id: string
  businessId: string
  timezone: string
}

const BATCH = 100

/** Settles what is due, each on its own, so that one that fails keeps no other waiting. */
const sweepOver =
  (
    findDue: (deps: Services) => Promise<Due[]>,
    settle: (ctx: Context, id: string) => Promise<boolean>,
  ): Sweep =>
  async (deps) => {
    let settled = 0
    for (;;) {
      const found = await findDue(deps)
      const failures: unknown[] = []
      for (const { id, businessId, timezone } of found) {
        const ctx = unattendedContext(deps, { id: businessId, timezone }, { kind: 'job' })
        await settle(ctx, id).then(
          (done) => {
            if (done) settled++
          },
          (error: unknown) => failures.push(error),
        )
      }
      if (failures.length > 0) throw failures[0]
      if (found.length < BATCH) return settled
    }
  }

const dueToDraw = statement<Due>(
  'raffles_to_draw',
  `SELECT r.id, r.business_id AS "businessId", b.timezone FROM raffles r JOIN businesses b ON b.id = r.business_id
    WHERE r.drawn_at IS NULL AND r.cancelled_at IS NULL AND r.deleted_at IS NULL AND r.ends_at <= $1
    ORDER BY r.ends_at LIMIT ${BATCH}`,
)

/** Draws raffles that were left running to their end (spec §3). */
export const drawDueRaffles: Sweep = sweepOver(
  ({ database, clock }) => database.sql.rows(dueToDraw, [clock.now()]),
  drawIfDue,
)

const dueToRefund = statement<Due>(
  'raffles_to_refund',
  `SELECT r.id, r.business_id AS "businessId", b.timezone FROM raffles r JOIN businesses b ON b.id = r.business_id
    WHERE r.cancelled_at IS NOT NULL AND r.refunded_at IS NULL ORDER BY r.cancelled_at LIMIT ${BATCH}`,
)

/** Goes on with the refunds of cancelled raffles that were too many for one request, or cut off. */
export const refundCancelledRaffles: Sweep = sweepOver(
  ({ database }) => database.sql.rows(dueToRefund, []),
  (ctx, id) => refundEntrants(ctx, id, Number.POSITIVE_INFINITY),
)
