import type { Context } from '../context.js'
import { statement } from '../database/sql.js'
import { AppError } from '../errors.js'
import type { DrawnWinner } from './draw.rules.js'

/** What a raffle publishes of its draw (docs/raffle-verification.md); null before it is drawn. */
export interface RaffleProof {
  raffleId: string
  /** Public from the creation on. */
  seedHash: string
  seed: string | null
  entriesHash: string | null
  entryList: string | null
  winnersCount: number
  drawnAt: Date | null
  winners: RaffleWinner[]
}

export interface RaffleWinner extends DrawnWinner {
  customerId: string
}

const list = statement<{ entryList: string | null }>(
  'raffle_entry_list',
  `SELECT string_agg(e.id || ' ' || e.entries || E'\\n', '' ORDER BY e.id) AS "entryList"
     FROM raffle_entrants e WHERE e.business_id = $1 AND e.raffle_id = $2 AND e.withdrawn_at IS NULL`,
)

/** The list of a raffle's entrants in the form that is hashed; after the draw it is always the same. */
export async function entryListOf(ctx: Context, raffleId: string): Promise<string> {
  const row = await ctx.sql.row(list, [ctx.business.id, raffleId])
  return row?.entryList ?? ''
}

const find = statement<Omit<RaffleProof, 'entryList' | 'winners'> & { isCancelled: boolean }>(
  'find_raffle_proof',
  `SELECT id AS "raffleId", seed_hash AS "seedHash", seed, entries_hash AS "entriesHash",
          winners_count AS "winnersCount", drawn_at AS "drawnAt", cancelled_at IS NOT NULL AS "isCancelled"
     FROM raffles WHERE business_id = $1 AND id = $2 AND deleted_at IS NULL`,
)

const findWinners = statement<RaffleWinner>(
  'find_raffle_winners',
  `SELECT w.rank, w.entrant_id AS "entrantId", e.entries, e.customer_id AS "customerId"
     FROM raffle_winners w JOIN raffle_entrants e ON e.business_id = w.business_id AND e.id = w.entrant_id
    WHERE w.business_id = $1 AND w.raffle_id = $2 ORDER BY w.rank`,
)

async function findOne(ctx: Context, id: string) {
  const raffle = await ctx.sql.row(find, [ctx.business.id, id])
  if (!raffle) throw new AppError('RAFFLE_NOT_FOUND')
  return raffle
}

/** All that is needed to draw again; before the draw the hash of the seed alone. Throws RAFFLE_NOT_FOUND. */
export async function readProof(ctx: Context, { id }: { id: string }): Promise<RaffleProof> {
  const raffle = await findOne(ctx, id)
  if (!raffle.drawnAt) return { ...raffle, entryList: null, winners: [] }
  const entryList = await entryListOf(ctx, id)
  return { ...raffle, entryList, winners: await ctx.sql.rows(findWinners, [ctx.business.id, id]) }
}

/** The winners by rank; none before the draw, and none of a raffle that was cancelled. Throws RAFFLE_NOT_FOUND. */
export async function readWinners(ctx: Context, { id }: { id: string }): Promise<RaffleWinner[]> {
  const raffle = await findOne(ctx, id)
  return raffle.isCancelled ? [] : ctx.sql.rows(findWinners, [ctx.business.id, id])
}
