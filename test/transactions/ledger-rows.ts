import { v7 as uuidv7 } from 'uuid'
import type { Tenant, TestApp } from '../helpers/app.js'

/** A row of the ledger as a test plans it. */
export interface PlannedRow {
  id: string
  customerId: string
  deviceId: string | null
  type: 'earn' | 'redeem'
  status: 'pending' | 'completed' | 'failed'
  source: string
  points: number
  createdAt: Date
  occurredAt: Date
}

export const plannedRow = (
  createdAt: Date,
  row: Partial<PlannedRow> & { customerId: string },
): PlannedRow => ({
  id: uuidv7({ msecs: createdAt.getTime() }),
  deviceId: null,
  type: 'earn',
  status: 'completed',
  source: 'api',
  points: 1,
  createdAt,
  occurredAt: createdAt,
  ...row,
})

const COLUMNS = [
  'id',
  'customerId',
  'deviceId',
  'type',
  'status',
  'source',
  'points',
  'createdAt',
  'occurredAt',
] as const

/**
 * Writes rows of other days than today into the ledger, which no request can, with the counters that are kept of them.
 * The balances of the customers are not kept: nothing here is about them. Terminals need not exist.
 */
export async function bookRows(
  app: TestApp,
  { businessId }: Pick<Tenant, 'businessId'>,
  rows: readonly PlannedRow[],
): Promise<void> {
  await app.database.transaction(async ({ db }) => {
    await db.$executeRawUnsafe('SET LOCAL session_replication_role = replica')
    await db.$executeRawUnsafe(
      `INSERT INTO transactions (business_id, id, customer_id, device_id, type, status, source, points, created_at, occurred_at)
       SELECT $1::uuid, * FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::text[]::transaction_type[],
         $6::text[]::transaction_status[], $7::text[]::transaction_source[], $8::int[], $9::timestamptz[], $10::timestamptz[])`,
      businessId,
      ...COLUMNS.map((column) => rows.map((row) => row[column])),
    )
  })
  await recount(app)
}

/** Brings the kept counters up to what was written behind the back of the service. */
export async function recount({ database }: TestApp): Promise<void> {
  await database.pool.query('DELETE FROM transaction_counts')
  await database.pool.query(`
    INSERT INTO transaction_counts (business_id, type, status, shard, count, points)
    SELECT business_id, type, status, 0, count(*), sum(points) FROM transactions GROUP BY 1, 2, 3`)
}
