import { CallsOut, type Context, type TransactionContext, transaction } from '../context.js'
import { statement } from '../database/sql.js'
import { AppError } from '../errors.js'
import { capture, hold, release } from '../ledger/holds.js'
import { type LedgerRow, ledgerColumns } from '../ledger/ledger.js'
import { queueAssetMail } from '../mail/queue.js'
import { breakerAdmits, recordCall } from '../outbound/breaker.js'
import { callProvision, type ProvisionResult } from '../outbound/provision-call.js'
import { logDelivery } from '../rewards/deliveries.js'
import { readWebhook, type Webhook } from '../rewards/webhook.js'
import { lockClaim } from './checks.js'
import { sealedAsset, type Taken } from './immediate.js'
import { newRedemption } from './new-redemption.js'
import { findById, insertRedemption, lockByIdOf, type RedemptionRow } from './redemption-row.js'
import { countOnReward, releaseOnReward, reserveOnReward } from './reward-count.js'
import { readRewardFacts } from './reward-facts.js'

/**
 * Digital values that a business mints itself (spec §6). Three steps, each committed: the redemption is pending with
 * its points held and a slot of the cap reserved; the call is made outside any transaction; the redemption is completed
 * or cancelled. Whoever works on it holds its lease; when that runs out, after a crash, a retry with the same
 * Idempotency-Key or the sweep takes over. The receiver sees one key for one redemption, however often it is asked.
 */

/** Longer than a call can take. */
const LEASE_MS = 20_000
const leaseFrom = (now: Date): Date => new Date(now.getTime() + LEASE_MS)

/** Redeems a reward whose value comes from the business; throws the refusals of `checkClaim` or DIGITAL_PROVISION_FAILED. */
export async function takeExternally(ctx: Context, rewardId: string, customerId: string): Promise<Taken> {
  if (ctx.inTransaction) throw new CallsOut()
  return secure(ctx, await begin(ctx, rewardId, customerId))
}

/** Goes on with a redemption that an earlier try of the same request has begun; throws as that would have. */
export async function resumeExternally(ctx: Context, redemptionId: string): Promise<Taken> {
  if (ctx.inTransaction) throw new CallsOut()
  const { redemption } = await findById(ctx, redemptionId)
  if (redemption.status === 'pending') {
    if (!(await takeLease(ctx, redemption.id))) throw new AppError('IDEMPOTENCY_KEY_IN_USE', undefined, 1)
    return secure(ctx, redemption)
  }
  return outcomeOf(ctx, redemption)
}

/** Settles a redemption that a crash left pending and whose lease is ours. */
export async function settleInterrupted(ctx: Context, redemptionId: string, sent: boolean): Promise<void> {
  const { redemption } = await findById(ctx, redemptionId)
  const settled = sent ? secure(ctx, redemption) : cancel(ctx, redemptionId)
  await settled.catch((error: unknown) => {
    // Cancelled is settled too.
    if (!(error instanceof AppError && error.code === 'DIGITAL_PROVISION_FAILED')) throw error
  })
}

/** Pending, points held, slot reserved: committed before anything leaves. */
const begin = (ctx: Context, rewardId: string, customerId: string): Promise<RedemptionRow> =>
  transaction(ctx, async (tx) => {
    const { account, reward } = await lockClaim(tx, rewardId, customerId)
    const redemption = await insertRedemption(
      tx,
      newRedemption(tx, reward, account, {
        assetType: reward.digitalAssetType,
        provisionLeaseUntil: leaseFrom(ctx.now),
      }),
    )
    await hold(tx, account, redemption)
    await ctx.resumption?.note(tx, redemption.id)
    await reserveOnReward(tx, rewardId)
    return redemption
  })

const extendLease = statement<never>(
  'take_provision_lease',
  `UPDATE redemptions SET provision_lease_until = $3
    WHERE business_id = $1 AND id = $2 AND status = 'pending' AND provision_lease_until <= $4`,
)

/** Whether it is ours now to settle a redemption that was left pending. */
export const takeLease = async (ctx: Context, redemptionId: string): Promise<boolean> =>
  (await ctx.sql.run(extendLease, [ctx.business.id, redemptionId, leaseFrom(ctx.now), ctx.now])) > 0

const markSent = statement<never>(
  'mark_provision_sent',
  'UPDATE redemptions SET provision_sent_at = $3 WHERE business_id = $1 AND id = $2',
)

