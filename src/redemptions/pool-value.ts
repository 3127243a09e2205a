import type { TransactionContext } from '../context.js'
import { statement } from '../database/sql.js'
import { AppError } from '../errors.js'

interface PoolValue {
  id: string
  value: string
}

const lock = (name: string, wait: string) =>
  statement<PoolValue>(
    name,
    `SELECT id, value FROM pool_values WHERE business_id = $1 AND reward_id = $2 AND redemption_id IS NULL
      ORDER BY id LIMIT 1 FOR UPDATE ${wait}`,
  )
const lockFree = lock('lock_free_pool_value', 'SKIP LOCKED')
const lockAwaited = lock('lock_awaited_pool_value', '')

/**
 * Locks one value of the reward's pool, the oldest that nobody else is taking. Values that others hold come back when
 * those roll back, so an empty hand is only believed after waiting for them. Throws DIGITAL_POOL_EXHAUSTED.
 */
export async function lockPoolValue(tx: TransactionContext, rewardId: string): Promise<PoolValue> {
  const values = [tx.business.id, rewardId]
  const value = (await tx.sql.row(lockFree, values)) ?? (await tx.sql.row(lockAwaited, values))
  if (!value) throw new AppError('DIGITAL_POOL_EXHAUSTED')
  return value
}

const consume = statement<never>(
  'consume_pool_value',
  `UPDATE pool_values SET redemption_id = $3, consumed_at = $4
    WHERE business_id = $1 AND id = $2 AND redemption_id IS NULL`,
)

/** Gives a locked value to a redemption, once and for all. */
export const consumePoolValue = async (
  tx: TransactionContext,
  { id }: PoolValue,
  redemptionId: string,
): Promise<void> => {
  await tx.sql.run(consume, [tx.business.id, id, redemptionId, tx.now])
}
