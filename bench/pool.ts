import type pg from 'pg'
import { REWARD_COST } from './tenants.js'

/**
 * Digital rewards whose codes come from pools. Several, taken at random: one pool holds at most 100,000 values, and a
 * run may need more.
 */
export const POOL_REWARDS = 10

const POOL_REWARD_ID_PREFIX = '018bcfe5-6800-7000-8002-'

/** The id of pool reward `n`, from 0. */
export const poolRewardId = (n: number): string => POOL_REWARD_ID_PREFIX + n.toString(16).padStart(12, '0')

export const anyPoolReward = (): string => poolRewardId(Math.floor(Math.random() * POOL_REWARDS))

/** So much more than its share has each pool, since chance does not spread the redemptions evenly. */
const RESERVE = 1.1

/** Fills the pools up, so that they have values for `redemptions`, and makes their rewards where there are none. */
export async function fillPools(client: pg.Client, businessId: string, redemptions: number): Promise<void> {
  const each = Math.ceil((redemptions / POOL_REWARDS) * RESERVE)
  for (let n = 0; n < POOL_REWARDS; n++) {
    await client.query(INSERT_REWARD, [businessId, poolRewardId(n)])
    await client.query(FILL, [businessId, poolRewardId(n), each])
  }
  await client.query('VACUUM ANALYZE pool_values')
}

const INSERT_REWARD = `
  INSERT INTO rewards (business_id, id, name, points_cost, delivery_mode, digital_asset_type, digital_asset_source,
                       created_at, updated_at)
  VALUES ($1, $2, 'Voucher', ${REWARD_COST}, 'digital', 'code', 'pool', now(), now())
  ON CONFLICT DO NOTHING`

const FILL = `
  WITH reward AS (
    SELECT id, greatest($3 - pool_available, 0) AS missing FROM rewards WHERE business_id = $1 AND id = $2
  ), added AS (
    INSERT INTO pool_values (business_id, id, reward_id, value, created_at)
    SELECT $1, gen_random_uuid(), reward.id, gen_random_uuid(), now()
      FROM reward, generate_series(1, reward.missing)
  )
  UPDATE rewards w SET pool_available = pool_available + reward.missing, deactivated_by_pool = false
    FROM reward WHERE w.business_id = $1 AND w.id = reward.id`
