import { type Context, InOtherHands, type TransactionContext } from '../context.js'
import { statement } from '../database/sql.js'
import { AppError } from '../errors.js'
import type { CustomerAccount } from '../ledger/customer.js'
import { hold } from '../ledger/holds.js'
import { breakerAdmits, recordCall } from '../outbound/breaker.js'
import { callProvision } from '../outbound/provision-call.js'
import { logDelivery } from '../rewards/deliveries.js'
import { readWebhook, type Webhook } from '../rewards/webhook.js'
import { type CreatedRedemption, newRedemption } from './new-redemption.js'
import { type SecuredAsset, settle } from './provision-outcome.js'
import { findById, insertRedemption, type RedemptionRow } from './redemption-row.js'
import { reserveOnReward } from './reward-count.js'
import type { RewardFacts } from './reward-facts.js'

/**
 * Digital values that a business mints itself (spec §6). Three steps, each committed: the redemption is pending with
 * its points held and a slot of the cap reserved; the call is made outside any transaction; the redemption is completed
 * or cancelled. Whoever works on it holds its lease; when that runs out, after a crash, a retry with the same
 * Idempotency-Key or the sweep takes over. The receiver sees one key for one redemption, however often it is asked.
 */

/** Longer than a call can take. */
const LEASE_MS = 20_000
const leaseFrom = (now: Date): Date => new Date(now.getTime() + LEASE_MS)

/** The first step, for a claim that was checked under a lock on the account: after it is committed, `provision`. */
export async function beginProvision(
  tx: TransactionContext,
  account: CustomerAccount,
  reward: RewardFacts,
): Promise<RedemptionRow> {
  const redemption = await insertRedemption(
    tx,
    newRedemption(tx, reward, account, {
      assetType: reward.digitalAssetType,
      provisionLeaseUntil: leaseFrom(tx.now),
    }),
  )
  await hold(tx, account, redemption)
  await reserveOnReward(tx, reward.id)
  return redemption
}

/** The second and the third step, for a redemption whose lease is ours. Throws DIGITAL_PROVISION_FAILED. */
export async function provision(ctx: Context, redemption: RedemptionRow): Promise<CreatedRedemption> {
  const webhook = await readWebhook(ctx, redemption.rewardId)
  const asset = webhook ? await call(ctx, redemption, webhook) : null
  return settle(ctx, redemption.id, asset)
}

/** Settles a redemption that a crash left pending: it is sent once more where the call may have left already. */
export async function settleInterrupted(ctx: Context, id: string): Promise<boolean> {
  const { redemption, account } = await findById(ctx, id)
  const leased = await takeLease(ctx, redemption)
  if (!leased) return false
  const sent = leased.provisionSentAt !== null && !account.erased
  try {
    await (sent ? provision(ctx, leased) : settle(ctx, id, null))
  } catch (error) {
    // Cancelled is settled too.
    if (!(error instanceof AppError && error.code === 'DIGITAL_PROVISION_FAILED')) throw error
  }
  return true
}

const extendLease = statement<{ sentAt: Date | null }>(
  'take_provision_lease',
  `UPDATE redemptions SET provision_lease_until = $3
    WHERE business_id = $1 AND id = $2 AND status = 'pending' AND provision_lease_until <= $4
   RETURNING provision_sent_at AS "sentAt"`,
)

/** Takes over a redemption that was left pending; undefined where somebody is at work on it, or it is settled. */
export async function takeLease(ctx: Context, redemption: RedemptionRow): Promise<RedemptionRow | undefined> {
  const provisionLeaseUntil = leaseFrom(ctx.now)
  const values = [ctx.business.id, redemption.id, provisionLeaseUntil, ctx.now]
  const taken = await ctx.sql.row(extendLease, values)
  return taken && { ...redemption, provisionLeaseUntil, provisionSentAt: taken.sentAt }
}

const markSent = statement<never>(
  'mark_provision_sent',
  `UPDATE redemptions SET provision_sent_at = $4
    WHERE business_id = $1 AND id = $2 AND status = 'pending' AND provision_lease_until = $3`,
)

/** Asks the business for the value, once; null where there is none. */
async function call(
  ctx: Context,
  redemption: RedemptionRow,
  { url, secret }: Webhook,
): Promise<SecuredAsset | null> {
  const { id, rewardId, provisionLeaseUntil } = redemption
  const about = { rewardId, redemptionId: id }
  if (!(await breakerAdmits(ctx, rewardId))) {
    await logDelivery(ctx, { ...about, status: null, failure: 'circuit_open', durationMs: 0 })
    return null
  }
  // Where the lease has run out before this, whoever has it now decides, and nothing leaves from here.
  const ours = await ctx.sql.run(markSent, [ctx.business.id, id, provisionLeaseUntil, ctx.now])
  if (ours === 0) throw new InOtherHands()
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
  await logDelivery(ctx, { ...about, ...result })
  return result.asset
}
