import { randomBytes } from 'node:crypto'
import { v7 as uuidv7 } from 'uuid'
import { type Context, type TransactionContext, transaction } from '../context.js'
import type { Raffle } from '../database/generated/prisma/client.js'
import { statement } from '../database/sql.js'
import { AppError } from '../errors.js'
import { type Page, type PageArgs, pageOf, pageRequest, prismaPage } from '../graphql/connection.js'
import type { selection } from '../graphql/fields.js'
import { givenFields } from '../patch.js'
import { SEED_BYTES, seedHashOf } from './draw.rules.js'
import { lockRaffle } from './raffle-row.js'
import { altersTerms, type RaffleFields, requireSoundDates, statusOf } from './raffles.rules.js'

type Selection = ReturnType<typeof selection>

/** The fields of a request: absent ones are undefined. */
type RaffleRequest = { [Field in keyof RaffleFields]?: RaffleFields[Field] | undefined }

/**
 * Adds a raffle. The seed of its draw is made now and kept sealed, its hash is public: whoever holds both afterwards
 * can see that the seed was chosen before anybody entered. Throws InvalidInput naming dates that make no sense.
 */
export async function createRaffle(
  ctx: Context,
  input: RaffleRequest & Pick<RaffleFields, 'name' | 'endsAt' | 'pointsCost'>,
  selected: Selection,
): Promise<Raffle> {
  const fields: RaffleFields = {
    description: null,
    termsConditions: null,
    startsAt: ctx.now,
    entriesPerUser: 1,
    winnersCount: 1,
    maxEntries: null,
    maxEntriesMode: 'total',
    ...givenFields(input),
  } as RaffleFields
  requireSoundDates(fields, fields, ctx.now)
  const seed = randomBytes(SEED_BYTES).toString('hex')
  const id = uuidv7()
  return transaction(ctx, async (tx) => {
    await tx.db.raffle.create({
      data: {
        businessId: ctx.business.id,
        id,
        ...fields,
        seedHash: seedHashOf(seed),
        sealedSeed: new Uint8Array(ctx.secrets.seal(seed)),
        createdAt: ctx.now,
        updatedAt: ctx.now,
      },
      select: { id: true },
    })
    return readRaffle(tx, { id }, selected)
  })
}

/**
 * Changes a raffle; an absent field stays, null clears. Once somebody has entered, or it is over, its terms stand: to
 * restate them is no change. Throws EMPTY_UPDATE, RAFFLE_NOT_FOUND, RAFFLE_NOT_ACTIVE with the status,
 * RAFFLE_HAS_ENTRIES, or InvalidInput naming dates that make no sense.
 */
export function updateRaffle(
  ctx: Context,
  { id, ...input }: RaffleRequest & { id: string },
  selected: Selection,
): Promise<Raffle> {
  const change = givenFields(input)
  return transaction(ctx, async (tx) => {
    const before = await lockRaffle(tx, id)
    if (altersTerms(before, change)) {
      const status = statusOf(before, ctx.now)
      if (status !== 'scheduled' && status !== 'active') throw new AppError('RAFFLE_NOT_ACTIVE', status)
      await requireNoEntries(tx, id)
      requireSoundDates({ ...before, ...change }, change, ctx.now)
    }
    await tx.db.raffle.update({
      where: { businessId_id: { businessId: ctx.business.id, id } },
      data: { ...change, updatedAt: ctx.now },
      select: { id: true },
    })
    return readRaffle(tx, { id }, selected)
  })
}

const markDeleted = statement<never>(
  'delete_raffle',
  'UPDATE raffles SET deleted_at = $3, updated_at = $3 WHERE business_id = $1 AND id = $2',
)

/** Deletes a raffle that nobody has entered. Throws RAFFLE_NOT_FOUND or RAFFLE_HAS_ENTRIES. */
export function deleteRaffle(ctx: Context, { id }: { id: string }): Promise<{ id: string }> {
  return transaction(ctx, async (tx) => {
    await lockRaffle(tx, id)
    await requireNoEntries(tx, id)
    await tx.sql.run(markDeleted, [ctx.business.id, id, ctx.now])
    return { id }
  })
}

/** Counts those as well who have been taken out since: their history refers to the raffle as it was. */
async function requireNoEntries(tx: TransactionContext, raffleId: string): Promise<void> {
  const someone = await tx.db.raffleEntrant.findFirst({
    where: { businessId: tx.business.id, raffleId },
    select: { id: true },
  })
  if (someone) throw new AppError('RAFFLE_HAS_ENTRIES')
}

/** Throws RAFFLE_NOT_FOUND. */
export async function readRaffle(ctx: Context, { id }: { id: string }, selected: Selection): Promise<Raffle> {
  const raffle = await ctx.db.raffle.findUnique({
    ...selected,
    where: { businessId_id: { businessId: ctx.business.id, id }, deletedAt: null },
  })
  if (!raffle) throw new AppError('RAFFLE_NOT_FOUND')
  return raffle
}

const listed = (ctx: Context) => ({ businessId: ctx.business.id, deletedAt: null })

/** A page of the raffles of the business, newest first. */
export async function listRaffles(ctx: Context, args: PageArgs, selected: Selection): Promise<Page<Raffle>> {
  const request = pageRequest(args)
  const { where, ...page } = prismaPage(request)
  const found = await ctx.db.raffle.findMany({ ...selected, ...page, where: { ...listed(ctx), ...where } })
  return pageOf(request, found, () => ctx.db.raffle.count({ where: listed(ctx) }))
}

/** All of them, newest first. */
export const allRaffles = (ctx: Context, selected: Selection): Promise<Raffle[]> =>
  ctx.db.raffle.findMany({
    ...selected,
    where: listed(ctx),
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
  })
