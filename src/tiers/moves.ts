import { v7 as uuidv7 } from 'uuid'
import type { TransactionContext } from '../context.js'
import type { TierChangeReason } from '../database/generated/prisma/client.js'
import { statement } from '../database/sql.js'
import { MAX_BALANCE, post } from '../ledger/ledger.js'
import type { Earner } from '../points/earner.js'
import { progressOf, windowStart } from './progress.js'
import { passed, tierAfterCheck, tierFor } from './tiers.rules.js'

/** Moves a customer whose account is locked from tier to tier; each move is a row of the customer's history. */

const moveTo = statement<never>(
  'move_to_tier',
  `WITH moved AS (
     UPDATE customers SET tier_id = $3, updated_at = $7
      WHERE business_id = $1 AND id = $2
        AND ($3::uuid IS NULL
             OR EXISTS (SELECT FROM tiers t WHERE t.business_id = $1 AND t.id = $3 AND t.deleted_at IS NULL))
     RETURNING 1
   )
   INSERT INTO tier_changes (business_id, id, customer_id, from_tier_id, to_tier_id, reason, created_at)
   SELECT $1, $4, $2, $5, $3, $6, $7 FROM moved`,
)

/** Returns false, having done nothing, where the tier was deleted since it was read: the job comes for all. */
async function move(
  tx: TransactionContext,
  customer: Earner,
  tierId: string | null,
  reason: TierChangeReason,
): Promise<boolean> {
  const from = customer.tierId
  const moved = await tx.sql.run(moveTo, [
    tx.business.id,
    customer.id,
    tierId,
    uuidv7(),
    from,
    reason,
    tx.now,
  ])
  if (moved === 0) return false
  customer.tierId = tierId
  return true
}

const bonusesPaid = statement<{ tierId: string }>(
  'tier_bonuses_paid',
  `SELECT tier_id AS "tierId" FROM transactions
    WHERE business_id = $1 AND customer_id = $2 AND source = 'tier_bonus'`,
)

/**
 * Moves a customer up to the tier that the progress reaches, if that is a better one, and pays the bonus of every tier
 * passed on the way, once for a customer and tier. The bonuses themselves move nobody. Returns whether it moved.
 */
export async function raise(tx: TransactionContext, customer: Earner): Promise<boolean> {
  const { tierSystem: system } = customer
  const from = customer.tier?.rank ?? -1
  if (!system?.tiers.some(({ rank }) => rank > from)) return false
  const progress = await progressOf(tx, [customer], system, customer)
  const reached = tierFor(progress.get(customer.id)!, system.tiers)
  if (!reached || reached.rank <= from) return false

  if (!(await move(tx, customer, reached.id, 'upgrade'))) return false
  const paid = new Set(
    (await tx.sql.rows(bonusesPaid, [tx.business.id, customer.id])).map(({ tierId }) => tierId),
  )
  for (const { id, reachBonusPoints } of passed(from, reached.rank, system.tiers))
    if (!paid.has(id))
      await payBonus(tx, customer, { source: 'tier_bonus', points: reachBonusPoints, tierId: id })
  return true
}

/** Books a bonus, or as much of it as the limit of a balance leaves room for; returns its row's id. */
export async function payBonus(
  tx: TransactionContext,
  account: Earner,
  { source, points, tierId }: { source: 'tier_bonus' | 'referral'; points: number; tierId: string },
): Promise<string | undefined> {
  const fitting = Math.min(points, MAX_BALANCE - account.balance)
  if (fitting <= 0) return undefined
  return (await post(tx, account, { type: 'earn', source, points: fitting, tierId })).id
}

const lastDowngrade = statement<{ at: Date | null }>(
  'last_downgrade',
  `SELECT max(created_at) AS at FROM tier_changes
    WHERE business_id = $1 AND customer_id = $2 AND reason = 'downgrade'`,
)

/** Moves a customer down as the policy says, who is not as far any more as the tier asks. Returns whether it moved. */
export async function lower(tx: TransactionContext, customer: Earner): Promise<boolean> {
  const { tierSystem: system, tierId } = customer
  const current = system?.tiers.find(({ id }) => id === tierId)
  if (!system || !current || system.period !== 'rolling') return false
  const progress = (await progressOf(tx, [customer], system, customer)).get(customer.id)!
  const { at } = (await tx.sql.row(lastDowngrade, [tx.business.id, customer.id]))!
  const cameDown = at !== null && at > windowStart(tx, system, customer.timezone)
  const left = tierAfterCheck({ current, progress, cameDown }, system.downgradePolicy, system.tiers)
  if (left?.id === current.id) return false
  return move(tx, customer, left?.id ?? null, 'downgrade')
}

/**
 * Judges a customer by tiers or settings that have changed: up where that is reached now, and out of a tier that is
 * there no more. Down for any other reason only the daily check leads. Returns whether it moved.
 */
export async function reassess(tx: TransactionContext, customer: Earner): Promise<boolean> {
  // The account shows no tier where the one that it names was deleted.
  if (customer.tierId === null || customer.tier !== null) return raise(tx, customer)
  const { tierSystem: system } = customer
  const progress = system && (await progressOf(tx, [customer], system, customer)).get(customer.id)!
  const left = system && tierFor(progress!, system.tiers)
  return move(tx, customer, left?.id ?? null, 'tier_deleted')
}
