import type { TransactionContext } from '../context.js'
import { statement } from '../database/sql.js'
import type { CustomerAccount } from '../ledger/customer.js'
import { refundEntrant } from './refunds.js'

const findEntrants = statement<{ id: string; raffleId: string }>(
  'find_withdrawable_raffle_entrants',
  `SELECT e.id, e.raffle_id AS "raffleId"
     FROM raffle_entrants e JOIN raffles r ON r.business_id = e.business_id AND r.id = e.raffle_id
    WHERE e.business_id = $1 AND e.customer_id = $2 AND e.withdrawn_at IS NULL
      AND r.drawn_at IS NULL AND r.cancelled_at IS NULL
    ORDER BY r.id`,
)
const withdraw = statement<{ id: string }>(
  'withdraw_raffle_entrant',
  `WITH raffle AS (
     UPDATE raffles r SET total_entries = r.total_entries - e.entries, unique_entrants = r.unique_entrants - 1
       FROM raffle_entrants e
      WHERE r.business_id = $1 AND r.id = $2 AND r.drawn_at IS NULL AND r.cancelled_at IS NULL
        AND e.business_id = $1 AND e.id = $3
     RETURNING r.id
   )
   UPDATE raffle_entrants SET withdrawn_at = $4, refunded_at = $4
    WHERE business_id = $1 AND id = $3 AND EXISTS (SELECT FROM raffle) RETURNING id`,
)

/**
 * Takes a person who is erased out of all raffles that are not drawn, refunding the entries (docs: decisions,
 * Customers). The account is locked; a draw or a cancellation that comes in between has its way.
 */
export async function withdrawFromRaffles(tx: TransactionContext, account: CustomerAccount): Promise<void> {
  // In the order of the raffles: two erasures must not wait for each other.
  for (const { id, raffleId } of await tx.sql.rows(findEntrants, [tx.business.id, account.id])) {
    if (await tx.sql.row(withdraw, [tx.business.id, raffleId, id, tx.now]))
      await refundEntrant(tx, account, id)
  }
}
