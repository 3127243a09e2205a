import { type Context, type TransactionContext, transaction } from '../context.js'
import { statement } from '../database/sql.js'
import { AppError } from '../errors.js'
import { capture, release } from '../ledger/holds.js'
import { type LedgerRow, ledgerColumns, writeOff } from '../ledger/ledger.js'
import { queueAssetMail } from '../mail/queue.js'
import { sealedAsset } from './immediate.js'
import type { CreatedRedemption } from './new-redemption.js'
import { type FoundRedemption, lockByIdOf, type RedemptionRow } from './redemption-row.js'
import { isOnItsWay } from './redemptions.rules.js'
import { countOnReward, releaseOnReward } from './reward-count.js'
import { type RewardFacts, readRewardFacts } from './reward-facts.js'

/** How the redemption of a value that a business mints comes to its end (see provisioning.ts). */

/** The value that the business answered with. */
export interface SecuredAsset {
  value: string
  expiresAt: Date | null
}

/**
 * Ends a redemption whose value is on its way: completed with its value, cancelled without one. The first end stands,
 * whoever brings another later. Throws DIGITAL_PROVISION_FAILED once it is committed that there is no value.
 */
export async function settle(
  ctx: Context,
  id: string,
  asset: SecuredAsset | null,
): Promise<CreatedRedemption> {
  const settled = await transaction(ctx, async (tx) => {
    const found = await lockByIdOf(tx, id)
    const { redemption, account } = found
    if (!isOnItsWay(redemption)) return redemption
    const reward = await readRewardFacts(tx, redemption.rewardId, null)
    // What was pending of a person who is erased or a reward that is deleted is cancelled.
    if (!asset || account.erased || reward.deleted) return cancel(tx, found)
    return complete(tx, found, reward, asset)
  })
  return outcomeOf(ctx, settled)
}

const markCompleted = statement<never>(
  'complete_external_redemption',
  `UPDATE redemptions
      SET status = 'completed', completed_at = $3, asset_value = $4, asset_expires_at = $5,
          provision_lease_until = NULL
    WHERE business_id = $1 AND id = $2`,
)

/** The value is secured: the points go, the slot becomes a redemption. */
async function complete(
  tx: TransactionContext,
  { redemption, account }: FoundRedemption,
  reward: RewardFacts,
  { value, expiresAt }: SecuredAsset,
): Promise<RedemptionRow> {
  const { id } = redemption
  await capture(tx, account, redemption)
  const asset = sealedAsset(tx, redemption.assetType, value, expiresAt)
  await tx.sql.run(markCompleted, [tx.business.id, id, tx.now, asset.assetValue, asset.assetExpiresAt])
  if (reward.digitalEmailDelivery) await queueAssetMail(tx, { redemptionId: id, customerId: account.id })
  await countOnReward(tx, { rewardId: reward.id, reserved: 1, poolValues: 0 })
  return { ...redemption, ...asset, status: 'completed', completedAt: tx.now, provisionLeaseUntil: null }
}

const markCancelled = statement<never>(
  'cancel_external_redemption',
  `UPDATE redemptions SET status = 'cancelled', provision_lease_until = NULL WHERE business_id = $1 AND id = $2`,
)

/** There is no value: the customer is left untouched (spec §6). */
async function cancel(
  tx: TransactionContext,
  { redemption, account }: FoundRedemption,
): Promise<RedemptionRow> {
  await release(tx, account, redemption)
  if (account.erased) await writeOff(tx, account)
  await tx.sql.run(markCancelled, [tx.business.id, redemption.id])
  await releaseOnReward(tx, redemption.rewardId)
  return { ...redemption, status: 'cancelled', provisionLeaseUntil: null }
}

const findPayment = statement<LedgerRow>(
  'find_payment_of_redemption',
  `SELECT ${ledgerColumns} FROM transactions
    WHERE business_id = $1 AND redemption_id = $2 AND type = 'redeem' AND source = 'reward' AND status = 'completed'`,
)

/** What creating a redemption that is settled answers; throws DIGITAL_PROVISION_FAILED where there was no value. */
export async function outcomeOf(ctx: Context, redemption: RedemptionRow): Promise<CreatedRedemption> {
  const { id, deliveryMode, status } = redemption
  if (deliveryMode === 'digital' && status === 'cancelled') throw new AppError('DIGITAL_PROVISION_FAILED')
  const payment = await ctx.sql.row(findPayment, [ctx.business.id, id])
  return { redemption, transaction: payment ?? null }
}
