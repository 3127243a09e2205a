import type { Context } from '../context.js'
import type { Prisma, Redemption } from '../database/generated/prisma/client.js'
import { AppError } from '../errors.js'
import { type Page, type PageArgs, pageOf, pageRequest, prismaPage } from '../graphql/connection.js'
import { readCode } from './code.js'
import type { RedemptionRow } from './redemption-row.js'

/** A redemption by the code that a person typed; throws REDEMPTION_NOT_FOUND. */
export async function findRedemption(
  ctx: Context,
  written: string,
  select: Partial<Prisma.RedemptionFindUniqueArgs>,
): Promise<Redemption> {
  const code = readCode(written)
  const redemption =
    code &&
    (await ctx.db.redemption.findUnique({
      ...select,
      where: { businessId_code: { businessId: ctx.business.id, code } },
    }))
  if (!redemption) throw new AppError('REDEMPTION_NOT_FOUND')
  return redemption
}

export interface RedemptionFilter {
  status?: RedemptionRow['status'] | null | undefined
  deliveryMode?: RedemptionRow['deliveryMode'] | null | undefined
  fulfilmentStatus?: RedemptionRow['fulfilmentStatus'] | undefined
  rewardId?: string | null | undefined
  userId?: string | null | undefined
}

/** Redemptions, newest first; a code past its time counts as expired, swept or not. */
export async function listRedemptions(
  ctx: Context,
  { status, deliveryMode, fulfilmentStatus, rewardId, userId, ...page }: RedemptionFilter & PageArgs,
  select: Partial<Prisma.RedemptionFindManyArgs>,
): Promise<Page<Redemption>> {
  const where: Prisma.RedemptionWhereInput = {
    businessId: ctx.business.id,
    ...(status == null ? {} : statusFilter(status, ctx.now)),
    ...(deliveryMode == null ? {} : { deliveryMode }),
    ...(fulfilmentStatus == null ? {} : { fulfilmentStatus }),
    ...(rewardId == null ? {} : { rewardId }),
    ...(userId == null ? {} : { customerId: userId }),
  }
  const request = pageRequest(page)
  const { where: cursor, ...order } = prismaPage(request)
  const found = await ctx.db.redemption.findMany({ ...select, ...order, where: { AND: [where, cursor] } })
  return pageOf(request, found, () => ctx.db.redemption.count({ where }))
}

function statusFilter(status: RedemptionRow['status'], now: Date): Prisma.RedemptionWhereInput {
  const due = { status: 'pending' as const, expiresAt: { lte: now } }
  if (status === 'expired') return { OR: [{ status }, due] }
  if (status === 'pending') return { status, NOT: due }
  return { status }
}
