import type { TransactionContext } from '../context.js'
import type { CustomerAccount } from '../ledger/customer.js'
import { type Entry, type LedgerRow, post } from '../ledger/ledger.js'
import { queueAssetMail } from '../mail/queue.js'
import { newRedemption } from './new-redemption.js'
import { consumePoolValue, lockPoolValue } from './pool-value.js'
import { insertRedemption, type RedemptionRow } from './redemption-row.js'
import { countOnReward } from './reward-count.js'
import type { RewardFacts } from './reward-facts.js'
import { type ShippingAddress, sealAddress } from './shipping-address.js'

/** A completed redemption with the row that paid for it. */
export interface Taken {
  redemption: RedemptionRow
  transaction: LedgerRow
}

/**
 * Redeems at once: parcels, and digital values that the service has itself. The points are taken, the cap counted and
 * the value handed over in one transaction. Throws DIGITAL_POOL_EXHAUSTED or REDEMPTION_LIMIT_REACHED where others came
 * first.
 */
export async function takeNow(
  tx: TransactionContext,
  account: CustomerAccount,
  reward: RewardFacts,
  shippingAddress: ShippingAddress | null,
): Promise<Taken> {
  const value = await ownValueOf(tx, reward)
  const redemption = await insertRedemption(
    tx,
    newRedemption(tx, reward, account, {
      status: 'completed',
      completedAt: tx.now,
      ...(shippingAddress && {
        fulfilmentStatus: 'unfulfilled',
        shippingAddress: sealAddress(tx, shippingAddress),
      }),
      ...(value && sealedAsset(tx, reward.digitalAssetType, value.value)),
    }),
  )
  if (value?.consume) await value.consume(redemption.id)
  const row = await post(tx, account, takingOf(redemption))
  if (reward.digitalEmailDelivery)
    await queueAssetMail(tx, { redemptionId: redemption.id, customerId: account.id })
  await countOnReward(tx, { rewardId: reward.id, reserved: 0, poolValues: value?.consume ? 1 : 0 })
  return { redemption, transaction: row }
}

/** The entry that a completed redemption books. */
export const takingOf = (redemption: RedemptionRow): Entry => ({
  type: 'redeem',
  source: 'reward',
  points: redemption.pointsCost,
  rewardId: redemption.rewardId,
  redemptionId: redemption.id,
  redemptions: 1,
})

/** The columns of a digital value that was handed over. */
export const sealedAsset = (
  tx: TransactionContext,
  assetType: RedemptionRow['assetType'],
  value: string,
  expiresAt: Date | null = null,
): Pick<RedemptionRow, 'assetType' | 'assetValue' | 'assetExpiresAt'> => ({
  assetType,
  assetValue: tx.secrets.seal(value),
  assetExpiresAt: expiresAt,
})

/** The digital value that the service has itself; undefined where the reward is none. */
async function ownValueOf(
  tx: TransactionContext,
  reward: RewardFacts,
): Promise<{ value: string; consume?: (redemptionId: string) => Promise<void> } | undefined> {
  if (reward.deliveryMode !== 'digital') return undefined
  if (reward.digitalAssetSource === 'static') return { value: reward.digitalAssetValue! }
  const locked = await lockPoolValue(tx, reward.id)
  return { value: locked.value, consume: (redemptionId) => consumePoolValue(tx, locked, redemptionId) }
}
