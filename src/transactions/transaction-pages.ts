import type { Context } from '../context.js'
import type { PageRequest } from '../graphql/connection.js'
import { type LedgerRow, ledgerColumns } from '../ledger/ledger.js'
import { countOfDay, isCountedByDay, startOf, unsettledJoin } from './transaction-days.js'
import { boundsOf, compose, kindOf, ownerOf, type Wanted } from './transaction-filter.js'

/** From here on, jumping to the day of an offset is cheaper than walking to it. */
const DEEP_OFFSET = 1000

/** The rows of a page and one more, in the order of the page. */
export function readPage(ctx: Context, wanted: Wanted, request: PageRequest): Promise<LedgerRow[]> {
  const deep = request.offset >= DEEP_OFFSET && !request.backwards && isCountedByDay(wanted)
  return deep ? readDeepPage(ctx, wanted, request) : readNearPage(ctx, wanted, request)
}

function readNearPage(ctx: Context, wanted: Wanted, request: PageRequest): Promise<LedgerRow[]> {
  const values: unknown[] = [ctx.business.id, request.limit + 1, request.offset]
  const conditions = kindOf(wanted) + ownerOf(wanted, values) + boundsOf(wanted, request, values)
  const direction = request.backwards ? 'ASC' : 'DESC'
  const page = compose<LedgerRow>(
    `SELECT ${ledgerColumns} FROM transactions WHERE business_id = $1${conditions}
      ORDER BY created_at ${direction}, id ${direction} LIMIT $2 OFFSET $3`,
  )
  return ctx.sql.rows(page, values)
}

/**
 * A page that lies deep: the counts of closed days say in which of them the offset ends, so only the newest days, which
 * are not closed yet, and that one are walked through. One statement, so that counts and rows are of one moment.
 */
function readDeepPage(ctx: Context, wanted: Wanted, request: PageRequest): Promise<LedgerRow[]> {
  const { from, to } = wanted
  const kind = kindOf(wanted)
  const page = compose<LedgerRow>(
    `WITH days AS (
       SELECT d.day, ${countOfDay(wanted)} AS n FROM transaction_days d ${unsettledJoin(wanted)}
        WHERE d.business_id = $1 AND d.day < ($4::timestamptz AT TIME ZONE 'UTC')::date
     ), newest AS (
       SELECT count(*) AS n FROM (
         SELECT FROM transactions
          WHERE business_id = $1${kind} AND created_at < $4
            AND created_at >= coalesce((SELECT ${startOf('max(day) + 1')} FROM days), '-infinity')
          LIMIT $3::bigint + 1
       ) AS counted
     ), parts AS (
       SELECT $4::timestamptz AS until, n FROM newest WHERE n > 0
       UNION ALL SELECT ${startOf('day + 1')}, n FROM days
     ), start AS (
       SELECT until, $3::bigint - (upto - n) AS rest
         FROM (SELECT until, n, sum(n) OVER (ORDER BY until DESC)::bigint AS upto FROM parts) AS passed
        WHERE upto > $3::bigint ORDER BY until DESC LIMIT 1
     )
     SELECT ${ledgerColumns} FROM transactions
      WHERE business_id = $1${kind} AND created_at < (SELECT until FROM start) AND created_at >= $5
      ORDER BY created_at DESC, id DESC LIMIT $2 OFFSET (SELECT rest FROM start)`,
  )
  return ctx.sql.rows(page, [
    ctx.business.id,
    request.limit + 1,
    request.offset,
    to ?? 'infinity',
    from ?? '-infinity',
  ])
}
