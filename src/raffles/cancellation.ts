import { type Context, transaction } from '../context.js'
import type { Raffle } from '../database/generated/prisma/client.js'
import { statement } from '../database/sql.js'
import { AppError } from '../errors.js'
import type { selection } from '../graphql/fields.js'
import { lockRaffle } from './raffle-row.js'
import { readRaffle } from './raffles.js'
import { statusOf } from './raffles.rules.js'
import { refundEntrants } from './refunds.js'

type Selection = ReturnType<typeof selection>

const markCancelled = statement<never>(
  'cancel_raffle',
  'UPDATE raffles SET cancelled_at = $3, updated_at = $3 WHERE business_id = $1 AND id = $2',
)

/** What is refunded before the answer (some seconds at most); the sweep goes on from there. */
const BATCHES_AT_ONCE = 20

/**
 * Cancels a raffle that is not completed, drawn or not; every entry is refunded (spec §3). The raffle is cancelled in
 * one step, the refunds follow: a hundred thousand people must not be locked at once, and customers are locked before
 * raffles. Throws RAFFLE_NOT_FOUND, or RAFFLE_NOT_CANCELLABLE with the status.
 */
export function cancelRaffle(ctx: Context, { id }: { id: string }, selected: Selection): Promise<Raffle> {
  return transaction(ctx, async (tx) => {
    const status = statusOf(await lockRaffle(tx, id), ctx.now)
    if (status === 'completed' || status === 'cancelled') throw new AppError('RAFFLE_NOT_CANCELLABLE', status)
    await tx.sql.run(markCancelled, [ctx.business.id, id, ctx.now])
    // What fails here, the sweep does again: the raffle is cancelled all the same.
    tx.afterCommit(() => refundEntrants(tx, id, BATCHES_AT_ONCE).then(undefined, () => {}) as Promise<void>)
    return readRaffle(tx, { id }, selected)
  })
}
