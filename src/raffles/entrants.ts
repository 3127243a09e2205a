import type { Context } from '../context.js'
import type { RaffleEntrant } from '../database/generated/prisma/client.js'
import { type Page, type PageArgs, pageOf, pageRequest, prismaPage } from '../graphql/connection.js'
import { readRaffle } from './raffles.js'

export type EntrantRow = RaffleEntrant

/** Who has entered a raffle, newest first, those included who were taken out again. Throws RAFFLE_NOT_FOUND. */
export async function listEntrants(
  ctx: Context,
  { raffleId, ...args }: PageArgs & { raffleId: string },
): Promise<Page<EntrantRow>> {
  const request = pageRequest(args)
  await readRaffle(ctx, { id: raffleId }, { select: { id: true } as never })
  const ofRaffle = { businessId: ctx.business.id, raffleId }
  const { where, ...page } = prismaPage(request)
  const found = await ctx.db.raffleEntrant.findMany({ ...page, where: { ...ofRaffle, ...where } })
  return pageOf(request, found, () => ctx.db.raffleEntrant.count({ where: ofRaffle }))
}
