import type { Context, TransactionContext } from '../context.js'
import { type CustomerAddress, requireOneAddress } from '../customers/address.js'
import { type Statement, statement } from '../database/sql.js'
import { AppError } from '../errors.js'
import type { ExpirySettings } from './expiry.rules.js'

/** The tier that a customer is in, with what it gives. */
export interface AccountTier {
  id: string
  rank: number
  /** Decimal. */
  pointsMultiplier: string
  cashbackBoostPercent: number
  referralBonusPoints: number
}

/** A customer with all that decides about points: aggregates, tier and the business's settings as they are now. */
export interface CustomerAccount extends ExpirySettings {
  id: string
  displayName: string | null
  birthday: string | null
  balance: number
  held: number
  visitCount: number
  redemptionCount: number
  /** What tiers go by: points of purchases and codes, and amounts in minor units, both less reversals. */
  earnedPoints: number
  spendMinor: number
  lastVisitAt: Date | null
  /** In which the hours of visits are kept; null = they are not, or there was no visit. */
  visitHoursTimezone: string | null
  createdAt: Date
  /** Only found through what the customer had; the account itself is not found any more. */
  erased: boolean
  tierId: string | null
  /** Null also where the tier was deleted and the customer not yet moved. */
  tier: AccountTier | null
  currency: string
  /** Decimal: points per unit of the currency. */
  earnPointsPerUnit: string
  redemptionTtlHours: number
  /** When claims of codes failed, the latest only, oldest first; null = never. */
  claimFailures: Date[] | null
}

/** A row `t` of tiers as an `AccountTier`. */
export const accountTier = (t: string): string =>
  `json_build_object('id', ${t}.id, 'rank', ${t}.rank, 'pointsMultiplier', ${t}.points_multiplier::text,
                     'cashbackBoostPercent', ${t}.cashback_boost_percent,
                     'referralBonusPoints', ${t}.referral_bonus_points)`

/**
 * The tier is a subquery: a statement that has waited for a lock evaluates that anew for the customer as it is then,
 * while a joined row would be the one of before.
 */
export const accountColumns = `
  c.id, c.display_name AS "displayName", c.birthday, c.balance, c.held,
  c.visit_count AS "visitCount", c.redemption_count AS "redemptionCount",
  c.claim_failures AS "claimFailures", c.visit_hours_timezone AS "visitHoursTimezone",
  c.earned_points AS "earnedPoints", c.spend_minor AS "spendMinor",
  c.last_visit_at AS "lastVisitAt", c.created_at AS "createdAt", c.erased_at IS NOT NULL AS erased, c.tier_id AS "tierId",
  (SELECT ${accountTier('t')} FROM tiers t
    WHERE t.business_id = c.business_id AND t.id = c.tier_id AND t.deleted_at IS NULL) AS tier,
  b.timezone, b.currency, b.earn_points_per_unit AS "earnPointsPerUnit",
  b.redemption_ttl_hours AS "redemptionTtlHours",
  b.points_expire_after_days AS "pointsExpireAfterDays", b.points_expire_since AS "pointsExpireSince"`

/** The business of a customer `c`. */
export const accountJoins = 'JOIN businesses b ON b.id = c.business_id'

const byIdentifier =
  'c.id = (SELECT customer_id FROM customer_identifiers WHERE business_id = $1 AND value = $2)'

/** How an account is found: by either way in which a customer is addressed. */
interface AccountStatements<Account extends CustomerAccount> {
  byId: Statement<Account>
  byIdentifier: Statement<Account>
}

/** Statements that find an account, with `further` columns of whoever asks; their values begin at `$3`. */
export function accountStatements<Account extends CustomerAccount = CustomerAccount>(
  name: string,
  { lock = false, further }: { lock?: boolean; further?: string } = {},
): AccountStatements<Account> {
  const find = (by: string, where: string) =>
    statement<Account>(
      `${name}_${by}`,
      `SELECT ${accountColumns}${further === undefined ? '' : `, ${further}`} FROM customers c ${accountJoins}
        WHERE c.business_id = $1 AND ${where} AND c.erased_at IS NULL ${lock ? LOCK : ''}`,
    )
  return { byId: find('by_id', 'c.id = $2'), byIdentifier: find('by_identifier', byIdentifier) }
}

// Foreign keys to the customer need not wait for a change of balance.
const LOCK = 'FOR NO KEY UPDATE OF c'

const read = accountStatements('read_account')
const lock = accountStatements('lock_account', { lock: true })

/** The account that `statements` find; throws CUSTOMER_ADDRESS or CUSTOMER_NOT_FOUND. */
export async function takeAccount<Account extends CustomerAccount>(
  ctx: Context,
  address: CustomerAddress,
  statements: AccountStatements<Account>,
  further: readonly unknown[] = [],
): Promise<Account> {
  const one = requireOneAddress(address)
  const account =
    'userId' in one
      ? await ctx.sql.row(statements.byId, [ctx.business.id, one.userId, ...further])
      : await ctx.sql.row(statements.byIdentifier, [ctx.business.id, one.identifier, ...further])
  if (!account) throw new AppError('CUSTOMER_NOT_FOUND')
  ctx.customerIds.add(account.id)
  return account
}

/** The account as it is; throws CUSTOMER_ADDRESS or CUSTOMER_NOT_FOUND. */
export const readAccount = (ctx: Context, address: CustomerAddress): Promise<CustomerAccount> =>
  takeAccount(ctx, address, read)

/**
 * The account, locked until the transaction ends: the first lock of every balance change (lock order: customer,
 * redemption, pool value, reward, raffle). Throws as `readAccount`.
 */
export const lockAccount = (ctx: TransactionContext, address: CustomerAddress): Promise<CustomerAccount> =>
  takeAccount(ctx, address, lock)
