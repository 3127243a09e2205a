import { v7 as uuidv7 } from 'uuid'
import type { TransactionContext } from '../context.js'
import { statement } from '../database/sql.js'
import { AppError } from '../errors.js'
import { localDate } from '../time.js'
import type { CustomerAccount } from './customer.js'
import { type LedgerRow, ledgerColumns, shardOf } from './ledger.js'
import { setVisitHour, visitHour } from './visit-hours.js'

/**
 * Points set aside while a digital value is fetched from a business's endpoint (spec §6): a pending `redeem` row and
 * `held` on the account. The balance stays as it is until the value is secured; then the row is completed and the
 * points go, or it fails and they are free again.
 */

const holdPoints = statement<{ held: number }>(
  'ledger_hold',
  `WITH account AS (
     UPDATE customers SET held = held + $4::int, updated_at = $7::timestamptz
      WHERE business_id = $1 AND id = $2 AND balance - held >= $4::int
     RETURNING held
   ), row AS (
     INSERT INTO transactions (business_id, id, customer_id, type, status, source, points, reward_id, redemption_id,
                               occurred_at, created_at)
     SELECT $1, $3, $2, 'redeem', 'pending', 'reward', $4::int, $5, $6, $7::timestamptz, $7::timestamptz FROM account
   ), counted AS (
     INSERT INTO transaction_counts AS n (business_id, type, status, shard, count, points)
     SELECT $1, 'redeem', 'pending', $8::smallint, 1, $4::int FROM account
     ON CONFLICT (business_id, type, status, shard)
       DO UPDATE SET count = n.count + 1, points = n.points + excluded.points
   )
   SELECT held FROM account`,
)

/** A redemption on its way, as far as the ledger is concerned. */
interface Held {
  id: string
  rewardId: string
  pointsCost: number
}

/** Sets a redemption's points aside on a locked account; throws INSUFFICIENT_POINTS with what is free. */
export async function hold(
  tx: TransactionContext,
  account: CustomerAccount,
  redemption: Held,
): Promise<void> {
  const { id, rewardId, pointsCost } = redemption
  const held = await tx.sql.row(holdPoints, [
    tx.business.id,
    account.id,
    uuidv7(),
    pointsCost,
    rewardId,
    id,
    tx.now,
    shardOf(account.id),
  ])
  if (!held) throw new AppError('INSUFFICIENT_POINTS', account.balance - account.held)
  account.held = held.held
}

/** Ends the pending row of a redemption and settles `account` with it. Nothing happens where none is pending. */
const end = (name: string, status: 'completed' | 'failed', account: string) =>
  statement<LedgerRow>(
    name,
    `WITH row AS (
       UPDATE transactions SET status = '${status}'
        WHERE business_id = $1 AND redemption_id = $3 AND type = 'redeem' AND source = 'reward' AND status = 'pending'
       RETURNING *
     ), ${account}, moved AS (
       INSERT INTO transaction_counts AS n (business_id, type, status, shard, count, points)
       SELECT $1, 'redeem', '${status}', $4::smallint, 1, points FROM row
       ON CONFLICT (business_id, type, status, shard)
         DO UPDATE SET count = n.count + 1, points = n.points + excluded.points
     ), left_pending AS (
       UPDATE transaction_counts n SET count = n.count - 1, points = n.points - row.points FROM row
        WHERE n.business_id = $1 AND n.type = 'redeem' AND n.status = 'pending' AND n.shard = $4::smallint
     )
     SELECT ${ledgerColumns} FROM row WHERE customer_id = $2`,
  )

const captureHeld = end(
  'ledger_capture',
  'completed',
  `visit AS (
     INSERT INTO visits (business_id, customer_id, date) SELECT $1, $2, $5::date FROM row
     ON CONFLICT DO NOTHING RETURNING 1
   ), account AS (
     UPDATE customers c
        SET balance = balance - row.points, held = held - row.points, redemption_count = redemption_count + 1,
            visit_count = visit_count + (SELECT count(*)::int FROM visit),
            last_visit_at = greatest(last_visit_at, row.occurred_at), ${setVisitHour('$7', '$8')},
            updated_at = $6::timestamptz
       FROM row WHERE c.business_id = $1 AND c.id = $2
   )`,
)
const releaseHeld = end(
  'ledger_release',
  'failed',
  `account AS (
     UPDATE customers c SET held = held - row.points, updated_at = $5::timestamptz
       FROM row WHERE c.business_id = $1 AND c.id = $2
   )`,
)

/** Takes the points that were set aside: the value is secured. Returns the completed row. */
export async function capture(
  tx: TransactionContext,
  account: CustomerAccount,
  redemption: { id: string; createdAt: Date },
): Promise<LedgerRow> {
  const { hour, timezone } = visitHour(account, redemption.createdAt)
  const row = await tx.sql.row(captureHeld, [
    tx.business.id,
    account.id,
    redemption.id,
    shardOf(account.id),
    localDate(redemption.createdAt, account.timezone),
    tx.now,
    hour,
    timezone,
  ])
  if (!row) throw holdsNothing(redemption)
  account.visitHoursTimezone ??= timezone
  account.balance -= row.points
  account.held -= row.points
  return row
}

/** Frees the points that were set aside: there is no value. */
export async function release(
  tx: TransactionContext,
  account: CustomerAccount,
  redemption: { id: string },
): Promise<void> {
  const row = await tx.sql.row(releaseHeld, [
    tx.business.id,
    account.id,
    redemption.id,
    shardOf(account.id),
    tx.now,
  ])
  if (!row) throw holdsNothing(redemption)
  account.held -= row.points
}

const holdsNothing = ({ id }: { id: string }) => new Error(`redemption ${id} holds no points`)
