import { v7 as uuidv7 } from 'uuid'
import { type Context, transaction } from '../context.js'
import { AppError } from '../errors.js'
import type { selection } from '../graphql/fields.js'

type Selection = ReturnType<typeof selection>

export interface NewTier {
  name: string
  /** Unique within the business; a higher rank is a better tier. */
  rank: number
  minPoints: number
}

/** The tiers of the business, lowest rank first. */
export const listTiers = (ctx: Context, selected: Selection) =>
  ctx.db.tier.findMany({ ...selected, where: { businessId: ctx.business.id }, orderBy: { rank: 'asc' } })

/** Adds a tier. Throws TIER_RANK_TAKEN. */
export function createTier(ctx: Context, tier: NewTier, selected: Selection) {
  const key = { businessId: ctx.business.id, id: uuidv7() }
  return transaction(ctx, async (tx) => {
    // Of two at once the second waits for the first and is then skipped: no error that would end the transaction.
    const added = await tx.db.tier.createMany({
      data: { ...key, ...tier, createdAt: ctx.now },
      skipDuplicates: true,
    })
    if (added.count === 0) throw new AppError('TIER_RANK_TAKEN')
    return tx.db.tier.findUniqueOrThrow({ ...selected, where: { businessId_id: key } })
  })
}
