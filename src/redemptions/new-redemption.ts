import { v7 as uuidv7 } from 'uuid'
import type { Context } from '../context.js'
import type { CustomerAccount } from '../ledger/customer.js'
import type { LedgerRow } from '../ledger/ledger.js'
import type { RedemptionRow } from './redemption-row.js'
import { boostedCashback } from './redemptions.rules.js'
import type { RewardFacts } from './reward-facts.js'

/** What creating a redemption gives: with the row that paid for it where that happened at once. */
export interface CreatedRedemption {
  redemption: RedemptionRow
  transaction: LedgerRow | null
}

/** A redemption as it begins: pending, with what is fixed when it is created; `further` says what its mode adds. */
export const newRedemption = (
  ctx: Context,
  reward: RewardFacts,
  account: CustomerAccount,
  further: Partial<RedemptionRow>,
): Omit<RedemptionRow, 'code'> => ({
  businessId: ctx.business.id,
  id: uuidv7(),
  rewardId: reward.id,
  customerId: account.id,
  status: 'pending',
  deliveryMode: reward.deliveryMode,
  fulfilmentStatus: null,
  rewardName: reward.name,
  type: reward.type,
  pointsCost: reward.pointsCost,
  cashbackCents: boostedCashback(reward.cashbackCents, account.tier?.cashbackBoostPercent ?? 0),
  createdAt: ctx.now,
  expiresAt: null,
  completedAt: null,
  shippingAddress: null,
  carrier: null,
  trackingNumber: null,
  shippedAt: null,
  deliveredAt: null,
  assetType: null,
  assetValue: null,
  assetExpiresAt: null,
  provisionLeaseUntil: null,
  provisionSentAt: null,
  ...further,
})
