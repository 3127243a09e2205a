import type { Context, TransactionContext } from '../context.js'
import { type Statement, statement } from '../database/sql.js'
import { AppError } from '../errors.js'
import { accountColumns, accountJoins, type CustomerAccount } from '../ledger/customer.js'
import { generateCode, readCode } from './code.js'

/** A redemption, named as the model `Redemption`. */
export interface RedemptionRow {
  businessId: string
  id: string
  code: string
  rewardId: string
  customerId: string
  status: 'pending' | 'completed' | 'cancelled' | 'expired'
  deliveryMode: 'in_store' | 'shipping' | 'digital'
  fulfilmentStatus: 'unfulfilled' | 'shipped' | 'delivered' | 'cancelled' | 'returned' | null
  rewardName: string
  type: 'item' | 'discount' | 'cashback'
  pointsCost: number
  cashbackCents: number
  createdAt: Date
  expiresAt: Date | null
  completedAt: Date | null
  /** Sealed JSON of a `ShippingAddress`. */
  shippingAddress: Uint8Array | null
  carrier: string | null
  trackingNumber: string | null
  shippedAt: Date | null
  deliveredAt: Date | null
  assetType: 'code' | 'link' | null
  /** Sealed. */
  assetValue: Uint8Array | null
  assetExpiresAt: Date | null
  provisionLeaseUntil: Date | null
  provisionSentAt: Date | null
}

/** Each column and the field that holds it: the one place from which every statement below is made. */
const COLUMNS = {
  business_id: 'businessId',
  id: 'id',
  code: 'code',
  reward_id: 'rewardId',
  customer_id: 'customerId',
  status: 'status',
  delivery_mode: 'deliveryMode',
  fulfilment_status: 'fulfilmentStatus',
  reward_name: 'rewardName',
  type: 'type',
  points_cost: 'pointsCost',
  cashback_cents: 'cashbackCents',
  created_at: 'createdAt',
  expires_at: 'expiresAt',
  completed_at: 'completedAt',
  shipping_address: 'shippingAddress',
  carrier: 'carrier',
  tracking_number: 'trackingNumber',
  shipped_at: 'shippedAt',
  delivered_at: 'deliveredAt',
  asset_type: 'assetType',
  asset_value: 'assetValue',
  asset_expires_at: 'assetExpiresAt',
  provision_lease_until: 'provisionLeaseUntil',
  provision_sent_at: 'provisionSentAt',
} as const satisfies Record<string, keyof RedemptionRow>

const fields = Object.values(COLUMNS)

const insert = statement<{ id: string }>(
  'insert_redemption',
  `INSERT INTO redemptions (${Object.keys(COLUMNS).join(', ')})
   VALUES (${fields.map((_, index) => `$${index + 1}`).join(', ')})
   ON CONFLICT (business_id, code) DO NOTHING RETURNING id`,
)

const CODE_TRIES = 10

/**
 * Writes a redemption; a code that the business has had before is drawn again. Returns it with its code. Where the
 * request can be resumed, a retry goes on with this redemption.
 */
export async function insertRedemption(
  tx: TransactionContext,
  redemption: Omit<RedemptionRow, 'code'>,
): Promise<RedemptionRow> {
  for (let tries = 0; tries < CODE_TRIES; tries++) {
    const row = { ...redemption, code: generateCode() }
    const values = fields.map((field) => row[field])
    if (!(await tx.sql.row(insert, values))) continue
    await tx.resumption?.note(tx, row.id)
    return row
  }
  throw new Error('no free redemption code was found')
}

/** A joined row holds the redemption's fields under this prefix, the account's under their own names. */
const PREFIX = 'redemption_'
type Joined = CustomerAccount & {
  [Field in keyof RedemptionRow as `redemption_${Field}`]: RedemptionRow[Field]
}

const redemptionColumns = Object.entries(COLUMNS)
  .map(([column, field]) => `r.${column} AS "${PREFIX}${field}"`)
  .join(', ')

const find = (name: string, where: string, lock = ''): Statement<Joined> =>
  statement(
    name,
    `SELECT ${accountColumns}, ${redemptionColumns}
       FROM customers c JOIN redemptions r ON r.business_id = c.business_id AND r.customer_id = c.id ${accountJoins}
      WHERE r.business_id = $1 AND ${where} ${lock}`,
  )
/** The customer first, then the redemption: the order of every balance change. */
const LOCK = 'FOR NO KEY UPDATE OF c, r'

const readByCode = find('read_redemption_by_code', 'r.code = $2')
const lockByCode = find('lock_redemption_by_code', 'r.code = $2', LOCK)
const readById = find('read_redemption_by_id', 'r.id = $2')
const lockById = find('lock_redemption_by_id', 'r.id = $2', LOCK)

/** A redemption and the account of its customer. */
export interface FoundRedemption {
  redemption: RedemptionRow
  account: CustomerAccount
}

async function take(ctx: Context, by: Statement<Joined>, key: string | undefined): Promise<FoundRedemption> {
  const joined = key && (await ctx.sql.row(by, [ctx.business.id, key]))
  if (!joined) throw new AppError('REDEMPTION_NOT_FOUND')
  const redemption = Object.fromEntries(
    fields.map((field) => [field, joined[`${PREFIX}${field}`]]),
  ) as unknown as RedemptionRow
  ctx.customerIds.add(redemption.customerId)
  return { redemption, account: joined }
}

/** By the code that a person typed; throws REDEMPTION_NOT_FOUND. */
export const findByCode = (ctx: Context, written: string): Promise<FoundRedemption> =>
  take(ctx, readByCode, readCode(written))

/** As `findByCode`; customer and redemption stay locked until the transaction ends. */
export const lockByCodeOf = (ctx: TransactionContext, written: string): Promise<FoundRedemption> =>
  take(ctx, lockByCode, readCode(written))

/** By id; throws REDEMPTION_NOT_FOUND. */
export const findById = (ctx: Context, id: string): Promise<FoundRedemption> => take(ctx, readById, id)

/** As `findById`; customer and redemption stay locked until the transaction ends. */
export const lockByIdOf = (ctx: TransactionContext, id: string): Promise<FoundRedemption> =>
  take(ctx, lockById, id)
