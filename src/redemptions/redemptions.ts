import {
  CallsOut,
  type Context,
  deviceOf,
  InOtherHands,
  type TransactionContext,
  transaction,
} from '../context.js'
import type { CustomerAddress } from '../customers/address.js'
import { statement } from '../database/sql.js'
import { AppError, invalid } from '../errors.js'
import { type CustomerAccount, lockAccount } from '../ledger/customer.js'
import { post, settleExpiry } from '../ledger/ledger.js'
import { addTime } from '../time.js'
import { checkClaim } from './checks.js'
import { type Taken, takeNow, takingOf } from './immediate.js'
import { type CreatedRedemption, newRedemption } from './new-redemption.js'
import { outcomeOf } from './provision-outcome.js'
import { beginProvision, provision, takeLease } from './provisioning.js'
import { findByCode, findById, insertRedemption, lockByCodeOf, type RedemptionRow } from './redemption-row.js'
import { isOnItsWay, requireCompletable } from './redemptions.rules.js'
import { countOnReward } from './reward-count.js'
import { type RewardFacts, readRewardFacts } from './reward-facts.js'
import type { ShippingAddress } from './shipping-address.js'

export interface RedemptionRequest extends CustomerAddress {
  rewardId: string
  shippingAddress?: ShippingAddress | null | undefined
}

/**
 * Redeems a reward for a customer, each delivery mode in its way (spec §1): `in_store` gives a code to show at the
 * counter, `shipping` and `digital` take the points at once. Throws CUSTOMER_ADDRESS, CUSTOMER_NOT_FOUND,
 * REWARD_NOT_FOUND, InvalidInput naming `shippingAddress`, the first refusal of `checkClaim`, or
 * DIGITAL_PROVISION_FAILED.
 */
export async function createRedemption(ctx: Context, request: RedemptionRequest): Promise<CreatedRedemption> {
  if (ctx.resumption?.resourceId) return resumeRedemption(ctx, ctx.resumption.resourceId)
  const created = await transaction(ctx, async (tx) => {
    const account = await lockAccount(tx, request)
    const reward = await readRewardFacts(tx, request.rewardId, account.tierId)
    if (reward.deleted) throw new AppError('REWARD_NOT_FOUND')
    requireAddressIfShipped(reward, request.shippingAddress)
    await checkClaim(tx, { reward, account, pointsCost: reward.pointsCost, createdAt: tx.now })
    await settleExpiry(tx, account)
    if (reward.deliveryMode === 'in_store') return giveCode(tx, account, reward)
    if (reward.digitalAssetSource !== 'external')
      return takeNow(tx, account, reward, request.shippingAddress ?? null)
    if (ctx.inTransaction) throw new CallsOut()
    return { redemption: await beginProvision(tx, account, reward), transaction: null }
  })
  return isOnItsWay(created.redemption) ? provision(ctx, created.redemption) : created
}

function requireAddressIfShipped({ deliveryMode }: RewardFacts, address: ShippingAddress | null | undefined) {
  if (deliveryMode === 'shipping' && !address)
    throw invalid('shippingAddress', 'required for a reward that is shipped')
  if (deliveryMode !== 'shipping' && address)
    throw invalid('shippingAddress', 'only for a reward that is shipped')
}

/** Name, cost, type and cashback are fixed now; points are taken and eligibility is checked anew on completion. */
async function giveCode(
  tx: TransactionContext,
  account: CustomerAccount,
  reward: RewardFacts,
): Promise<CreatedRedemption> {
  const expiresAt = addTime(tx.now, account.redemptionTtlHours, 'hour', account.timezone)
  const redemption = await insertRedemption(tx, newRedemption(tx, reward, account, { expiresAt }))
  return { redemption, transaction: null }
}

/** Goes on with what an earlier try of the same request has made; answers or throws as that would have. */
async function resumeRedemption(ctx: Context, id: string): Promise<CreatedRedemption> {
  const { redemption } = await findById(ctx, id)
  if (!isOnItsWay(redemption)) return outcomeOf(ctx, redemption)
  const leased = await takeLease(ctx, redemption)
  if (!leased) throw new InOtherHands()
  return provision(ctx, leased)
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
    const row = await post(tx, account, { ...takingOf(redemption), deviceId: deviceOf(ctx) })
    await tx.sql.run(markCompleted, [ctx.business.id, redemption.id, ctx.now])
    await countOnReward(tx, { rewardId: reward.id, reserved: 0, poolValues: 0 })
    return { redemption: { ...redemption, status: 'completed', completedAt: ctx.now }, transaction: row }
  })
}
