import type { Tenant, TestApp } from '../helpers/app.js'

/** Puts `count` values straight into the tables, as adding them would have left them. */
export async function fillPool(
  { database }: TestApp,
  { businessId }: Tenant,
  rewardId: string,
  count: number,
  valueLength = 20,
): Promise<void> {
  await database.pool.query(
    `INSERT INTO pool_values (business_id, id, reward_id, value, created_at)
     SELECT $1, gen_random_uuid(), $2, lpad(n::text, $4, '-'), now() FROM generate_series(1, $3) AS n`,
    [businessId, rewardId, count, valueLength],
  )
  await database.pool.query(
    `UPDATE rewards SET pool_available = pool_available + $3, deactivated_by_pool = false
      WHERE business_id = $1 AND id = $2`,
    [businessId, rewardId, count],
  )
}
