import { type Context, transaction } from '../context.js'
import type { CustomerAddress } from '../customers/address.js'
import { statement } from '../database/sql.js'
import { AppError, invalid } from '../errors.js'
import { type CustomerAccount, readAccount } from '../ledger/customer.js'
import { type LedgerRow, post, settleExpiry } from '../ledger/ledger.js'
import { addTime } from '../time.js'
import { checkClaim, lockClaim } from './checks.js'
import { type Taken, takeNow, takingOf } from './immediate.js'
import { newRedemption } from './new-redemption.js'
import { resumeExternally, takeExternally } from './provisioning.js'
import { findByCode, insertRedemption, lockByCodeOf, type RedemptionRow } from './redemption-row.js'
import { requireCompletable } from './redemptions.rules.js'
import { countOnReward } from './reward-count.js'
import { readRewardFacts } from './reward-facts.js'
import { type ShippingAddress, sealAddress } from './shipping-address.js'

export interface RedemptionRequest extends CustomerAddress {
  rewardId: string
  shippingAddress?: ShippingAddress | null | undefined
}

/** What creating a redemption gives: with the row that paid for it where that happened at once. */
export interface CreatedRedemption {
  redemption: RedemptionRow
  transaction: LedgerRow | null
}

/**
 * Redeems a reward for a customer, each delivery mode in its way (spec §1): `in_store` gives a code to show at the
 * counter, `shipping` and `digital` take the points at once. Throws CUSTOMER_ADDRESS, CUSTOMER_NOT_FOUND,
 * REWARD_NOT_FOUND, InvalidInput naming `shippingAddress`, the first refusal of `checkClaim`, or
 * DIGITAL_PROVISION_FAILED.
 */
export async function createRedemption(ctx: Context, request: RedemptionRequest): Promise<CreatedRedemption> {
  if (ctx.resumption?.resourceId) return resumeExternally(ctx, ctx.resumption.resourceId)
  const account = await readAccount(ctx, request)
  const reward = await readRewardFacts(ctx, request.rewardId, account.tierId)
  if (reward.deleted) throw new AppError('REWARD_NOT_FOUND')
  const { shippingAddress } = request
  if (reward.deliveryMode === 'shipping') {
    if (!shippingAddress) throw invalid('shippingAddress', 'required for a reward that is shipped')
    return takeNow(ctx, reward.id, account.id, {
      fulfilmentStatus: 'unfulfilled',
      shippingAddress: sealAddress(ctx, shippingAddress),
    })
  }
  if (shippingAddress) throw invalid('shippingAddress', 'only for a reward that is shipped')
  if (reward.deliveryMode === 'in_store') return giveCode(ctx, reward.id, account.id)
  if (reward.digitalAssetSource === 'external') return takeExternally(ctx, reward.id, account.id)
  return takeNow(ctx, reward.id, account.id, {})
}

/** Name, cost, type and cashback are fixed now; points are taken and eligibility is checked anew on completion. */
function giveCode(ctx: Context, rewardId: string, customerId: string): Promise<CreatedRedemption> {
  return transaction(ctx, async (tx) => {
    const { account, reward } = await lockClaim(tx, rewardId, customerId)
    const expiresAt = addTime(ctx.now, account.redemptionTtlHours, 'hour', account.timezone)
    const redemption = await insertRedemption(tx, newRedemption(tx, reward, account, { expiresAt }))
    return { redemption, transaction: null }
  })
}

export interface Validation {
  redemption: RedemptionRow
  /** The reward's conditions as they are now. */
  conditions: string | null
  account: CustomerAccount
}

/** Everything that completing checks, without any effect; throws what completing would. */
export async function validateRedemption(ctx: Context, { code }: { code: string }): Promise<Validation> {
  const { redemption, account } = await findByCode(ctx, code)
  requireCompletable(redemption, ctx.now)
  const reward = await readRewardFacts(ctx, redemption.rewardId, account.tierId)
  const { pointsCost, createdAt } = redemption
  await checkClaim(ctx, { reward, account, pointsCost, createdAt })
  return { redemption, conditions: reward.conditions, account }
}

const markCompleted = statement<never>(
  'complete_redemption',
  `UPDATE redemptions SET status = 'completed', completed_at = $3 WHERE business_id = $1 AND id = $2`,
)

/**
 * Completes a code at the counter (spec §4, note 1): takes the points, counts the redemption, writes the `redeem`
 * row, all or nothing. Throws REDEMPTION_NOT_FOUND, REDEMPTION_NOT_IN_STORE, REDEMPTION_NOT_PENDING,
 * REDEMPTION_EXPIRED, then the refusals of `checkClaim`, in this order.
 */
export function completeRedemption(ctx: Context, { code }: { code: string }): Promise<Taken> {
  return transaction(ctx, async (tx) => {
    const { redemption, account } = await lockByCodeOf(tx, code)
    requireCompletable(redemption, ctx.now)
    const reward = await readRewardFacts(tx, redemption.rewardId, account.tierId)
    const { pointsCost, createdAt } = redemption
    await checkClaim(tx, { reward, account, pointsCost, createdAt })
    await settleExpiry(tx, account)
    const row = await post(tx, account, takingOf(redemption))
    await tx.sql.run(markCompleted, [ctx.business.id, redemption.id, ctx.now])
    await countOnReward(tx, { rewardId: reward.id, reserved: 0, poolValues: 0 })
    return { redemption: { ...redemption, status: 'completed', completedAt: ctx.now }, transaction: row }
  })
}
