import type { TransactionContext } from '../context.js'
import { statement } from '../database/sql.js'
import { AppError } from '../errors.js'
import { readRewardFacts } from './reward-facts.js'

/** What a completed redemption changes about its reward. */
export interface Count {
  rewardId: string
  /** 1 where a slot of the cap was reserved for it before (external). */
  reserved: 0 | 1
  /** 1 where it consumed a value of the pool. */
  poolValues: 0 | 1
}

const countRedemption = statement<{ one: number }>(
  'count_redemption',
  `UPDATE rewards
      SET redemptions_count = redemptions_count + 1,
          reserved_count = reserved_count - $3::int,
          pool_available = pool_available - $4::int,
          pool_consumed = pool_consumed + $4::int,
          deactivated_by_limit = deactivated_by_limit
            OR (redemptions_count + 1 >= max_redemptions AND NOT off_by_hand) IS TRUE,
          deactivated_by_pool = deactivated_by_pool
            OR ($4::int > 0 AND pool_available - $4::int <= 0 AND digital_asset_source = 'pool' AND NOT off_by_hand)
    WHERE business_id = $1 AND id = $2
      AND (max_redemptions IS NULL OR redemptions_count + reserved_count - $3::int < max_redemptions)
   RETURNING 1 AS one`,
)

/**
 * Counts a completed redemption on its reward and switches the reward off where that was the last. The last lock of a
 * redemption: this row is shared by all customers, so it stays locked for the shortest time. Throws
 * REDEMPTION_LIMIT_REACHED where others have reached the cap since it was read.
 */
export async function countOnReward(tx: TransactionContext, count: Count): Promise<void> {
  const { rewardId, reserved, poolValues } = count
  if (await tx.sql.row(countRedemption, [tx.business.id, rewardId, reserved, poolValues])) return
  throw await limitReached(tx, rewardId)
}

const reserveSlot = statement<{ one: number }>(
  'reserve_redemption_slot',
  `UPDATE rewards SET reserved_count = reserved_count + 1
    WHERE business_id = $1 AND id = $2
      AND (max_redemptions IS NULL OR redemptions_count + reserved_count < max_redemptions)
   RETURNING 1 AS one`,
)
const releaseSlot = statement<never>(
  'release_redemption_slot',
  'UPDATE rewards SET reserved_count = reserved_count - 1 WHERE business_id = $1 AND id = $2',
)

/** Keeps a slot of the cap for a redemption whose value is being fetched; throws REDEMPTION_LIMIT_REACHED. */
export async function reserveOnReward(tx: TransactionContext, rewardId: string): Promise<void> {
  if (await tx.sql.row(reserveSlot, [tx.business.id, rewardId])) return
  throw await limitReached(tx, rewardId)
}

export const releaseOnReward = async (tx: TransactionContext, rewardId: string): Promise<void> => {
  await tx.sql.run(releaseSlot, [tx.business.id, rewardId])
}

async function limitReached(tx: TransactionContext, rewardId: string): Promise<AppError> {
  const { maxRedemptions } = await readRewardFacts(tx, rewardId, null)
  return new AppError('REDEMPTION_LIMIT_REACHED', maxRedemptions ?? 0)
}
