import { enter, type Services, type TransactionContext, transaction, unattendedContext } from '../context.js'
import { statement } from '../database/sql.js'
import { type LedgerRow, PURCHASES } from '../ledger/ledger.js'
import { type Earner, lockUnlessErased } from '../points/earner.js'
import { payBonus } from './moves.js'

/**
 * The bonus of a customer who brought another one (docs: decisions, Tiers): noted with the first earning of who was
 * brought, paid right after that is committed in a transaction of its own (so none locks two customers, and no two
 * wait for each other), and by a sweep where a crash came between.
 */

const note = statement<never>(
  'note_referral',
  `INSERT INTO referrals (business_id, customer_id, referrer_id, created_at) VALUES ($1, $2, $3, $4)
   ON CONFLICT DO NOTHING`,
)

/** Notes the first earning of a customer who was brought by another one. */
export async function noteReferral(tx: TransactionContext, earner: Earner, row: LedgerRow): Promise<void> {
  const { id, unpaidReferrerId } = earner
  if (unpaidReferrerId === null || row.points === 0 || !PURCHASES.has(row.source)) return
  // Two first earnings at once see none before them; the key lets one of them in.
  const noted = await tx.sql.run(note, [tx.business.id, id, unpaidReferrerId, tx.now])
  if (noted === 0) return
  tx.afterCommit(async () => {
    // What fails now the sweep does within a minute.
    await tx.database.transaction((open) => settle(enter(tx, open), id, unpaidReferrerId)).catch(() => {})
  })
}

const close = statement<{ one: number }>(
  'settle_referral',
  `UPDATE referrals SET settled_at = $3 WHERE business_id = $1 AND customer_id = $2 AND settled_at IS NULL
   RETURNING 1 AS one`,
)
const pay = statement<never>(
  'pay_referral',
  'UPDATE referrals SET transaction_id = $3 WHERE business_id = $1 AND customer_id = $2',
)

/** Pays the referrer what the referrer's own tier gives; returns whether it was still to be done. */
async function settle(tx: TransactionContext, customerId: string, referrerId: string): Promise<boolean> {
  const referrer = await lockUnlessErased(tx, referrerId)
  const settled = await tx.sql.row(close, [tx.business.id, customerId, tx.now])
  if (!settled) return false
  if (!referrer?.tier) return true
  const points = referrer.tier.referralBonusPoints
  const paid = await payBonus(tx, referrer, { source: 'referral', points, tierId: referrer.tierId! })
  if (paid) await tx.sql.run(pay, [tx.business.id, customerId, paid])
  return true
}

const due = statement<{ customerId: string; referrerId: string; businessId: string; timezone: string }>(
  'referrals_due',
  `SELECT r.customer_id AS "customerId", r.referrer_id AS "referrerId", r.business_id AS "businessId", b.timezone
     FROM referrals r JOIN businesses b ON b.id = r.business_id
    WHERE r.settled_at IS NULL ORDER BY r.created_at LIMIT $1`,
)
const BATCH = 500

/** Pays what a crash left unpaid. Returns how many it settled. */
export async function settleReferrals(services: Services): Promise<number> {
  let settled = 0
  for (;;) {
    const left = await services.database.sql.rows(due, [BATCH])
    for (const { businessId, timezone, customerId, referrerId } of left) {
      const ctx = unattendedContext(services, { id: businessId, timezone }, { kind: 'job' })
      if (await transaction(ctx, (tx) => settle(tx, customerId, referrerId))) settled++
    }
    if (left.length < BATCH) return settled
  }
}
