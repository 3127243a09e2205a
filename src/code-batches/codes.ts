import type { Context } from '../context.js'
import { statement } from '../database/sql.js'
import { AppError } from '../errors.js'
import { type Page, type PageArgs, pageOf, pageRequest } from '../graphql/connection.js'

/** A code of a batch; the last two are null until somebody claims it. */
export interface BatchCodeRow {
  id: string
  prefix: string
  suffix: string
  /** Of the batch: its codes are made together. */
  createdAt: Date
  claimedAt: Date | null
  customerId: string | null
}

interface Batch {
  prefix: string
  createdAt: Date
  quantity: number
  claimed: number
}

const findBatch = statement<Batch>(
  'find_batch_of_codes',
  `SELECT prefix, created_at AS "createdAt", quantity, claimed FROM code_batches WHERE business_id = $1 AND id = $2`,
)

/** A page between two positions, of all codes or of those that are claimed or not. */
const page = (name: string, direction: 'ASC' | 'DESC') =>
  statement<Pick<BatchCodeRow, 'id' | 'suffix' | 'claimedAt' | 'customerId'>>(
    name,
    `SELECT id, suffix, claimed_at AS "claimedAt", customer_id AS "customerId"
       FROM batch_codes
      WHERE business_id = $1 AND batch_id = $2 AND id > $3 AND id < $4
        AND ($5::boolean IS NULL OR (claimed_at IS NOT NULL) = $5)
      ORDER BY id ${direction} LIMIT $6 OFFSET $7`,
  )
const pageForwards = page('page_of_batch_codes', 'ASC')
const pageBackwards = page('page_of_batch_codes_backwards', 'DESC')

const BEFORE_ALL = '00000000-0000-0000-0000-000000000000'
const AFTER_ALL = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

export type BatchCodeStatus = 'available' | 'claimed'

export interface CodesRequest extends PageArgs {
  batchId: string
  status?: BatchCodeStatus | null | undefined
}

/** The codes of a batch, in the order in which they were made. Throws CODE_BATCH_NOT_FOUND. */
export async function listBatchCodes(
  ctx: Context,
  { batchId, status, ...args }: CodesRequest,
): Promise<Page<BatchCodeRow>> {
  const request = pageRequest(args)
  const batch = await ctx.sql.row(findBatch, [ctx.business.id, batchId])
  if (!batch) throw new AppError('CODE_BATCH_NOT_FOUND')
  const { prefix, createdAt } = batch
  const found = await ctx.sql.rows(request.backwards ? pageBackwards : pageForwards, [
    ctx.business.id,
    batchId,
    request.after?.id ?? BEFORE_ALL,
    request.before?.id ?? AFTER_ALL,
    status == null ? null : status === 'claimed',
    request.limit + 1,
    request.offset,
  ])
  const rows = found.map((code) => ({ ...code, prefix, createdAt }))
  return pageOf(request, rows, async () => countOf(batch, status))
}

function countOf({ quantity, claimed }: Batch, status: BatchCodeStatus | null | undefined): number {
  if (status == null) return quantity
  return status === 'claimed' ? claimed : quantity - claimed
}
