import type { TransactionContext } from '../context.js'
import { type Entry, type LedgerRow, post } from '../ledger/ledger.js'
import { raise } from '../tiers/moves.js'
import { noteReferral } from '../tiers/referrals.js'
import type { Earner } from './earner.js'

/**
 * Books an earning on a locked account with all that follows from it: the tiers that it reaches, their bonuses, and
 * the bonus of who brought the customer. Throws as `post`.
 */
export async function earn(tx: TransactionContext, earner: Earner, entry: Entry): Promise<LedgerRow> {
  const row = await post(tx, earner, entry)
  await raise(tx, earner)
  await noteReferral(tx, earner, row)
  return row
}
