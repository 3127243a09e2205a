import { v7 as uuidv7 } from 'uuid'
import { type Context, type TransactionContext, transaction } from '../context.js'
import type { CustomerAddress } from '../customers/address.js'
import { statement } from '../database/sql.js'
import { AppError } from '../errors.js'
import { type CustomerAccount, readAccount } from '../ledger/customer.js'
import { type LedgerRow, post, settleExpiry } from '../ledger/ledger.js'
import { addTime } from '../time.js'
import { checkClaim } from './checks.js'
import { generateCode, readCode } from './code.js'
import { lockByCode, type RedemptionRow, readByCode, split } from './redemption-row.js'
import { boostedCashback, requireCompletable, requirePending } from './redemptions.rules.js'
import { type RewardFacts, readRewardFacts } from './reward-facts.js'

const insertRedemption = statement<{ id: string }>(
  'insert_redemption',
  `INSERT INTO redemptions (business_id, id, code, reward_id, customer_id, status, delivery_mode, reward_name, type,
                            points_cost, cashback_cents, created_at, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
   ON CONFLICT (business_id, code) DO NOTHING RETURNING id`,
)

/**
 * Gives a customer a code to show at the counter. Name, cost, type and cashback are fixed now; points are taken
 * and eligibility is checked anew when it is completed. Throws CUSTOMER_ADDRESS, CUSTOMER_NOT_FOUND,
 * REWARD_NOT_FOUND or the first refusal of `checkClaim`.
 */
export async function createRedemption(
  ctx: Context,
  input: CustomerAddress & { rewardId: string },
): Promise<RedemptionRow> {
  const account = await readAccount(ctx, input)
  const reward = await readRewardFacts(ctx, input.rewardId, account.tierId)
  if (reward.deleted) throw new AppError('REWARD_NOT_FOUND')
  if (reward.deliveryMode !== 'in_store') throw new AppError('DELIVERY_MODE_UNAVAILABLE', reward.deliveryMode)
  await checkClaim(ctx, { reward, account, pointsCost: reward.pointsCost, createdAt: ctx.now })
  return insert(ctx, pendingRedemption(ctx, reward, account))
}

const pendingRedemption = (ctx: Context, reward: RewardFacts, account: CustomerAccount): RedemptionRow => ({
  businessId: ctx.business.id,
  id: uuidv7(),
  code: generateCode(),
  rewardId: reward.id,
  customerId: account.id,
  status: 'pending',
  deliveryMode: reward.deliveryMode,
  fulfilmentStatus: null,
  rewardName: reward.name,
  type: reward.type,
  pointsCost: reward.pointsCost,
  cashbackCents: boostedCashback(reward.cashbackCents, account.tierCashbackBoostPercent),
  createdAt: ctx.now,
  expiresAt: addTime(ctx.now, account.redemptionTtlHours, 'hour', account.timezone),
  completedAt: null,
})

const CODE_TRIES = 10

/** A code that the business has had before is drawn again. */
async function insert(ctx: Context, redemption: RedemptionRow): Promise<RedemptionRow> {
  for (let tries = 0; tries < CODE_TRIES; tries++) {
    const row = tries === 0 ? redemption : { ...redemption, code: generateCode() }
    const inserted = await ctx.sql.row(insertRedemption, [
      row.businessId,
      row.id,
      row.code,
      row.rewardId,
      row.customerId,
      row.status,
      row.deliveryMode,
      row.rewardName,
      row.type,
      row.pointsCost,
      row.cashbackCents,
      row.createdAt,
      row.expiresAt,
    ])
    if (inserted) return row
  }
  throw new Error('no free redemption code was found')
}

/** A redemption with its customer, by the code that a person typed; throws REDEMPTION_NOT_FOUND. */
async function findByCode(ctx: Context, written: string, by: typeof readByCode) {
  const code = readCode(written)
  const joined = code && (await ctx.sql.row(by, [ctx.business.id, code]))
  if (!joined) throw new AppError('REDEMPTION_NOT_FOUND')
  ctx.customerIds.add(joined.customerId)
  return split(joined)
}

