import { v7 as uuidv7 } from 'uuid'
import { type Context, type TransactionContext, transaction } from '../context.js'
import type { Tier } from '../database/generated/prisma/client.js'
import { statement } from '../database/sql.js'
import { AppError } from '../errors.js'
import type { selection } from '../graphql/fields.js'
import { givenFields } from '../patch.js'
import { lockTierSystem } from './tier-settings.js'
import { requireAscending } from './tiers.rules.js'

type Selection = ReturnType<typeof selection>

/** What a tier gives to the customers in it. */
export interface Benefits {
  /** Decimal; '1' multiplies nothing. */
  pointsMultiplier: string
  cashbackBoostPercent: number
  referralBonusPoints: number
  tierReachBonusPoints: number
}

export interface NewTier {
  name: string
  /** Unique within the business; a higher rank is a better tier. */
  rank: number
  /** Points, or whole units of the currency where the metric is spend. */
  minPoints: number
  benefits?: Benefits | undefined
}

/** How many tiers a business may have: each earning is judged by all of them. */
const MAX_TIERS = 50

/** The tiers of the business, lowest rank first. */
export const listTiers = (ctx: Context, selected: Selection): Promise<Tier[]> =>
  ctx.db.tier.findMany({
    ...selected,
    where: { businessId: ctx.business.id, deletedAt: null },
    orderBy: { rank: 'asc' },
  })

/** Adds a tier. Throws TIER_LIMIT_REACHED, TIER_RANK_TAKEN, or InvalidInput where it is out of order. */
export function createTier(ctx: Context, { benefits, ...tier }: NewTier, selected: Selection): Promise<Tier> {
  const key = { businessId: ctx.business.id, id: uuidv7() }
  return transaction(ctx, async (tx) => {
    const others = await lockTiers(tx)
    if (others.length >= MAX_TIERS) throw new AppError('TIER_LIMIT_REACHED', MAX_TIERS)
    requirePlace({ id: key.id, ...tier }, others, 'minPoints')
    return tx.db.tier.create({ ...selected, data: { ...key, ...tier, ...benefits, createdAt: tx.now } })
  })
}

/**
 * Changes a tier; an absent field stays, benefits are replaced whole. Throws EMPTY_UPDATE, TIER_NOT_FOUND,
 * TIER_RANK_TAKEN, or InvalidInput where it would be out of order.
 */
export function updateTier(
  ctx: Context,
  { id, ...input }: { [Field in keyof NewTier]?: NewTier[Field] | undefined } & { id: string },
  selected: Selection,
): Promise<Tier> {
  const { benefits, ...change } = givenFields(input)
  return transaction(ctx, async (tx) => {
    const tiers = await lockTiers(tx)
    const before = requireTier(tiers, id)
    const others = tiers.filter((tier) => tier !== before)
    requirePlace({ ...before, ...change }, others, change.minPoints === undefined ? 'rank' : 'minPoints')
    return tx.db.tier.update({
      ...selected,
      where: { businessId_id: { businessId: tx.business.id, id } },
      data: { ...change, ...benefits },
    })
  })
}

/** Waits for whoever is moving a customer into the tier, so that the job that follows misses none. */
const lockForDeletion = statement<never>(
  'lock_tier_for_deletion',
  'SELECT 1 FROM tiers WHERE business_id = $1 AND id = $2 FOR UPDATE',
)

/**
 * Deletes a tier: its benefits end at once, who was in it is moved by the job. Throws TIER_NOT_FOUND, or TIER_IN_USE
 * where a reward is restricted to it or treats it in its own way.
 */
export function deleteTier(ctx: Context, { id }: { id: string }): Promise<{ id: string }> {
  return transaction(ctx, async (tx) => {
    requireTier(await lockTiers(tx), id)
    await tx.sql.run(lockForDeletion, [tx.business.id, id])
    const businessId = tx.business.id
    const uses = { OR: [{ tierGateTierId: id }, { tierOverrides: { some: { businessId, tierId: id } } }] }
    if ((await tx.db.reward.count({ where: { businessId, deletedAt: null, ...uses } })) > 0)
      throw new AppError('TIER_IN_USE')
    await tx.db.tier.update({
      where: { businessId_id: { businessId, id } },
      data: { deletedAt: tx.now },
      select: { id: true },
    })
    return { id }
  })
}

interface Place {
  id: string
  rank: number
  minPoints: number
}

/** The places of all tiers, which nobody else changes until the transaction ends. */
async function lockTiers(tx: TransactionContext): Promise<Place[]> {
  await lockTierSystem(tx)
  return tx.db.tier.findMany({
    where: { businessId: tx.business.id, deletedAt: null },
    select: { id: true, rank: true, minPoints: true },
  })
}

function requireTier(tiers: readonly Place[], id: string): Place {
  const tier = tiers.find((each) => each.id === id)
  if (!tier) throw new AppError('TIER_NOT_FOUND')
  return tier
}

function requirePlace(tier: Place, others: readonly Place[], field: 'minPoints' | 'rank'): void {
  if (others.some(({ rank }) => rank === tier.rank)) throw new AppError('TIER_RANK_TAKEN')
  requireAscending(tier, others, field)
}
