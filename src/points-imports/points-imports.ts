import { createHash } from 'node:crypto'
import { v7 as uuidv7 } from 'uuid'
import { type Context, type TransactionContext, transaction } from '../context.js'
import type { PointsImport } from '../database/generated/prisma/client.js'
import { statement } from '../database/sql.js'
import { AppError, InvalidInput } from '../errors.js'
import { type Page, type PageArgs, pageOf, pageRequest, prismaPage } from '../graphql/connection.js'
import { wake } from '../jobs/wake.js'
import { csvLine } from '../rest/csv.js'
import { type AccountLine, checkAccounts } from './account-lines.js'
import { type CsvIssue, type PointsLine, readPointsCsv } from './points-csv.rules.js'

/** A file as it is uploaded. The same content under another name is another upload. */
export interface PointsUpload {
  csv: string
  name?: string | null | undefined
}

/** What an upload would do. */
export interface PointsImportPreview {
  rows: number
  customers: number
  /** What its rows give, amounts at the customers' present tiers and today's promotions. */
  points: number
  issues: readonly CsvIssue[]
  /** The import that this file has become already. */
  existing: PointsImport | null
}

/** Everything that uploading a file would be refused for, and what it would give; writes nothing. */
export async function previewPointsImport(ctx: Context, upload: PointsUpload): Promise<PointsImportPreview> {
  const { lines, issues } = readPointsCsv(upload.csv)
  const found = issues.length > 0 ? { accountLines: [], issues } : await checkAccounts(ctx, lines)
  return {
    rows: lines.length,
    customers: new Set(found.accountLines.map(({ customerId }) => customerId)).size,
    points: found.accountLines.reduce((sum, line) => sum + line.worth, 0),
    issues: found.issues,
    existing: issues.length > 0 ? null : await findByContent(ctx, contentHash(upload, lines)),
  }
}

/**
 * Takes a file of points in, to be applied by a job: whole, or not at all. The same file again is the same import,
 * whatever has become of it. Throws InvalidInput naming every line and column that is wrong (`csv.3.points`).
 */
export function importPoints(ctx: Context, upload: PointsUpload): Promise<PointsImport> {
  return transaction(ctx, async (tx) => {
    const { lines, issues } = readPointsCsv(upload.csv)
    if (issues.length > 0) throw invalidCsv(issues)
    const hash = contentHash(upload, lines)
    const known = await findByContent(tx, hash)
    if (known) return known
    const found = await checkAccounts(tx, lines)
    if (found.issues.length > 0) throw invalidCsv(found.issues)
    if (await insert(tx, upload, hash, found.accountLines)) await wake(tx, 'apply_points_imports')
    return (await findByContent(tx, hash))!
  })
}

const invalidCsv = (issues: readonly CsvIssue[]) =>
  new InvalidInput(
    issues.map(({ line, column, message }) => ({
      path: column === null ? `csv.${line}` : `csv.${line}.${column}`,
      message,
    })),
  )

/** Equal for files that say the same, however their lines end and their fields are quoted. */
const contentHash = ({ name }: PointsUpload, lines: readonly PointsLine[]): Buffer =>
  createHash('sha256')
    .update(
      JSON.stringify([
        name ?? null,
        lines.map(({ userId, identifier, points, amount, description }) => [
          userId,
          identifier,
          points,
          amount,
          description,
        ]),
      ]),
    )
    .digest()

const findByContent = ({ db, business }: Context, contentHash: Buffer): Promise<PointsImport | null> =>
  db.pointsImport.findUnique({
    where: { businessId_contentHash: { businessId: business.id, contentHash: Uint8Array.from(contentHash) } },
  })

const insertImport = statement<never>(
  'insert_points_import',
  `INSERT INTO points_imports (business_id, id, name, content_hash, row_count, created_at)
   VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (business_id, content_hash) DO NOTHING`,
)
const insertRows = statement<never>(
  'insert_points_import_rows',
  `INSERT INTO points_import_rows (business_id, import_id, line, customer_id, identifier, points, amount, description)
   SELECT $1, $2, * FROM unnest($3::int[], $4::uuid[], $5::text[], $6::int[], $7::text[], $8::text[])`,
)

/** False where another upload of the same file has just been taken in. */
async function insert(
  tx: TransactionContext,
  { name }: PointsUpload,
  hash: Buffer,
  lines: readonly AccountLine[],
): Promise<boolean> {
  const id = uuidv7()
  const values = [tx.business.id, id, name ?? null, hash, lines.length, tx.now]
  if ((await tx.sql.run(insertImport, values)) === 0) return false
  const column = <K extends keyof AccountLine>(key: K) => lines.map((line) => line[key])
  await tx.sql.run(insertRows, [
    tx.business.id,
    id,
    column('line'),
    column('customerId'),
    column('identifier'),
    column('points'),
    column('amount'),
    column('description'),
  ])
  return true
}

/** Throws POINTS_IMPORT_NOT_FOUND. */
export async function readPointsImport(
  { db, business }: Context,
  { id }: { id: string },
): Promise<PointsImport> {
  const found = await db.pointsImport.findUnique({
    where: { businessId_id: { businessId: business.id, id } },
  })
  if (!found) throw new AppError('POINTS_IMPORT_NOT_FOUND')
  return found
}

/** Uploads, newest first. */
export async function listPointsImports(ctx: Context, page: PageArgs): Promise<Page<PointsImport>> {
  const listed = { businessId: ctx.business.id }
  const request = pageRequest(page)
  const { where, ...order } = prismaPage(request)
  const found = await ctx.db.pointsImport.findMany({ ...order, where: { ...listed, ...where } })
  return pageOf(request, found, () => ctx.db.pointsImport.count({ where: listed }))
}

const RESULT_COLUMNS = [
  'line',
  'user_id',
  'identifier',
  'points',
  'amount',
  'description',
  'status',
  'points_given',
  'transaction_id',
  'error',
]

/**
 * What came of each line, as CSV in the order of the file: `applied`, `failed` with the reason, or `waiting`. Throws
 * POINTS_IMPORT_NOT_FOUND.
 */
export async function readPointsImportResult(ctx: Context, { id }: { id: string }): Promise<string> {
  await readPointsImport(ctx, { id })
  const rows = await ctx.db.importRow.findMany({
    where: { businessId: ctx.business.id, importId: id },
    include: { transaction: { select: { points: true } } },
    orderBy: { line: 'asc' },
  })
  const lines = rows.map(({ transaction: given, transactionId, error, ...row }) =>
    csvLine([
      row.line,
      row.customerId,
      row.identifier,
      row.points,
      row.amount,
      row.description,
      transactionId ? 'applied' : error ? 'failed' : 'waiting',
      given?.points,
      transactionId,
      error,
    ]),
  )
  return [csvLine(RESULT_COLUMNS), ...lines].join('')
}
