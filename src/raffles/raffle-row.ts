import type { TransactionContext } from '../context.js'
import { statement } from '../database/sql.js'
import { AppError } from '../errors.js'
import type { RaffleCeiling, RaffleFields, RaffleMoments } from './raffles.rules.js'

/** A raffle, as what changes its state needs it; named as the model `Raffle`. */
export interface RaffleRow extends RaffleFields, RaffleMoments, RaffleCeiling {
  id: string
  totalEntries: number
  /** Null once the seed is public. */
  sealedSeed: Uint8Array | null
}

export const raffleColumns = `
  r.id, r.name, r.description, r.terms_conditions AS "termsConditions", r.starts_at AS "startsAt",
  r.ends_at AS "endsAt", r.points_cost AS "pointsCost", r.entries_per_user AS "entriesPerUser",
  r.winners_count AS "winnersCount", r.max_entries AS "maxEntries", r.max_entries_mode AS "maxEntriesMode",
  r.total_entries AS "totalEntries", r.unique_entrants AS "uniqueEntrants", r.sealed_seed AS "sealedSeed",
  r.drawn_at AS "drawnAt", r.completed_at AS "completedAt", r.cancelled_at AS "cancelledAt"`

// Foreign keys to the raffle need not wait for a change of its state.
const lock = statement<RaffleRow>(
  'lock_raffle',
  `SELECT ${raffleColumns} FROM raffles r
    WHERE r.business_id = $1 AND r.id = $2 AND r.deleted_at IS NULL FOR NO KEY UPDATE`,
)

/**
 * The raffle, locked until the transaction ends: entries count themselves on its row as the last thing they do, so none
 * is under way any more, and those that come later find what was done here. Throws RAFFLE_NOT_FOUND.
 */
export async function lockRaffle(tx: TransactionContext, id: string): Promise<RaffleRow> {
  const raffle = await tx.sql.row(lock, [tx.business.id, id])
  if (!raffle) throw new AppError('RAFFLE_NOT_FOUND')
  return raffle
}