/** Makes the call for a pending redemption whose lease is ours, and settles it by what came back. */
async function secure(ctx: Context, redemption: RedemptionRow): Promise<Taken> {
  const webhook = await readWebhook(ctx, redemption.rewardId)
  const result = webhook && (await call(ctx, redemption, webhook))
  if (!result?.asset) return cancel(ctx, redemption.id)
  return complete(ctx, redemption.id, result.asset)
}

async function call(
  ctx: Context,
  redemption: RedemptionRow,
  { url, secret }: Webhook,
): Promise<ProvisionResult | undefined> {
  const { id, rewardId } = redemption
  if (!(await breakerAdmits(ctx, rewardId))) {
    await logDelivery(ctx, {
      rewardId,
      redemptionId: id,
      status: null,
      failure: 'circuit_open',
      durationMs: 0,
    })
    return undefined
  }
  await ctx.sql.run(markSent, [ctx.business.id, id, ctx.now])
  const result = await callProvision(ctx.network, {
    url,
    secret,
    idempotencyKey: id,
    redemptionId: id,
    userId: redemption.customerId,
    rewardId,
    businessId: ctx.business.id,
    assetType: redemption.assetType!,
    now: ctx.now,
  })
  await recordCall(ctx, rewardId, result.asset !== null, new Date(ctx.now.getTime() + result.durationMs))
  await logDelivery(ctx, { rewardId, redemptionId: id, ...result })
  return result
}

const markCompleted = statement<never>(
  'complete_external_redemption',
  `UPDATE redemptions
      SET status = 'completed', completed_at = $3, asset_type = $4, asset_value = $5, asset_expires_at = $6,
          provision_lease_until = NULL
    WHERE business_id = $1 AND id = $2`,
)

/** The value is secured: the points go, the slot becomes a redemption. */
function complete(
  ctx: Context,
  id: string,
  asset: { value: string; expiresAt: Date | null },
): Promise<Taken> {
  return transaction(ctx, async (tx) => {
    const { redemption, account } = await lockByIdOf(tx, id)
    if (redemption.status !== 'pending') return outcomeOf(tx, redemption)
    const row = await capture(tx, account, redemption)
    const completed: RedemptionRow = {
      ...redemption,
      status: 'completed',
      completedAt: ctx.now,
      provisionLeaseUntil: null,
      ...sealedAsset(tx, redemption.assetType, asset.value, asset.expiresAt),
    }
    const { completedAt, assetType, assetValue, assetExpiresAt } = completed
    await tx.sql.run(markCompleted, [ctx.business.id, id, completedAt, assetType, assetValue, assetExpiresAt])
    const reward = await readRewardFacts(tx, redemption.rewardId, null)
    if (reward.digitalEmailDelivery) await queueAssetMail(tx, { redemptionId: id, customerId: account.id })
    await countOnReward(tx, { rewardId: redemption.rewardId, reserved: 1, poolValues: 0 })
    return { redemption: completed, transaction: row }
  })
}

const markCancelled = statement<never>(
  'cancel_external_redemption',
  `UPDATE redemptions SET status = 'cancelled', provision_lease_until = NULL WHERE business_id = $1 AND id = $2`,
)

/** There is no value: the customer is left untouched. Throws DIGITAL_PROVISION_FAILED once that is committed. */
async function cancel(ctx: Context, id: string): Promise<Taken> {
  const settled = await transaction(ctx, async (tx) => {
    const { redemption, account } = await lockByIdOf(tx, id)
    if (redemption.status !== 'pending') return redemption
    await release(tx, account, redemption)
    await tx.sql.run(markCancelled, [ctx.business.id, id])
    await releaseOnReward(tx, redemption.rewardId)
    return { ...redemption, status: 'cancelled' as const }
  })
  return outcomeOf(ctx, settled)
}

const findPayment = statement<LedgerRow>(
  'find_payment_of_redemption',
  `SELECT ${ledgerColumns} FROM transactions
    WHERE business_id = $1 AND redemption_id = $2 AND type = 'redeem' AND status = 'completed'`,
)

/** What a settled redemption answers; throws DIGITAL_PROVISION_FAILED where it was cancelled. */
async function outcomeOf(ctx: Context | TransactionContext, redemption: RedemptionRow): Promise<Taken> {
  if (redemption.status !== 'completed') throw new AppError('DIGITAL_PROVISION_FAILED')
  const payment = await ctx.sql.row(findPayment, [ctx.business.id, redemption.id])
  return { redemption, transaction: payment! }
}
