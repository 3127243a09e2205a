import { v7 as uuidv7 } from 'uuid'
import { type Context, type TransactionContext, transaction } from '../context.js'
import type { CustomerAddress } from '../customers/address.js'
import type { Prisma, Promotion } from '../database/generated/prisma/client.js'
import { statement } from '../database/sql.js'
import { AppError } from '../errors.js'
import type { selection } from '../graphql/fields.js'
import { lockAccount } from '../ledger/customer.js'
import { givenFields } from '../patch.js'
import { requireOrder } from './promotions.rules.js'

type Selection = ReturnType<typeof selection>

/** What can be set of a promotion; absent fields are undefined. */
export interface PromotionChange {
  name?: string | undefined
  description?: string | null | undefined
  /** `YYYY-MM-DD`, local days, both included. */
  startDate?: string | null | undefined
  endDate?: string | null | undefined
  active?: boolean | undefined
  /** Decimal, 1.1 to 10. */
  pointsMultiplier?: string | null | undefined
}

/** Adds a promotion. Throws InvalidInput naming `endDate` where it ends before it starts. */
export function createPromotion(
  ctx: Context,
  input: PromotionChange & { name: string },
  selected: Selection,
): Promise<Promotion> {
  const { name, description = null, startDate = null, endDate = null } = input
  requireOrder({ startDate, endDate }, input as { endDate?: string | null })
  const id = uuidv7()
  return transaction(ctx, async (tx) => {
    await tx.db.promotion.create({
      data: {
        businessId: tx.business.id,
        id,
        name,
        description,
        startDate: midnightUtc(startDate),
        endDate: midnightUtc(endDate),
        active: input.active ?? true,
        pointsMultiplier: input.pointsMultiplier ?? null,
        createdAt: tx.now,
        updatedAt: tx.now,
      },
      select: { id: true },
    })
    return readPromotion(tx, { id }, selected)
  })
}

/**
 * Changes a promotion; an absent field stays, null clears. Throws EMPTY_UPDATE, PROMOTION_NOT_FOUND, or InvalidInput
 * naming a date where it would end before it starts.
 */
export function updatePromotion(
  ctx: Context,
  { id, ...input }: PromotionChange & { id: string },
  selected: Selection,
): Promise<Promotion> {
  const change = givenFields(input)
  return transaction(ctx, async (tx) => {
    const before = await lockPromotion(tx, id)
    requireOrder({ ...before, ...change }, change)
    const { startDate, endDate, ...plain } = change
    await tx.db.promotion.update({
      where: { businessId_id: { businessId: tx.business.id, id } },
      data: {
        ...plain,
        ...(startDate === undefined ? {} : { startDate: midnightUtc(startDate) }),
        ...(endDate === undefined ? {} : { endDate: midnightUtc(endDate) }),
        updatedAt: tx.now,
      } satisfies Prisma.PromotionUpdateInput,
      select: { id: true },
    })
    return readPromotion(tx, { id }, selected)
  })
}

const markDeleted = statement<never>(
  'delete_promotion',
  'UPDATE promotions SET deleted_at = $3, updated_at = $3 WHERE business_id = $1 AND id = $2 AND deleted_at IS NULL',
)

/** Deletes a promotion: it is not found any more and multiplies nothing; what it has given stays. Throws PROMOTION_NOT_FOUND. */
export async function deletePromotion(ctx: Context, { id }: { id: string }): Promise<{ id: string }> {
  const deleted = await ctx.sql.run(markDeleted, [ctx.business.id, id, ctx.now])
  if (deleted === 0) throw new AppError('PROMOTION_NOT_FOUND')
  return { id }
}

/** Throws PROMOTION_NOT_FOUND. */
export async function readPromotion(
  ctx: Context,
  { id }: { id: string },
  selected: Selection,
): Promise<Promotion> {
  const promotion = await ctx.db.promotion.findUnique({
    ...selected,
    where: { businessId_id: { businessId: ctx.business.id, id }, deletedAt: null },
  })
  if (!promotion) throw new AppError('PROMOTION_NOT_FOUND')
  return promotion
}

/** All promotions of the business, newest first. */
export const listPromotions = (ctx: Context, selected: Selection): Promise<Promotion[]> =>
  ctx.db.promotion.findMany({
    ...selected,
    where: { businessId: ctx.business.id, deletedAt: null },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
  })

const lock = statement<{ startDate: string | null; endDate: string | null }>(
  'lock_promotion',
  `SELECT start_date AS "startDate", end_date AS "endDate" FROM promotions
    WHERE business_id = $1 AND id = $2 AND deleted_at IS NULL FOR NO KEY UPDATE`,
)

/** Its days, the row locked until the transaction ends; throws PROMOTION_NOT_FOUND. */
async function lockPromotion(tx: TransactionContext, id: string) {
  const days = await tx.sql.row(lock, [tx.business.id, id])
  if (!days) throw new AppError('PROMOTION_NOT_FOUND')
  return days
}

const markInterest = statement<never>(
  'mark_interest',
  `WITH marked AS (
     INSERT INTO promotion_interests (business_id, promotion_id, customer_id, created_at) VALUES ($1, $2, $3, $4)
     ON CONFLICT DO NOTHING RETURNING 1
   )
   UPDATE promotions SET interested_count = interested_count + 1
    WHERE business_id = $1 AND id = $2 AND EXISTS (SELECT FROM marked)`,
)

/**
 * A customer is interested in a promotion; saying so again changes nothing. Throws CUSTOMER_ADDRESS,
 * CUSTOMER_NOT_FOUND or PROMOTION_NOT_FOUND.
 */
export function markPromotionInterest(
  ctx: Context,
  { id, ...customer }: CustomerAddress & { id: string },
  selected: Selection,
): Promise<Promotion> {
  return transaction(ctx, async (tx) => {
    const account = await lockAccount(tx, customer)
    await lockPromotion(tx, id)
    await tx.sql.run(markInterest, [tx.business.id, id, account.id, tx.now])
    return readPromotion(tx, { id }, selected)
  })
}

/** A `date` column as Prisma takes it. */
const midnightUtc = (day: string | null): Date | null => (day === null ? null : new Date(`${day}T00:00:00Z`))
