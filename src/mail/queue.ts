import { v7 as uuidv7 } from 'uuid'
import type { TransactionContext } from '../context.js'
import { statement } from '../database/sql.js'

const insert = statement<never>(
  'queue_asset_mail',
  `INSERT INTO mails (business_id, id, redemption_id, customer_id, next_attempt_at, created_at)
   SELECT $1, $2, $3, $4, $5, $5 FROM customers
    WHERE business_id = $1 AND id = $4 AND email IS NOT NULL`,
)

/** Queues the e-mail that carries a redemption's code or link; a customer without an address gets none. */
export async function queueAssetMail(
  tx: TransactionContext,
  { redemptionId, customerId }: { redemptionId: string; customerId: string },
): Promise<void> {
  await tx.sql.run(insert, [tx.business.id, uuidv7(), redemptionId, customerId, tx.now])
}
