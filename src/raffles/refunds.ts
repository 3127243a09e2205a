import { type Context, enter, type TransactionContext } from '../context.js'
import { statement } from '../database/sql.js'
import { accountColumns, accountJoins, type CustomerAccount } from '../ledger/customer.js'
import { post, settleExpiry, writeOff } from '../ledger/ledger.js'

/**
 * Giving back what was paid for entries. Each row of the ledger that paid is taken back by one of its own, which names
 * it (`reversesId`): the database lets no row be taken back twice.
 */

const findPayments = statement<{ transactionId: string; points: number }>(
  'find_payments_of_raffle_entrant',
  `SELECT t.id AS "transactionId", t.points
     FROM raffle_entries n JOIN transactions t ON t.business_id = n.business_id AND t.id = n.transaction_id
    WHERE n.business_id = $1 AND n.entrant_id = $2 ORDER BY t.id`,
)
const markRefunded = statement<never>(
  'mark_raffle_entrant_refunded',
  'UPDATE raffle_entrants SET refunded_at = $3 WHERE business_id = $1 AND id = $2',
)

/** Gives a locked account back all that it paid for its entries; they must not have been refunded before. */
export async function refundEntrant(
  tx: TransactionContext,
  account: CustomerAccount,
  entrantId: string,
): Promise<void> {
  for (const { transactionId, points } of await tx.sql.rows(findPayments, [tx.business.id, entrantId]))
    await post(tx, account, { type: 'earn', source: 'refund', points, reversesId: transactionId })
  await tx.sql.run(markRefunded, [tx.business.id, entrantId, tx.now])
}

const BATCH = 100

// Both rows are locked, the customer first, so that whoever waited looks at the entrant again.
const lockUnrefunded = statement<CustomerAccount & { entrantId: string }>(
  'lock_unrefunded_raffle_entrants',
  `SELECT ${accountColumns}, e.id AS "entrantId"
     FROM raffle_entrants e JOIN customers c ON c.business_id = e.business_id AND c.id = e.customer_id ${accountJoins}
    WHERE e.business_id = $1 AND e.raffle_id = $2 AND e.refunded_at IS NULL
    ORDER BY e.customer_id LIMIT ${BATCH} FOR NO KEY UPDATE OF c, e`,
)
const markAllRefunded = statement<never>(
  'mark_raffle_refunded',
  `UPDATE raffles SET refunded_at = $3
    WHERE business_id = $1 AND id = $2 AND cancelled_at IS NOT NULL AND refunded_at IS NULL`,
)

/** Refunds some entrants of a cancelled raffle, in one transaction; true when there are none left. */
async function refundBatch(tx: TransactionContext, raffleId: string): Promise<boolean> {
  const unrefunded = await tx.sql.rows(lockUnrefunded, [tx.business.id, raffleId])
  for (const { entrantId, ...account } of unrefunded) {
    await settleExpiry(tx, account)
    await refundEntrant(tx, account, entrantId)
    // Nobody is there to spend it.
    if (account.erased) await writeOff(tx, account)
  }
  if (unrefunded.length === BATCH) return false
  await tx.sql.run(markAllRefunded, [tx.business.id, raffleId, tx.now])
  return true
}

/**
 * Refunds the entrants of a cancelled raffle, batch by batch, in transactions of its own: any number may work on one
 * raffle, and what one leaves another goes on with. Returns whether all are refunded.
 */
export async function refundEntrants(ctx: Context, raffleId: string, maxBatches: number): Promise<boolean> {
  for (let batch = 0; batch < maxBatches; batch++) {
    // Not `transaction`: after a commit the request's own one is over.
    if (await ctx.database.transaction((open) => refundBatch(enter(ctx, open), raffleId))) return true
  }
  return false
}
