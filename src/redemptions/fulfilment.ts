import { type Context, type TransactionContext, transaction } from '../context.js'
import { statement } from '../database/sql.js'
import { AppError } from '../errors.js'
import { type LedgerRow, post, settleExpiry, writeOff } from '../ledger/ledger.js'
import { type FoundRedemption, lockByCodeOf, type RedemptionRow } from './redemption-row.js'
import { requirePending } from './redemptions.rules.js'

/** What becomes of a parcel (docs: decisions, Redemptions): unfulfilled, shipped, delivered; or cancelled, returned. */

export interface Fulfilment {
  code: string
  status: 'shipped' | 'delivered'
  carrier?: string | null | undefined
  trackingNumber?: string | null | undefined
}

const save = statement<never>(
  'save_fulfilment',
  `UPDATE redemptions SET fulfilment_status = $3, carrier = $4, tracking_number = $5, shipped_at = $6,
          delivered_at = $7
    WHERE business_id = $1 AND id = $2`,
)

async function saveFulfilment(tx: TransactionContext, row: RedemptionRow): Promise<RedemptionRow> {
  await tx.sql.run(save, [
    row.businessId,
    row.id,
    row.fulfilmentStatus,
    row.carrier,
    row.trackingNumber,
    row.shippedAt,
    row.deliveredAt,
  ])
  return row
}

/**
 * Says that a parcel was shipped, then that it was delivered; saying either again corrects carrier and tracking number.
 * Throws REDEMPTION_NOT_FOUND, REDEMPTION_NOT_SHIPPING, or REDEMPTION_NOT_FULFILLABLE with the state it is in.
 */
export function fulfilRedemption(
  ctx: Context,
  { code, status, ...given }: Fulfilment,
): Promise<RedemptionRow> {
  return transaction(ctx, async (tx) => {
    const { redemption } = await lockByCodeOf(tx, code)
    if (redemption.deliveryMode !== 'shipping')
      throw new AppError('REDEMPTION_NOT_SHIPPING', redemption.deliveryMode)
    const from = status === 'shipped' ? ['unfulfilled', 'shipped'] : ['shipped', 'delivered']
    const { fulfilmentStatus } = redemption
    if (!from.includes(fulfilmentStatus!)) throw new AppError('REDEMPTION_NOT_FULFILLABLE', fulfilmentStatus!)
    return saveFulfilment(tx, {
      ...redemption,
      fulfilmentStatus: status,
      carrier: given.carrier === undefined ? redemption.carrier : given.carrier,
      trackingNumber: given.trackingNumber === undefined ? redemption.trackingNumber : given.trackingNumber,
      shippedAt: redemption.shippedAt ?? ctx.now,
      deliveredAt: redemption.deliveredAt ?? (status === 'delivered' ? ctx.now : null),
    })
  })
}

/** A cancelled redemption, with the row that gave the points back where they had been taken. */
export interface Cancellation {
  redemption: RedemptionRow
  transaction: LedgerRow | null
}

const cancelPending = statement<never>(
  'cancel_redemption',
  `UPDATE redemptions SET status = 'cancelled' WHERE business_id = $1 AND id = $2 AND status = 'pending'`,
)

/**
 * Withdraws a redemption: a code that is pending (no points were taken), or a parcel, which is cancelled before it is
 * shipped and returned after, its points given back once. The slot of the cap and the cooldown are not given back.
 * Throws REDEMPTION_NOT_FOUND, REDEMPTION_EXPIRED, REDEMPTION_NOT_PENDING, or REDEMPTION_NOT_CANCELLABLE.
 */
export function cancelRedemption(ctx: Context, { code }: { code: string }): Promise<Cancellation> {
  return transaction(ctx, async (tx) => {
    const found = await lockByCodeOf(tx, code)
    const { redemption } = found
    if (redemption.deliveryMode === 'shipping') return takeBack(tx, found)
    // A value that is on its way is settled by whoever fetches it.
    if (redemption.deliveryMode === 'digital')
      throw new AppError('REDEMPTION_NOT_CANCELLABLE', redemption.status)
    requirePending(redemption, ctx.now)
    await tx.sql.run(cancelPending, [ctx.business.id, redemption.id])
    return { redemption: { ...redemption, status: 'cancelled' }, transaction: null }
  })
}

async function takeBack(
  tx: TransactionContext,
  { redemption, account }: FoundRedemption,
): Promise<Cancellation> {
  const { fulfilmentStatus } = redemption
  if (fulfilmentStatus === 'cancelled' || fulfilmentStatus === 'returned')
    throw new AppError('REDEMPTION_NOT_CANCELLABLE', fulfilmentStatus)
  await settleExpiry(tx, account)
  const row = await post(tx, account, {
    type: 'earn',
    source: 'refund',
    points: redemption.pointsCost,
    rewardId: redemption.rewardId,
    redemptionId: redemption.id,
  })
  if (account.erased) await writeOff(tx, account)
  const taken = fulfilmentStatus === 'unfulfilled' ? 'cancelled' : 'returned'
  return {
    redemption: await saveFulfilment(tx, { ...redemption, fulfilmentStatus: taken }),
    transaction: row,
  }
}
