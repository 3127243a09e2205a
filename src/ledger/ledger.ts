import { v7 as uuidv7 } from 'uuid'
import type { TransactionContext } from '../context.js'
import { statement } from '../database/sql.js'
import { AppError } from '../errors.js'
import { localDate } from '../time.js'
import type { CustomerAccount } from './customer.js'
import { usableBalance } from './expiry.rules.js'
import { NO_VISIT_HOUR, setVisitHour, visitHour } from './visit-hours.js'

/**
 * The only code that changes a balance. A balance is the sum of its completed earn rows minus the sum of its
 * completed redeem rows, always: each change writes its row, the balance and every aggregate in one statement.
 */

/** No balance passes this (docs: decisions, Points and transactions); refunds are exempt. */
export const MAX_BALANCE = 2_000_000_000

export type TransactionType = 'earn' | 'redeem'
export type TransactionSource =
  | 'api'
  | 'terminal'
  | 'dashboard'
  | 'code'
  | 'raffle'
  | 'reward'
  | 'refund'
  | 'reversal'
  | 'expiry'
  | 'erasure'
  | 'tier_bonus'
  | 'referral'
  | 'import'

/** A row of the ledger, named as the model `Transaction`. */
export interface LedgerRow {
  businessId: string
  id: string
  customerId: string
  type: TransactionType
  status: 'pending' | 'completed' | 'failed'
  source: TransactionSource
  points: number
  amountMinor: number | null
  currency: string | null
  deviceId: string | null
  locationId: string | null
  rewardId: string | null
  redemptionId: string | null
  reversesId: string | null
  description: string | null
  /** Decimal: what the points of an amount were multiplied by; null where they were given exactly. */
  multiplier: string | null
  /** The promotion that is part of the multiplier. */
  promotionId: string | null
  /** The tier that is part of the multiplier, or whose bonus this is. */
  tierId: string | null
  occurredAt: Date
  createdAt: Date
}

/** Columns of `transactions` as a `LedgerRow`. */
export const ledgerColumns = `
  business_id AS "businessId", id, customer_id AS "customerId", type, status, source, points,
  amount_minor AS "amountMinor", currency, device_id AS "deviceId", location_id AS "locationId",
  reward_id AS "rewardId", redemption_id AS "redemptionId", reverses_id AS "reversesId", description,
  multiplier, promotion_id AS "promotionId", tier_id AS "tierId", occurred_at AS "occurredAt", created_at AS "createdAt"`

/** What is to be booked on a locked account. */
export interface Entry {
  type: TransactionType
  source: TransactionSource
  /** At least 0. */
  points: number
  occurredAt?: Date
  amountMinor?: number | null
  currency?: string | null
  deviceId?: string | null
  locationId?: string | null
  rewardId?: string | null
  redemptionId?: string | null
  reversesId?: string | null
  description?: string | null
  multiplier?: string | null
  promotionId?: string | null
  tierId?: string | null
  /** What spend (minor units) and tier progress change by; default 0. */
  spendMinor?: number
  earnedPoints?: number
  /** Completed reward redemptions; default 0. */
  redemptions?: number
}

/** Sources of which a completed row is a visit of its local day (docs: decisions, Points and transactions). */
export const VISITS: ReadonlySet<TransactionSource> = new Set(['api', 'terminal', 'code', 'reward', 'import'])

/** Sources whose earnings are purchases or codes: what tiers, referrals and the estimated spend go by. */
export const PURCHASES: ReadonlySet<TransactionSource> = new Set(['api', 'terminal', 'code', 'import'])

/** How many rows the counter of a business's transactions is spread over. */
const COUNT_SHARDS = 64

const postEntry = statement<{ balance: number; visitCount: number; lastVisitAt: Date | null }>(
  'ledger_post',
  `WITH visit AS (
     INSERT INTO visits (business_id, customer_id, date)
     SELECT $1, $2, $5::date WHERE $5::date IS NOT NULL
     ON CONFLICT DO NOTHING RETURNING 1
   ), account AS (
     UPDATE customers
        SET balance = balance + $4::int,
            visit_count = visit_count + (SELECT count(*)::int FROM visit),
            last_visit_at = CASE WHEN $5::date IS NULL THEN last_visit_at ELSE greatest(last_visit_at, $6::timestamptz) END,
            redemption_count = redemption_count + $7::int,
            spend_minor = spend_minor + $8::bigint,
            earned_points = earned_points + $9::bigint,
            unpriced_points = unpriced_points + CASE WHEN $14::bigint IS NULL THEN $9::bigint ELSE 0 END,
            ${setVisitHour('$26', '$27')},
            updated_at = $10::timestamptz
      WHERE business_id = $1 AND id = $2 AND balance - held + $4::int >= 0
     RETURNING balance, visit_count, last_visit_at
   ), row AS (
     INSERT INTO transactions (business_id, id, customer_id, type, status, source, points, amount_minor, currency,
                               device_id, location_id, reward_id, redemption_id, reverses_id, description,
                               occurred_at, created_at, multiplier, promotion_id, tier_id)
     SELECT $1, $3, $2, $11, 'completed', $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $6::timestamptz, $10::timestamptz,
            $23, $24, $25
       FROM account
     RETURNING type, status, points
   ), counted AS (
     INSERT INTO transaction_counts AS n (business_id, type, status, shard, count, points)
     SELECT $1, type, status, $22::smallint, 1, points FROM row
     ON CONFLICT (business_id, type, status, shard)
       DO UPDATE SET count = n.count + 1, points = n.points + excluded.points
   )
   SELECT balance, visit_count AS "visitCount", last_visit_at AS "lastVisitAt" FROM account`,
)

