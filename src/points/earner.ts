import type { TransactionContext } from '../context.js'
import type { CustomerAddress } from '../customers/address.js'
import { AppError } from '../errors.js'
import {
  type AccountTier,
  accountStatements,
  accountTier,
  type CustomerAccount,
  takeAccount,
} from '../ledger/customer.js'
import type { Multiplier } from '../promotions/promotions.rules.js'
import { type TierSystem, tierSystemColumn } from '../tiers/progress.js'

/** A locked account with all that decides what an earning of some moment is worth and leads to. */
export interface Earner extends CustomerAccount {
  /** The tier at that moment, with what it gives now. */
  tierThen: AccountTier | null
  /** The promotions that multiply on the day of the earning, or on the one before or after it. */
  promotionsNear: readonly Multiplier[] | null
  tierSystem: TierSystem | null
  /** Who brought a customer who has earned nothing yet. */
  unpaidReferrerId: string | null
}

/**
 * The promotions of business `$1` that may multiply at a moment, as SQL: a day on either side of UTC's holds the local
 * day of any zone.
 */
export const promotionsNear = (moment: string): string => `
  (SELECT json_agg(json_build_object('id', p.id, 'pointsMultiplier', p.points_multiplier::text,
                                     'startDate', p.start_date, 'endDate', p.end_date))
     FROM promotions p
    WHERE p.business_id = $1 AND p.active AND p.points_multiplier IS NOT NULL AND p.deleted_at IS NULL
      AND (p.start_date IS NULL OR p.start_date <= (${moment})::date + 1)
      AND (p.end_date IS NULL OR p.end_date >= (${moment})::date - 1))`

/**
 * In the statement that locks, so that what a business does not use costs it no round trip. `$3` is the moment of the
 * earning, `$4` whether it is dated back.
 */
const EARNER_COLUMNS = `
  CASE WHEN $4::boolean THEN (
    SELECT (SELECT ${accountTier('t')} FROM tiers t WHERE t.business_id = h.business_id AND t.id = h.to_tier_id)
      FROM tier_changes h
     WHERE h.business_id = c.business_id AND h.customer_id = c.id AND h.created_at <= $3::timestamptz
     ORDER BY h.created_at DESC, h.id DESC LIMIT 1) END AS "tierThen",
  ${promotionsNear('$3::timestamptz')} AS "promotionsNear",
  ${tierSystemColumn},
  CASE WHEN c.referred_by IS NOT NULL AND NOT EXISTS (
    SELECT FROM transactions e
     WHERE e.business_id = c.business_id AND e.customer_id = c.id AND e.type = 'earn' AND e.points > 0
       AND e.source IN ('api', 'terminal', 'code', 'import'))
  THEN c.referred_by END AS "unpaidReferrerId"`

const statements = accountStatements<Earner>('lock_earner', { lock: true, further: EARNER_COLUMNS })

/**
 * The account, locked as by `lockAccount`, for an earning of a past moment, or of now where that is null. Throws as
 * `lockAccount`.
 */
export async function lockEarner(
  tx: TransactionContext,
  address: CustomerAddress,
  occurredAt: Date | null,
): Promise<Earner> {
  const moment = [occurredAt ?? tx.now, occurredAt !== null]
  const earner = await takeAccount(tx, address, statements, moment)
  return occurredAt === null ? { ...earner, tierThen: earner.tier } : earner
}

/** As `lockEarner` for now; undefined where the customer was erased, which a job may find between two looks. */
export async function lockUnlessErased(tx: TransactionContext, userId: string): Promise<Earner | undefined> {
  try {
    return await lockEarner(tx, { userId }, null)
  } catch (error) {
    if (error instanceof AppError && error.code === 'CUSTOMER_NOT_FOUND') return undefined
    throw error
  }
}
