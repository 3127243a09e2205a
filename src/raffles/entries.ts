import { v7 as uuidv7 } from 'uuid'
import { type Context, type TransactionContext, transaction } from '../context.js'
import type { CustomerAddress } from '../customers/address.js'
import { statement } from '../database/sql.js'
import { AppError } from '../errors.js'
import { type CustomerAccount, lockAccount } from '../ledger/customer.js'
import { type LedgerRow, post, settleExpiry } from '../ledger/ledger.js'
import { type RaffleRow, raffleColumns } from './raffle-row.js'
import { availabilityOf, roomLeft } from './raffles.rules.js'

/** Entries that somebody has just paid for. */
export interface NewEntries {
  raffleId: string
  customerId: string
  /** Stands for the customer in the public list of the draw. */
  entrantId: string
  entries: number
  /** All that the customer has in this raffle. */
  userEntries: number
  transaction: LedgerRow
  balance: CustomerAccount
}

/** A raffle and what one customer has in it already. */
type RaffleAndOwn = RaffleRow & { ownEntries: number | null }

const findRaffle = statement<RaffleAndOwn>(
  'find_raffle_to_enter',
  `SELECT ${raffleColumns}, e.entries AS "ownEntries"
     FROM raffles r LEFT JOIN raffle_entrants e
       ON e.business_id = r.business_id AND e.raffle_id = r.id AND e.customer_id = $3
    WHERE r.business_id = $1 AND r.id = $2 AND r.deleted_at IS NULL`,
)

// The raffle's row is shared by all who enter, so it is taken last; its guard is the word on everything that others
// may have changed since it was read.
const addEntries = statement<{ entrantId: string; userEntries: number }>(
  'enter_raffle',
  `WITH raffle AS (
     UPDATE raffles
        SET total_entries = total_entries + $5::int, unique_entrants = unique_entrants + $8::int
      WHERE business_id = $1 AND id = $2 AND deleted_at IS NULL AND drawn_at IS NULL AND cancelled_at IS NULL
        AND starts_at <= $7::timestamptz AND ends_at > $7::timestamptz
        AND points_cost = $9::int AND entries_per_user = $10::int
        AND (max_entries IS NULL OR max_entries >= CASE max_entries_mode
               WHEN 'total' THEN total_entries + $5::int ELSE unique_entrants + $8::int END)
     RETURNING id
   ), entrant AS (
     INSERT INTO raffle_entrants AS e (business_id, id, raffle_id, customer_id, entries, created_at)
     SELECT $1, $3, raffle.id, $4, $5::int, $7::timestamptz FROM raffle
     ON CONFLICT (business_id, raffle_id, customer_id) DO UPDATE SET entries = e.entries + excluded.entries
     RETURNING id, entries
   )
   INSERT INTO raffle_entries (business_id, transaction_id, entrant_id, entries, created_at)
   SELECT $1, $6, entrant.id, $5::int, $7::timestamptz FROM entrant
   RETURNING entrant_id AS "entrantId", (SELECT entries FROM entrant) AS "userEntries"`,
)

/** The raffle's terms were changed while somebody entered it: like a serialization failure, all of it begins again. */
class ChangedMeanwhile extends Error {
  readonly code = '40001'
}

/**
 * Takes entries for a customer, all of them or none, and the points for them. Throws CUSTOMER_ADDRESS,
 * CUSTOMER_NOT_FOUND, RAFFLE_NOT_FOUND, RAFFLE_NOT_OPEN with the availability, RAFFLE_ENTRY_LIMIT_REACHED with the
 * limit, RAFFLE_FULL, or INSUFFICIENT_POINTS with what is free, in this order.
 */
export function enterRaffle(
  ctx: Context,
  { raffleId, entries, ...address }: CustomerAddress & { raffleId: string; entries: number },
): Promise<NewEntries> {
  return transaction(ctx, async (tx) => {
    // Until the end nobody else can change what this customer has in any raffle.
    const account = await lockAccount(tx, address)
    const raffle = await openRaffle(tx, raffleId, account.id, entries)
    await settleExpiry(tx, account)
    const points = raffle.pointsCost * entries
    const row = await post(tx, account, { type: 'redeem', source: 'raffle', points })
    const added = await tx.sql.row(addEntries, [
      tx.business.id,
      raffleId,
      uuidv7(),
      account.id,
      entries,
      row.id,
      tx.now,
      raffle.ownEntries === null ? 1 : 0,
      raffle.pointsCost,
      raffle.entriesPerUser,
    ])
    if (!added) {
      await openRaffle(tx, raffleId, account.id, entries)
      throw new ChangedMeanwhile()
    }
    return { raffleId, customerId: account.id, entries, ...added, transaction: row, balance: account }
  })
}

/** The raffle, if it takes so many entries of the customer. */
async function openRaffle(
  tx: TransactionContext,
  raffleId: string,
  customerId: string,
  entries: number,
): Promise<RaffleAndOwn> {
  const raffle = await tx.sql.row(findRaffle, [tx.business.id, raffleId, customerId])
  if (!raffle) throw new AppError('RAFFLE_NOT_FOUND')
  const availability = availabilityOf(raffle, tx.now)
  if (availability === 'upcoming' || availability === 'closed')
    throw new AppError('RAFFLE_NOT_OPEN', availability)
  if ((raffle.ownEntries ?? 0) + entries > raffle.entriesPerUser)
    throw new AppError('RAFFLE_ENTRY_LIMIT_REACHED', raffle.entriesPerUser)
  const needed = raffle.maxEntriesMode === 'total' ? entries : raffle.ownEntries === null ? 1 : 0
  if (needed > (roomLeft(raffle) ?? needed)) throw new AppError('RAFFLE_FULL')
  return raffle
}
