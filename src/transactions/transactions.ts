import type { Context } from '../context.js'
import { type Page, type PageArgs, pageOf, pageRequest } from '../graphql/connection.js'
import type { LedgerRow } from '../ledger/ledger.js'
import { resolveFilter, type TransactionFilter } from './transaction-filter.js'
import { readPage } from './transaction-pages.js'
import { countTransactions } from './transaction-totals.js'

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
