import type { Context } from '../context.js'
import { type Page, type PageArgs, pageOf, pageRequest } from '../graphql/connection.js'
import type { LedgerRow } from '../ledger/ledger.js'
import { resolveFilter, type TransactionFilter } from './transaction-filter.js'
import { readPage } from './transaction-pages.js'
import { countTransactions } from './transaction-totals.js'

export interface TransactionFilter {
  type?: 'earn' | 'redeem' | null | undefined
  status?: 'pending' | 'completed' | 'failed' | null | undefined
  deviceId?: string | null | undefined
}

/** One prepared statement for each set of conditions that occurs; the hot list stays one statement. */
const statements = new Map<string, Statement<LedgerRow>>()
function listStatement(conditions: readonly string[], backwards: boolean): Statement<LedgerRow> {
  const direction = backwards ? 'ASC' : 'DESC'
  const where = ['business_id = $1', ...conditions].join(' AND ')
  const key = `${where} ${direction}`
  let known = statements.get(key)
  if (!known) {
    known = statement(
      `list_transactions_${statements.size}`,
      `SELECT ${ledgerColumns} FROM transactions WHERE ${where}
        ORDER BY created_at ${direction}, id ${direction} LIMIT $2 OFFSET $3`,
    )
    statements.set(key, known)
  }
  return known
}

const countTransactions = statement<{ count: number }>(
  'count_transactions',
  `SELECT coalesce(sum(count), 0)::bigint AS count FROM transaction_counts
    WHERE business_id = $1 AND ($2::transaction_type IS NULL OR type = $2)
      AND ($3::transaction_status IS NULL OR status = $3)`,
)

const countOfDevice = statement<{ count: number }>(
  'count_transactions_of_device',
  `SELECT count(*) AS count FROM transactions
    WHERE business_id = $1 AND ($2::transaction_type IS NULL OR type = $2)
      AND ($3::transaction_status IS NULL OR status = $3) AND device_id = $4`,
)

/**
 * The ledger, newest first. `totalCount` is exact; but for one device's it costs no scan: counters are kept with the
 * rows.
 */
export async function listTransactions(
  ctx: Context,
  { type, status, deviceId, ...page }: TransactionFilter & PageArgs,
): Promise<Page<LedgerRow>> {
  const request = pageRequest(page)
  const values: unknown[] = [ctx.business.id, request.limit + 1, request.offset]
  const conditions: string[] = []
  const add = (condition: (place: string) => string, ...given: unknown[]) => {
    const from = values.length + 1
    values.push(...given)
    conditions.push(condition(given.map((_, index) => `$${from + index}`).join(', ')))
  }
  if (type) add((place) => `type = ${place}`, type)
  if (status) add((place) => `status = ${place}`, status)
  if (deviceId) add((place) => `device_id = ${place}`, deviceId)
  if (request.after)
    add((places) => `(created_at, id) < (${places})`, request.after.createdAt, request.after.id)
  if (request.before)
    add((places) => `(created_at, id) > (${places})`, request.before.createdAt, request.before.id)

  const found = await ctx.sql.rows(listStatement(conditions, request.backwards), values)
  return pageOf(request, found, async () => {
    const counted = [ctx.business.id, type ?? null, status ?? null]
    const row = deviceId
      ? await ctx.sql.row(countOfDevice, [...counted, deviceId])
      : await ctx.sql.row(countTransactions, counted)
    return row!.count
  })
}

/**
 * The ledger, newest first by when it was booked. `totalCount` is exact. Throws CUSTOMER_ADDRESS where both a user id
 * and an identifier are given.
 */
export async function listTransactions(
  ctx: Context,
  { first, after, last, before, offset, ...filter }: TransactionFilter & PageArgs,
): Promise<Page<LedgerRow>> {
  const request = pageRequest({ first, after, last, before, offset })
  const wanted = await resolveFilter(ctx, filter)
  if (!wanted) return pageOf(request, [], async () => 0)
  return pageOf(request, await readPage(ctx, wanted, request), () => countTransactions(ctx, wanted))
}
