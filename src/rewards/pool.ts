import { v7 as uuidv7 } from 'uuid'
import { type Context, type TransactionContext, transaction } from '../context.js'
import type { DigitalAssetType } from '../database/generated/prisma/client.js'
import { statement } from '../database/sql.js'
import { AppError } from '../errors.js'
import { causesAfter, type RewardSupply } from './activity.rules.js'
import { type CodePool, codePoolOf, POOL_CAPACITY, requireLinks } from './pool.rules.js'

/**
 * The code pool of a reward: one-time values, each handed to one redemption (spec section 2). Locks are taken in the
 * order of a redemption: pool values first, their reward last. Whoever held the reward while waiting for a value that
 * is being claimed would block the claim that waits for the reward.
 */

interface PoolReward extends RewardSupply {
  id: string
  digitalAssetType: DigitalAssetType | null
  poolConsumed: number
  offByHand: boolean
}

const FIND_REWARD = `
  SELECT id, digital_asset_type AS "digitalAssetType", digital_asset_source AS "digitalAssetSource",
         max_redemptions AS "maxRedemptions", redemptions_count AS "redemptionsCount",
         pool_available AS "poolAvailable", pool_consumed AS "poolConsumed", off_by_hand AS "offByHand"
    FROM rewards WHERE business_id = $1 AND id = $2 AND deleted_at IS NULL`
const findReward = statement<PoolReward>('find_pool_reward', FIND_REWARD)
const lockReward = statement<PoolReward>('lock_pool_reward', `${FIND_REWARD} FOR NO KEY UPDATE`)

async function pooledReward(ctx: Context, rewardId: string, by = findReward): Promise<PoolReward> {
  const reward = await ctx.sql.row(by, [ctx.business.id, rewardId])
  if (!reward) throw new AppError('REWARD_NOT_FOUND')
  if (reward.digitalAssetSource !== 'pool') throw new AppError('REWARD_NOT_POOL_SOURCED')
  return reward
}

/** How full the pool is. Throws REWARD_NOT_FOUND, REWARD_NOT_POOL_SOURCED. */
export const readPool = async (ctx: Context, { rewardId }: { rewardId: string }): Promise<CodePool> =>
  codePoolOf(await pooledReward(ctx, rewardId))

/** In the order of the values, so that two additions which share some wait for each other and never cross. */
const insertValues = statement<never>(
  'add_pool_values',
  `INSERT INTO pool_values (business_id, id, reward_id, value, created_at)
   SELECT $1, added.id, $2, added.value, $5 FROM unnest($3::uuid[], $4::text[]) AS added (id, value)
    ORDER BY added.value COLLATE "C", added.id
   ON CONFLICT (business_id, reward_id, value) DO NOTHING`,
)

/**
 * Adds values to a pool, all or none; those it has already, consumed ones too, are skipped. A reward that had run out
 * is on again unless something else keeps it off. Throws REWARD_NOT_FOUND, REWARD_NOT_POOL_SOURCED, InvalidInput
 * naming the values that are no links, POOL_CAPACITY_EXCEEDED:<capacity>.
 */
export function addPoolValues(
  ctx: Context,
  { rewardId, values }: { rewardId: string; values: readonly string[] },
): Promise<{ added: number; skipped: number; pool: CodePool }> {
  return transaction(ctx, async (tx) => {
    requireLinks((await pooledReward(tx, rewardId)).digitalAssetType, values)
    const ids = values.map(() => uuidv7())
    const added = await tx.sql.run(insertValues, [tx.business.id, rewardId, ids, values, tx.now])
    const reward = await pooledReward(tx, rewardId, lockReward)
    // Judged again under the lock: the reward may have become one of links meanwhile.
    requireLinks(reward.digitalAssetType, values)
    if (reward.poolAvailable + reward.poolConsumed + added > POOL_CAPACITY)
      throw new AppError('POOL_CAPACITY_EXCEEDED', POOL_CAPACITY)
    return { added, skipped: values.length - added, pool: await countValues(tx, reward, added) }
  })
}

const deleteUnclaimed = (name: string, condition: string) =>
  statement<never>(
    name,
    `DELETE FROM pool_values WHERE business_id = $1 AND id IN (
       SELECT id FROM pool_values WHERE business_id = $1 AND reward_id = $2 AND redemption_id IS NULL ${condition}
        ORDER BY id FOR UPDATE)`,
  )
const deleteSome = deleteUnclaimed('remove_pool_values', 'AND value = ANY ($3::text[])')
const deleteAll = deleteUnclaimed('remove_all_pool_values', '')

/**
 * Removes unclaimed values, those named or all; without any left the reward is off by pool. Throws REWARD_NOT_FOUND,
 * REWARD_NOT_POOL_SOURCED.
 */
export function removePoolValues(
  ctx: Context,
  { rewardId, values }: { rewardId: string; values?: readonly string[] | null | undefined },
): Promise<{ removed: number; pool: CodePool }> {
  return transaction(ctx, async (tx) => {
    await pooledReward(tx, rewardId)
    const pool = [tx.business.id, rewardId]
    const removed = values
      ? await tx.sql.run(deleteSome, [...pool, values])
      : await tx.sql.run(deleteAll, pool)
    const reward = await pooledReward(tx, rewardId, lockReward)
    return { removed, pool: await countValues(tx, reward, -removed) }
  })
}

const saveCount = statement<never>(
  'count_pool_values',
  'UPDATE rewards SET pool_available = $3, deactivated_by_pool = $4 WHERE business_id = $1 AND id = $2',
)

/** Keeps a locked reward's counter of unclaimed values, and whether their lack switches it off. */
async function countValues(tx: TransactionContext, reward: PoolReward, change: number): Promise<CodePool> {
  const counted = { ...reward, poolAvailable: reward.poolAvailable + change }
  const { deactivatedByPool } = causesAfter(reward.offByHand, undefined, counted)
  await tx.sql.run(saveCount, [tx.business.id, reward.id, counted.poolAvailable, deactivatedByPool])
  return codePoolOf(counted)
}
