import { type Context, type TransactionContext, transaction } from '../context.js'
import type { Raffle } from '../database/generated/prisma/client.js'
import { statement } from '../database/sql.js'
import { AppError } from '../errors.js'
import type { selection } from '../graphql/fields.js'
import { drawWinners, entriesHashOf } from './draw.rules.js'
import { entryListOf } from './proof.js'
import { lockRaffle, type RaffleRow } from './raffle-row.js'
import { readRaffle } from './raffles.js'
import { statusOf } from './raffles.rules.js'

type Selection = ReturnType<typeof selection>

/**
 * Closes a running raffle and draws its provisional winners (spec §3). Throws RAFFLE_NOT_FOUND, or RAFFLE_NOT_ACTIVE
 * with the status.
 */
export function endRaffle(ctx: Context, { id }: { id: string }, selected: Selection): Promise<Raffle> {
  return transaction(ctx, async (tx) => {
    const raffle = await lockRaffle(tx, id)
    const status = statusOf(raffle, ctx.now)
    if (status !== 'active') throw new AppError('RAFFLE_NOT_ACTIVE', status)
    await draw(tx, raffle)
    return readRaffle(tx, { id }, selected)
  })
}

/** Draws a raffle whose end has come; false where others have drawn or cancelled it, or moved its end. */
export function drawIfDue(ctx: Context, id: string): Promise<boolean> {
  return transaction(ctx, async (tx) => {
    const raffle = await lockRaffle(tx, id)
    if (statusOf(raffle, ctx.now) !== 'active' || raffle.endsAt > ctx.now) return false
    await draw(tx, raffle)
    return true
  })
}

const saveWinners = statement<never>(
  'save_raffle_winners',
  `INSERT INTO raffle_winners (business_id, raffle_id, rank, entrant_id)
   SELECT $1, $2, w.rank, w.entrant_id FROM unnest($3::int[], $4::uuid[]) AS w (rank, entrant_id)`,
)
const saveDraw = statement<never>(
  'save_raffle_draw',
  `UPDATE raffles SET seed = $3, sealed_seed = NULL, entries_hash = $4, drawn_at = $5, updated_at = $5
    WHERE business_id = $1 AND id = $2`,
)

/** Draws a locked raffle: its list of entrants changes no more, and the seed becomes public. */
async function draw(tx: TransactionContext, { id, sealedSeed, winnersCount }: RaffleRow): Promise<void> {
  const seed = tx.secrets.open(sealedSeed!)
  const entryList = await entryListOf(tx, id)
  const winners = drawWinners({ seed, entryList, winnersCount })
  const key = [tx.business.id, id]
  await tx.sql.run(saveWinners, [
    ...key,
    winners.map(({ rank }) => rank),
    winners.map(({ entrantId }) => entrantId),
  ])
  await tx.sql.run(saveDraw, [...key, seed, entriesHashOf(entryList), tx.now])
}

const complete = statement<never>(
  'complete_raffle',
  'UPDATE raffles SET completed_at = $3, updated_at = $3 WHERE business_id = $1 AND id = $2',
)

/** Makes the drawn winners final. Throws RAFFLE_NOT_FOUND, or RAFFLE_NOT_DRAWN with the status. */
export function confirmRaffle(ctx: Context, { id }: { id: string }, selected: Selection): Promise<Raffle> {
  return transaction(ctx, async (tx) => {
    const status = statusOf(await lockRaffle(tx, id), ctx.now)
    if (status !== 'drawn') throw new AppError('RAFFLE_NOT_DRAWN', status)
    await tx.sql.run(complete, [ctx.business.id, id, ctx.now])
    return readRaffle(tx, { id }, selected)
  })
}
