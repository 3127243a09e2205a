import { statement } from '../database/sql.js'
import type { Sweep } from '../jobs/sweeps.js'
import type { Wanted } from './transaction-filter.js'

/**
 * Closed days: how many transactions were booked on each day (UTC) that is over. Rows are booked at the moment of
 * their request, never deleted, and keep their type, so these counts stand for good and no write pays for them. A list
 * uses them to jump to the day that a deep offset lies in, and to count a range of days without reading its rows.
 */

/** How many rows of a filter's kind a closed day `d` has, as SQL; its joins are those of `unsettledJoin`. */
export const countOfDay = ({ type, status }: Pick<Wanted, 'type' | 'status'>): string => {
  const booked = type ? `d.${type}_count` : 'd.earn_count + d.redeem_count'
  return status ? `${booked} - coalesce(u.unsettled, 0)` : booked
}

/** Whether the counts of days tell about a filter: they know neither customers nor terminals. */
export const isCountedByDay = ({ status, customerId, deviceId }: Wanted): boolean =>
  !customerId && !deviceId && (status == null || status === 'completed')

/** The rows of each day that did not come to be completed: few, and found by an index of their own. */
export const unsettledJoin = ({ type, status }: Pick<Wanted, 'type' | 'status'>): string =>
  status
    ? `LEFT JOIN (
         SELECT (created_at AT TIME ZONE 'UTC')::date AS day, count(*) AS unsettled FROM transactions
          WHERE business_id = $1 AND status <> 'completed'${type ? ` AND type = '${type}'` : ''} GROUP BY 1
       ) u ON u.day = d.day`
    : ''

/** The first moment of a day, as SQL. */
export const startOf = (day: string): string => `(${day})::timestamp AT TIME ZONE 'UTC'`

const DAY_MS = 24 * 60 * 60 * 1000

/** A day is closed a whole day after its end: no request lives that long, however late it commits. */
const closedBefore = (now: Date): Date => new Date(Math.floor(now.getTime() / DAY_MS) * DAY_MS - DAY_MS)

const listBusinesses = statement<{ id: string }>(
  'businesses_to_close_days_of',
  'SELECT id FROM businesses WHERE id > $1 ORDER BY id LIMIT $2',
)
const firstOpenRow = statement<{ createdAt: Date | null }>(
  'first_transaction_of_open_days',
  `SELECT min(created_at) AS "createdAt" FROM transactions
    WHERE business_id = $1 AND created_at >= coalesce(
      (SELECT ${startOf('max(day) + 1')} FROM transaction_days WHERE business_id = $1), '-infinity')`,
)
const close = statement<never>(
  'close_transaction_days',
  `INSERT INTO transaction_days (business_id, day, earn_count, redeem_count)
   SELECT $1, (created_at AT TIME ZONE 'UTC')::date, count(*) FILTER (WHERE type = 'earn'),
          count(*) FILTER (WHERE type = 'redeem')
     FROM transactions WHERE business_id = $1 AND created_at >= $2 AND created_at < $3
    GROUP BY 2
   ON CONFLICT DO NOTHING`,
)

const BUSINESSES_AT_ONCE = 500
/** Of one statement: the first run of an installation that has years behind it closes them all. */
const DAYS_AT_ONCE = 31

/** Closes the days that are over, of every business. Two instances that do so at once write the same counts. */
export const closeTransactionDays: Sweep = async ({ database, clock }) => {
  const until = closedBefore(clock.now())
  let closed = 0
  let after = '00000000-0000-0000-0000-000000000000'
  for (;;) {
    const businesses = await database.sql.rows(listBusinesses, [after, BUSINESSES_AT_ONCE])
    for (const { id } of businesses) {
      for (;;) {
        const { createdAt } = (await database.sql.row(firstOpenRow, [id]))!
        if (!createdAt || createdAt >= until) break
        const from = Math.floor(createdAt.getTime() / DAY_MS) * DAY_MS
        const to = Math.min(until.getTime(), from + DAYS_AT_ONCE * DAY_MS)
        closed += await database.sql.run(close, [id, new Date(from), new Date(to)])
      }
    }
    if (businesses.length < BUSINESSES_AT_ONCE) return closed
    after = businesses.at(-1)!.id
  }
}
