import { v7 as uuidv7 } from 'uuid'
import { type Context, type TransactionContext, transaction } from '../context.js'
import { foldLookAlikes, randomCharacters } from '../crockford.js'
import type { CodeBatch } from '../database/generated/prisma/client.js'
import { statement } from '../database/sql.js'
import { AppError, invalid } from '../errors.js'
import { type Page, type PageArgs, pageOf, pageRequest, prismaPage } from '../graphql/connection.js'
import type { selection } from '../graphql/fields.js'
import { FOLDED_PREFIX, generateSuffix } from './code.rules.js'

type Selection = ReturnType<typeof selection>

export interface NewCodeBatch {
  name: string
  /** 1..10 of A-Z and 0-9. */
  prefix: string
  /** That each code gives. */
  points: number
  quantity: number
  expiresAt?: Date | null | undefined
}

/**
 * Makes a batch with all its codes, in one transaction. Throws InvalidInput naming `expiresAt`, or
 * CODE_PREFIX_TAKEN.
 */
export async function createCodeBatch(
  ctx: Context,
  batch: NewCodeBatch,
  selected: Selection,
): Promise<CodeBatch> {
  if (batch.expiresAt && batch.expiresAt <= ctx.now) throw invalid('expiresAt', 'must be in the future')
  return transaction(ctx, async (tx) => {
    const id = await insertBatch(tx, batch)
    await insertCodes(tx, id, batch.quantity)
    return readCodeBatch(tx, { id }, selected)
  })
}

const insertRow = statement<never>(
  'insert_code_batch',
  `INSERT INTO code_batches (business_id, id, batch_ref, name, prefix, points, quantity, expires_at, created_via, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING`,
)
const findPrefix = statement<{ one: number }>(
  'find_code_prefix',
  `SELECT 1 AS one FROM code_batches
    WHERE business_id = $1 AND ${FOLDED_PREFIX} = $2`,
)
const REFERENCE_LENGTH = 8
const REFERENCE_TRIES = 10

/** Of two with one prefix the second waits for the first. Throws CODE_PREFIX_TAKEN. */
async function insertBatch(tx: TransactionContext, batch: NewCodeBatch): Promise<string> {
  const { name, prefix, points, quantity, expiresAt = null } = batch
  const id = uuidv7()
  const origin = tx.actor.kind === 'api_key' ? 'api' : 'dashboard'
  for (let tries = 0; tries < REFERENCE_TRIES; tries++) {
    const reference = randomCharacters(REFERENCE_LENGTH)
    const values = [tx.business.id, id, reference, name, prefix, points, quantity, expiresAt, origin, tx.now]
    if ((await tx.sql.run(insertRow, values)) === 1) return id
    if (await tx.sql.row(findPrefix, [tx.business.id, foldLookAlikes(prefix)]))
      throw new AppError('CODE_PREFIX_TAKEN')
  }
  throw new Error('no free reference for a code batch was found')
}

const insertSome = statement<never>(
  'insert_batch_codes',
  `INSERT INTO batch_codes (business_id, batch_id, id, suffix)
   SELECT $1, $2, made.id, made.suffix FROM unnest($3::uuid[], $4::text[]) AS made (id, suffix)
   ON CONFLICT (business_id, suffix) DO NOTHING`,
)
/** Small enough for a statement to stay far from its timeout, and for nobody to wait while they are drawn. */
const CODES_AT_ONCE = 2_000

/** A code that the business has had before is drawn again. */
async function insertCodes(tx: TransactionContext, batchId: string, quantity: number): Promise<void> {
  for (let missing = quantity; missing > 0; ) {
    const suffixes = Array.from({ length: Math.min(missing, CODES_AT_ONCE) }, generateSuffix)
    const ids = suffixes.map(() => uuidv7())
    missing -= await tx.sql.run(insertSome, [tx.business.id, batchId, ids, suffixes])
  }
}

/** Throws CODE_BATCH_NOT_FOUND. */
export async function readCodeBatch(
  ctx: Context,
  { id }: { id: string },
  selected: Selection,
): Promise<CodeBatch> {
  const batch = await ctx.db.codeBatch.findUnique({
    ...selected,
    where: { businessId_id: { businessId: ctx.business.id, id } },
  })
  if (!batch) throw new AppError('CODE_BATCH_NOT_FOUND')
  return batch
}

/** The batches of the business, newest first. */
export async function listCodeBatches(
  ctx: Context,
  args: PageArgs,
  selected: Selection,
): Promise<Page<CodeBatch>> {
  const request = pageRequest(args)
  const listed = { businessId: ctx.business.id }
  const { where, ...page } = prismaPage(request)
  const found = await ctx.db.codeBatch.findMany({ ...selected, ...page, where: { ...listed, ...where } })
  return pageOf(request, found, () => ctx.db.codeBatch.count({ where: listed }))
}

/** Refuses all further claims; what is claimed stays so. No error where it is off already. Throws CODE_BATCH_NOT_FOUND. */
export function deactivateCodeBatch(
  ctx: Context,
  { id }: { id: string },
  selected: Selection,
): Promise<CodeBatch> {
  return transaction(ctx, async (tx) => {
    await tx.db.codeBatch.updateMany({ where: { businessId: tx.business.id, id }, data: { active: false } })
    return readCodeBatch(tx, { id }, selected)
  })
}
