import { type Services, type TransactionContext, transaction, unattendedContext } from '../context.js'
import { statement } from '../database/sql.js'
import { AppError } from '../errors.js'
import type { Sweep } from '../jobs/sweeps.js'
import { issuePoints } from '../points/points.js'

interface UnfinishedImport {
  id: string
  businessId: string
  timezone: string
  createdAt: Date
}

const unfinished = statement<UnfinishedImport>(
  'unfinished_points_imports',
  `SELECT i.id, i.business_id AS "businessId", b.timezone, i.created_at AS "createdAt"
     FROM points_imports i JOIN businesses b ON b.id = i.business_id
    WHERE i.completed_at IS NULL ORDER BY i.created_at LIMIT 100`,
)

/**
 * Applies the uploads that were taken in, in parts. Each part commits its transactions, what came of its lines and the
 * progress together, so whoever goes on after a crash does so with the first line that is not applied. One that cannot
 * go on keeps no other waiting. Returns how many lines were settled.
 */
export const applyPointsImports: Sweep = async (services) => {
  let settled = 0
  let failure: unknown
  for (const upload of await services.database.sql.rows(unfinished, [])) {
    try {
      for (let part = -1; part !== 0; settled += part) part = await applyPart(services, upload)
    } catch (error) {
      failure ??= error
    }
  }
  if (failure) throw failure
  return settled
}

/** Lines whose customers are locked at once. */
const PART = 50

interface WaitingRow {
  line: number
  customerId: string
  points: number | null
  amount: string | null
  description: string | null
}

const lockImport = statement<{ id: string }>(
  'lock_points_import',
  `SELECT id FROM points_imports WHERE business_id = $1 AND id = $2 AND completed_at IS NULL
      FOR NO KEY UPDATE SKIP LOCKED`,
)
const waitingRows = statement<WaitingRow>(
  'waiting_points_import_rows',
  `SELECT line, customer_id AS "customerId", points, amount, description FROM points_import_rows
    WHERE business_id = $1 AND import_id = $2 AND transaction_id IS NULL AND error IS NULL ORDER BY line LIMIT ${PART}`,
)
const saveOutcomes = statement<never>(
  'save_points_import_outcomes',
  `UPDATE points_import_rows r SET transaction_id = o.transaction_id, error = o.error
     FROM unnest($3::int[], $4::uuid[], $5::text[]) AS o (line, transaction_id, error)
    WHERE r.business_id = $1 AND r.import_id = $2 AND r.line = o.line`,
)
const saveProgress = statement<never>(
  'save_points_import_progress',
  `UPDATE points_imports
      SET applied_count = applied_count + $3::int, failed_count = failed_count + $4::int,
          completed_at = CASE WHEN applied_count + failed_count + $3::int + $4::int = row_count THEN $5::timestamptz END
    WHERE business_id = $1 AND id = $2`,
)

/** Settles the next lines of an upload; 0 where none is left, or another instance is at work on it. */
function applyPart(services: Services, upload: UnfinishedImport): Promise<number> {
  const business = { id: upload.businessId, timezone: upload.timezone }
  return transaction(unattendedContext(services, business, { kind: 'job' }), async (tx) => {
    const target = [business.id, upload.id]
    if (!(await tx.sql.row(lockImport, target))) return 0
    const rows = await tx.sql.rows(waitingRows, target)
    // Whoever locks several customers does so in the order of their ids, or two would wait for each other.
    rows.sort((one, other) => (one.customerId < other.customerId ? -1 : 1) || one.line - other.line)
    // Two instances' clocks may differ by a little, and nothing is booked for the future.
    const occurredAt = upload.createdAt < tx.now ? upload.createdAt : tx.now
    const outcomes: Outcome[] = []
    for (const row of rows) outcomes.push(await apply(tx, row, occurredAt))
    await tx.sql.run(saveOutcomes, [
      ...target,
      rows.map(({ line }) => line),
      outcomes.map(({ transactionId }) => transactionId),
      outcomes.map(({ error }) => error),
    ])
    const failed = outcomes.filter(({ error }) => error !== null).length
    await tx.sql.run(saveProgress, [...target, rows.length - failed, failed, tx.now])
    return rows.length
  })
}

interface Outcome {
  transactionId: string | null
  error: string | null
}

/**
 * An amount is a purchase that took place elsewhere (source `import`): a visit, spend and progress towards tiers. Bare
 * points are a gift of the staff (`dashboard`) and none of these.
 */
async function apply(tx: TransactionContext, row: WaitingRow, occurredAt: Date): Promise<Outcome> {
  const { customerId: userId, points, amount, description } = row
  const source = amount === null ? 'dashboard' : 'import'
  try {
    const issued = await issuePoints(tx, { userId, points, amount, description, occurredAt, source })
    return { transactionId: issued.transaction.id, error: null }
  } catch (error) {
    // The account has changed since the file was checked: refused before anything was written for the line.
    if (error instanceof AppError) return { transactionId: null, error: error.message }
    throw error
  }
}
