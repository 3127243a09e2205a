import type { TransactionContext } from '../context.js'
import type { CustomerAddress } from '../customers/address.js'
import { accountStatements, type CustomerAccount, takeAccount } from '../ledger/customer.js'
import type { Multiplier } from '../promotions/promotions.rules.js'

/** A locked account with all that decides what an earning of some moment is worth. */
export interface Earner extends CustomerAccount {
  /** The promotions that multiply on the day of the earning, or on the one before or after it. */
  promotionsNear: readonly Multiplier[] | null
}

/**
 * In the statement that locks, so that what a business does not use costs it no round trip. A day on either side of
 * UTC's holds the local day of any zone.
 */
const EARNER_COLUMNS = `
  (SELECT json_agg(json_build_object('id', p.id, 'pointsMultiplier', p.points_multiplier::text,
                                     'startDate', p.start_date, 'endDate', p.end_date))
     FROM promotions p
    WHERE p.business_id = $1 AND p.active AND p.points_multiplier IS NOT NULL AND p.deleted_at IS NULL
      AND (p.start_date IS NULL OR p.start_date <= ($3::timestamptz)::date + 1)
      AND (p.end_date IS NULL OR p.end_date >= ($3::timestamptz)::date - 1)) AS "promotionsNear"`

const statements = accountStatements<Earner>('lock_earner', { lock: true, further: EARNER_COLUMNS })

/** The account, locked as by `lockAccount`, for an earning of `occurredAt`. Throws as `lockAccount`. */
export const lockEarner = (
  tx: TransactionContext,
  address: CustomerAddress,
  occurredAt: Date,
): Promise<Earner> => takeAccount(tx, address, statements, [occurredAt])
