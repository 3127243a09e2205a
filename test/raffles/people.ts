import { v7 as uuidv7 } from 'uuid'
import type { TestApp } from '../helpers/app.js'

/** Many customers with points, as if the business had given them; their ledger adds up. Returns their ids. */
export async function addCustomers(
  app: TestApp,
  businessId: string,
  count: number,
  points: number,
): Promise<string[]> {
  const ids = Array.from({ length: count }, () => uuidv7())
  const { pool } = app.database
  await pool.query(
    `INSERT INTO customers (business_id, id, balance, joined_at, created_at, updated_at)
     SELECT $1, id, $3, now(), now(), now() FROM unnest($2::uuid[]) AS id`,
    [businessId, ids, points],
  )
  await pool.query(
    `INSERT INTO transactions (business_id, id, customer_id, type, status, source, points, occurred_at, created_at)
     SELECT $1, gen_random_uuid(), id, 'earn', 'completed', 'dashboard', $3, now(), now() FROM unnest($2::uuid[]) AS id`,
    [businessId, ids, points],
  )
  await pool.query(
    `INSERT INTO transaction_counts AS n (business_id, type, status, shard, count, points)
     VALUES ($1, 'earn', 'completed', 0, $2, $2::bigint * $3)
     ON CONFLICT (business_id, type, status, shard) DO UPDATE
       SET count = n.count + excluded.count, points = n.points + excluded.points`,
    [businessId, count, points],
  )
  return ids
}
