import { statement } from '../database/sql.js'
import type { CustomerAccount } from '../ledger/customer.js'
import { accountColumns, accountJoins } from '../ledger/customer.js'

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
}

/** Of a redemption `r`, apart from those that an account has under the same name. */
const redemptionColumns = `
  r.business_id AS "businessId", r.id AS "redemptionId", r.code, r.reward_id AS "rewardId",
  r.customer_id AS "customerId", r.status, r.delivery_mode AS "deliveryMode",
  r.fulfilment_status AS "fulfilmentStatus", r.reward_name AS "rewardName", r.type, r.points_cost AS "pointsCost",
  r.cashback_cents AS "cashbackCents", r.created_at AS "redeemedAt", r.expires_at AS "expiresAt",
  r.completed_at AS "completedAt"`

type Joined = CustomerAccount &
  Omit<RedemptionRow, 'id' | 'createdAt'> & { redemptionId: string; redeemedAt: Date }

const find = (name: string, lock: string) =>
  statement<Joined>(
    name,
    `SELECT ${accountColumns}, ${redemptionColumns}
       FROM customers c JOIN redemptions r ON r.business_id = c.business_id AND r.customer_id = c.id ${accountJoins}
      WHERE r.business_id = $1 AND r.code = $2 ${lock}`,
  )

export const readByCode = find('read_redemption_by_code', '')
/** Locks the customer, then the redemption: the order of every balance change. */
export const lockByCode = find('lock_redemption_by_code', 'FOR NO KEY UPDATE OF c, r')

/** A joined row taken apart. */
export function split(joined: Joined): { account: CustomerAccount; redemption: RedemptionRow } {
  const { redemptionId, redeemedAt, ...rest } = joined
  return {
    account: rest,
    redemption: {
      businessId: rest.businessId,
      id: redemptionId,
      code: rest.code,
      rewardId: rest.rewardId,
      customerId: rest.customerId,
      status: rest.status,
      deliveryMode: rest.deliveryMode,
      fulfilmentStatus: rest.fulfilmentStatus,
      rewardName: rest.rewardName,
      type: rest.type,
      pointsCost: rest.pointsCost,
      cashbackCents: rest.cashbackCents,
      createdAt: redeemedAt,
      expiresAt: rest.expiresAt,
      completedAt: rest.completedAt,
    },
  }
}
