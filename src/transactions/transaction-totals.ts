import type { Context } from '../context.js'
import { type Statement, statement } from '../database/sql.js'
import { countOfDay, isCountedByDay, startOf, unsettledJoin } from './transaction-days.js'
import { compose, kindOf, ownerOf, type Wanted } from './transaction-filter.js'

interface Count {
  count: number
}

const keptCount = statement<Count>(
  'count_transactions',
  `SELECT coalesce(sum(count), 0)::bigint AS count FROM transaction_counts
    WHERE business_id = $1 AND ($2::transaction_type IS NULL OR type = $2)
      AND ($3::transaction_status IS NULL OR status = $3)`,
)

/**
 * How many transactions a filter has, exactly. By type and status the counters that are kept with the rows say it; a
 * range of time adds up its closed days and reads the rows of the days at its ends; a customer's or a terminal's rows
 * and those that are not completed are counted, which costs as much as there are of them in the range.
 */
export async function countTransactions(ctx: Context, wanted: Wanted): Promise<number> {
  const { type, status, customerId, deviceId, from, to } = wanted
  const count = async (by: Statement<Count>, values: readonly unknown[]) =>
    (await ctx.sql.row(by, values))!.count
  if (!customerId && !deviceId && !from && !to)
    return count(keptCount, [ctx.business.id, type ?? null, status ?? null])
  const values: unknown[] = [ctx.business.id, from ?? '-infinity', to ?? 'infinity']
  return isCountedByDay(wanted)
    ? count(countByDays(wanted), values)
    : count(countRows(kindOf(wanted) + ownerOf(wanted, values)), values)
}

const rowsBetween = (conditions: string, from: string, to: string): string =>
  `SELECT count(*) FROM transactions WHERE business_id = $1${conditions} AND created_at >= ${from} AND created_at < ${to}`

const countRows = (conditions: string) =>
  compose<Count>(`SELECT (${rowsBetween(conditions, '$2::timestamptz', '$3::timestamptz')}) AS count`)

/** The closed days that lie in the range whole, and what is left of it before and after them. */
const countByDays = (wanted: Wanted) => {
  const kind = kindOf(wanted)
  return compose<Count>(
    `WITH days AS (
       SELECT sum(${countOfDay(wanted)}) AS n, ${startOf('min(d.day)')} AS first, ${startOf('max(d.day) + 1')} AS past
         FROM transaction_days d ${unsettledJoin(wanted)}
        WHERE d.business_id = $1 AND d.day < ($3::timestamptz AT TIME ZONE 'UTC')::date
          AND ${startOf('d.day')} >= $2::timestamptz
     )
     SELECT (coalesce((SELECT n FROM days), 0)
        + (${rowsBetween(kind, '$2::timestamptz', '(SELECT coalesce(first, $3::timestamptz) FROM days)')})
        + (${rowsBetween(kind, '(SELECT past FROM days)', '$3::timestamptz')}))::bigint AS count`,
  )
}
