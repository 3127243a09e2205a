import type { Context, TransactionContext } from '../context.js'
import type { CustomerAddress } from '../customers/address.js'
import { requireOneAddress } from '../customers/address.js'
import { type Statement, statement } from '../database/sql.js'
import { AppError } from '../errors.js'
import type { ExpirySettings } from './expiry.rules.js'

/** A customer with all that decides about points: aggregates, tier and the business's settings as they are now. */
export interface CustomerAccount extends ExpirySettings {
  id: string
  displayName: string | null
  birthday: string | null
  balance: number
  held: number
  visitCount: number
  redemptionCount: number
  lastVisitAt: Date | null
  createdAt: Date
  /** Only found through what the customer had; the account itself is not found any more. */
  erased: boolean
  tierId: string | null
  tierRank: number | null
  /** Decimal; '1' without a tier. */
  tierPointsMultiplier: string
  tierCashbackBoostPercent: number
  currency: string
  /** Decimal: points per unit of the currency. */
  earnPointsPerUnit: string
  redemptionTtlHours: number
}

export const accountColumns = `
  c.id, c.display_name AS "displayName", c.birthday, c.balance, c.held,
  c.visit_count AS "visitCount", c.redemption_count AS "redemptionCount",
  c.last_visit_at AS "lastVisitAt", c.created_at AS "createdAt", c.erased_at IS NOT NULL AS erased, c.tier_id AS "tierId",
  t.rank AS "tierRank", coalesce(t.points_multiplier, 1) AS "tierPointsMultiplier",
  coalesce(t.cashback_boost_percent, 0) AS "tierCashbackBoostPercent",
  b.timezone, b.currency, b.earn_points_per_unit AS "earnPointsPerUnit",
  b.redemption_ttl_hours AS "redemptionTtlHours",
  b.points_expire_after_days AS "pointsExpireAfterDays", b.points_expire_since AS "pointsExpireSince"`

/** The business and the tier of a customer `c`. */
export const accountJoins = `
  JOIN businesses b ON b.id = c.business_id
  LEFT JOIN tiers t ON t.business_id = c.business_id AND t.id = c.tier_id`

const find = (name: string, where: string, lock: string): Statement<CustomerAccount> =>
  statement(
    name,
    `SELECT ${accountColumns} FROM customers c ${accountJoins}
      WHERE c.business_id = $1 AND ${where} AND c.erased_at IS NULL ${lock}`,
  )

const byIdentifier =
  'c.id = (SELECT customer_id FROM customer_identifiers WHERE business_id = $1 AND value = $2)'
// Foreign keys to the customer need not wait for a change of balance.
const LOCK = 'FOR NO KEY UPDATE OF c'

const readById = find('read_account_by_id', 'c.id = $2', '')
const readByIdentifier = find('read_account_by_identifier', byIdentifier, '')
const lockById = find('lock_account_by_id', 'c.id = $2', LOCK)
const lockByIdentifier = find('lock_account_by_identifier', byIdentifier, LOCK)

async function take(
  ctx: Context,
  address: CustomerAddress,
  byId: Statement<CustomerAccount>,
  byValue: Statement<CustomerAccount>,
): Promise<CustomerAccount> {
  const one = requireOneAddress(address)
  const account =
    'userId' in one
      ? await ctx.sql.row(byId, [ctx.business.id, one.userId])
      : await ctx.sql.row(byValue, [ctx.business.id, one.identifier])
  if (!account) throw new AppError('CUSTOMER_NOT_FOUND')
  ctx.customerIds.add(account.id)
  return account
}

/** The account as it is; throws CUSTOMER_ADDRESS or CUSTOMER_NOT_FOUND. */
export const readAccount = (ctx: Context, address: CustomerAddress): Promise<CustomerAccount> =>
  take(ctx, address, readById, readByIdentifier)

/**
 * The account, locked until the transaction ends: the first lock of every balance change (lock order: customer,
 * redemption, pool value, reward). Throws as `readAccount`.
 */
export const lockAccount = (ctx: TransactionContext, address: CustomerAddress): Promise<CustomerAccount> =>
  take(ctx, address, lockById, lockByIdentifier)