export interface Validation {
  redemption: RedemptionRow
  /** The reward's conditions as they are now. */
  conditions: string | null
  account: CustomerAccount
}

/** Everything that completing checks, without any effect; throws what completing would. */
export async function validateRedemption(ctx: Context, { code }: { code: string }): Promise<Validation> {
  const { redemption, account } = await findByCode(ctx, code, readByCode)
  requireCompletable(redemption, ctx.now)
  const reward = await readRewardFacts(ctx, redemption.rewardId, account.tierId)
  await checkClaim(ctx, {
    reward,
    account,
    pointsCost: redemption.pointsCost,
    createdAt: redemption.createdAt,
  })
  return { redemption, conditions: reward.conditions, account }
}

const countCompletion = statement<{ one: number }>(
  'complete_redemption',
  `WITH redeemed AS (
     UPDATE redemptions SET status = 'completed', completed_at = $4
      WHERE business_id = $1 AND id = $2 AND status = 'pending'
     RETURNING 1
   )
   UPDATE rewards
      SET redemptions_count = redemptions_count + 1,
          deactivated_by_limit = deactivated_by_limit OR (redemptions_count + 1 >= max_redemptions) IS TRUE
    WHERE business_id = $1 AND id = $3 AND EXISTS (SELECT FROM redeemed)
      AND (max_redemptions IS NULL OR redemptions_count + reserved_count < max_redemptions)
   RETURNING 1 AS one`,
)

export interface Completion {
  redemption: RedemptionRow
  transaction: LedgerRow
}

/**
 * Completes a code at the counter (spec §4, note 1): takes the points, counts the redemption, writes the `redeem`
 * row, all or nothing. Throws REDEMPTION_NOT_FOUND, REDEMPTION_NOT_IN_STORE, REDEMPTION_NOT_PENDING,
 * REDEMPTION_EXPIRED, then the refusals of `checkClaim`, in this order.
 */
export function completeRedemption(ctx: Context, { code }: { code: string }): Promise<Completion> {
  return transaction(ctx, async (tx) => {
    const { redemption, account } = await findByCode(tx, code, lockByCode)
    requireCompletable(redemption, ctx.now)
    const reward = await readRewardFacts(tx, redemption.rewardId, account.tierId)
    const { pointsCost, createdAt } = redemption
    await checkClaim(tx, { reward, account, pointsCost, createdAt })
    await settleExpiry(tx, account)
    const row = await post(tx, account, {
      type: 'redeem',
      source: 'reward',
      points: pointsCost,
      rewardId: reward.id,
      redemptionId: redemption.id,
      redemptions: 1,
    })
    // The cap comes last: its row is shared by all customers, so it stays locked for the shortest time.
    await count(tx, redemption)
    return { redemption: { ...redemption, status: 'completed', completedAt: ctx.now }, transaction: row }
  })
}

async function count(tx: TransactionContext, { id, rewardId }: RedemptionRow): Promise<void> {
  if (await tx.sql.row(countCompletion, [tx.business.id, id, rewardId, tx.now])) return
  // Others have reached the cap since it was read.
  const { maxRedemptions } = await readRewardFacts(tx, rewardId, null)
  throw new AppError('REDEMPTION_LIMIT_REACHED', maxRedemptions ?? 0)
}

const cancelPending = statement<never>(
  'cancel_redemption',
  `UPDATE redemptions SET status = 'cancelled' WHERE business_id = $1 AND id = $2 AND status = 'pending'`,
)

/** Withdraws a pending code; no points were taken. Throws REDEMPTION_NOT_FOUND, _EXPIRED or _NOT_PENDING. */
export function cancelRedemption(ctx: Context, { code }: { code: string }): Promise<RedemptionRow> {
  return transaction(ctx, async (tx) => {
    const { redemption } = await findByCode(tx, code, lockByCode)
    requirePending(redemption, ctx.now)
    await tx.sql.run(cancelPending, [ctx.business.id, redemption.id])
    return { ...redemption, status: 'cancelled' }
  })
}
