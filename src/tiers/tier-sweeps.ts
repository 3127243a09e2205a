import { type Services, type TransactionContext, transaction, unattendedContext } from '../context.js'
import { type Statement, statement } from '../database/sql.js'
import { type Earner, lockUnlessErased } from '../points/earner.js'
import { lower, reassess } from './moves.js'
import { type Counted, progressOf, type TierSystem, tierSystemColumn } from './progress.js'
import { tierFor } from './tiers.rules.js'

/**
 * What becomes of all customers of a business: when tiers or settings change, and every day where the period rolls.
 * Pages through the customers; who seems to have to move is locked, judged anew and moved in a transaction of their
 * own, so that any number of instances may be at it.
 */

interface Business {
  id: string
  timezone: string
  currency: string
  /** Null where it is switched off. */
  tierSystem: TierSystem | null
}

type Candidate = Counted & { tierId: string | null; rank: number | null }

const PAGE = 500
const FIRST_ID = '00000000-0000-0000-0000-000000000000'

const business = statement<Business>(
  'business_with_tiers',
  `SELECT b.id, b.timezone, b.currency, ${tierSystemColumn} FROM businesses b WHERE b.id = $1`,
)
const page = statement<Candidate>(
  'customers_for_tiers',
  `SELECT c.id, c.balance, c.earned_points AS "earnedPoints", c.spend_minor AS "spendMinor", c.tier_id AS "tierId", t.rank
     FROM customers c LEFT JOIN tiers t ON t.business_id = c.business_id AND t.id = c.tier_id AND t.deleted_at IS NULL
    WHERE c.business_id = $1 AND c.id > $2 AND c.erased_at IS NULL ORDER BY c.id LIMIT $3`,
)

type Move = (tx: TransactionContext, customer: Earner) => Promise<boolean>

/** Moves those customers of a business for whom `seems` so, judging by their rank (-1 = no tier) and the one earned. */
async function moveCustomers(
  services: Services,
  { id, timezone, currency, tierSystem }: Business,
  seems: (candidate: Candidate, earnedRank: number) => boolean,
  move: Move,
): Promise<number> {
  let moved = 0
  let after = FIRST_ID
  for (;;) {
    const ctx = unattendedContext(services, { id, timezone }, { kind: 'job' })
    const candidates = await ctx.sql.rows(page, [id, after, PAGE])
    const progress = tierSystem && (await progressOf(ctx, candidates, tierSystem, { currency, timezone }))
    for (const candidate of candidates) {
      const earned = progress && tierFor(progress.get(candidate.id)!, tierSystem!.tiers)
      if (!seems(candidate, earned?.rank ?? -1)) continue
      const done = await transaction(ctx, async (tx) => {
        const customer = await lockUnlessErased(tx, candidate.id)
        return customer !== undefined && move(tx, customer)
      })
      if (done) moved++
    }
    if (candidates.length < PAGE) return moved
    after = candidates.at(-1)!.id
  }
}

async function forEach<Row extends { businessId: string }>(
  services: Services,
  which: Statement<Row>,
  work: (business: Business, row: Row) => Promise<number>,
): Promise<number> {
  let moved = 0
  for (const row of await services.database.sql.rows(which, []))
    moved += await work((await services.database.sql.row(business, [row.businessId]))!, row)
  return moved
}

const rolling = statement<{ businessId: string }>(
  'businesses_with_downgrades',
  `SELECT business_id AS "businessId" FROM tier_settings
    WHERE enabled AND period = 'rolling' AND downgrade_policy <> 'none'`,
)

/** The daily check: who has fallen behind in the rolling period goes down. Returns how many moved. */
export const downgradeTiers = (services: Services): Promise<number> =>
  forEach(services, rolling, (each) =>
    moveCustomers(services, each, ({ rank }, earnedRank) => rank !== null && earnedRank < rank, lower),
  )

const changed = statement<{ businessId: string; recalculation: string }>(
  'businesses_with_changed_tiers',
  `SELECT business_id AS "businessId", recalculation FROM tier_settings WHERE recalculation IS NOT NULL`,
)
const recalculated = statement<never>(
  'tiers_recalculated',
  'UPDATE tier_settings SET recalculation = NULL WHERE business_id = $1 AND recalculation = $2',
)

/** Judges the customers of businesses whose tiers or settings have changed. Returns how many moved. */
export const recalculateTiers = (services: Services): Promise<number> =>
  forEach(services, changed, async (each, { recalculation }) => {
    const isToMove = ({ tierId, rank }: Candidate, earnedRank: number) =>
      (tierId !== null && rank === null) || earnedRank > (rank ?? -1)
    const moved = await moveCustomers(services, each, isToMove, reassess)
    // A change that came meanwhile has drawn another number and is gone through next.
    await services.database.sql.run(recalculated, [each.id, recalculation])
    return moved
  })