/**
 * Books an entry on a locked account and brings the account up to date. Throws INSUFFICIENT_POINTS with what is
 * free, or BALANCE_LIMIT_REACHED with the limit.
 */
export async function post(
  ctx: TransactionContext,
  account: CustomerAccount,
  entry: Entry,
): Promise<LedgerRow> {
  const delta = entry.type === 'earn' ? entry.points : -entry.points
  const free = account.balance - account.held
  if (free + delta < 0) throw new AppError('INSUFFICIENT_POINTS', free)
  if (delta > 0 && account.balance + delta > MAX_BALANCE && entry.source !== 'refund')
    throw new AppError('BALANCE_LIMIT_REACHED', MAX_BALANCE)

  const occurredAt = entry.occurredAt ?? ctx.now
  const visits = VISITS.has(entry.source)
  const { hour, timezone } = visits ? visitHour(account, occurredAt) : NO_VISIT_HOUR
  const row: LedgerRow = {
    businessId: ctx.business.id,
    id: uuidv7(),
    customerId: account.id,
    type: entry.type,
    status: 'completed',
    source: entry.source,
    points: entry.points,
    amountMinor: entry.amountMinor ?? null,
    currency: entry.currency ?? null,
    deviceId: entry.deviceId ?? null,
    locationId: entry.locationId ?? null,
    rewardId: entry.rewardId ?? null,
    redemptionId: entry.redemptionId ?? null,
    reversesId: entry.reversesId ?? null,
    description: entry.description ?? null,
    multiplier: entry.multiplier ?? null,
    promotionId: entry.promotionId ?? null,
    tierId: entry.tierId ?? null,
    occurredAt,
    createdAt: ctx.now,
  }
  const posted = await ctx.sql.row(postEntry, [
    row.businessId,
    row.customerId,
    row.id,
    delta,
    visits ? localDate(occurredAt, account.timezone) : null,
    occurredAt,
    entry.redemptions ?? 0,
    entry.spendMinor ?? 0,
    entry.earnedPoints ?? 0,
    row.createdAt,
    row.type,
    row.source,
    row.points,
    row.amountMinor,
    row.currency,
    row.deviceId,
    row.locationId,
    row.rewardId,
    row.redemptionId,
    row.reversesId,
    row.description,
    shardOf(row.customerId),
    row.multiplier,
    row.promotionId,
    row.tierId,
    hour,
    timezone,
  ])
  // The account is locked and was checked above: the guard in the statement is the database's own word.
  if (!posted) throw new AppError('INSUFFICIENT_POINTS', free)
  account.balance = posted.balance
  account.visitCount = posted.visitCount
  account.lastVisitAt = posted.lastVisitAt
  account.visitHoursTimezone ??= timezone
  account.redemptionCount += entry.redemptions ?? 0
  account.earnedPoints += entry.earnedPoints ?? 0
  account.spendMinor += entry.spendMinor ?? 0
  return row
}

/** The counter shard of a customer's rows. */
export const shardOf = (customerId: string): number =>
  Number.parseInt(customerId.slice(-2), 16) % COUNT_SHARDS

/** Books the expiry of points whose time has come; every balance change begins with it. */
export async function settleExpiry(
  ctx: TransactionContext,
  account: CustomerAccount,
): Promise<LedgerRow | undefined> {
  const expired = account.balance - usableBalance(account, account, ctx.now)
  if (expired <= 0) return undefined
  return post(ctx, account, { type: 'redeem', source: 'expiry', points: expired })
}

/** Takes what is free of a person who is erased: nobody is there to spend it (docs: decisions, Customers). */
export async function writeOff(ctx: TransactionContext, account: CustomerAccount): Promise<void> {
  const free = account.balance - account.held
  if (free > 0) await post(ctx, account, { type: 'redeem', source: 'erasure', points: free })
}
