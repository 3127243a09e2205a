import type { Context, TransactionContext } from '../context.js'
import { statement } from '../database/sql.js'
import { invalid } from '../errors.js'
import { type Page, type PageArgs, pageOf, pageRequest } from '../graphql/connection.js'
import { readPool } from './pool.js'
import { isHttpUrl, type RewardTerms } from './terms.rules.js'

/** A value of a pool; the last two are null while nobody has it. */
export interface PoolValueRow {
  id: string
  value: string
  createdAt: Date
  consumedAt: Date | null
  redemptionId: string | null
}

/** A page between two positions: a row comparison is what lets the index jump to the first. */
const page = (name: string, direction: 'ASC' | 'DESC') =>
  statement<PoolValueRow>(
    name,
    `SELECT id, value, created_at AS "createdAt", consumed_at AS "consumedAt", redemption_id AS "redemptionId"
       FROM pool_values
      WHERE business_id = $1 AND reward_id = $2
        AND (created_at, id) > ($3::timestamptz, $4::uuid) AND (created_at, id) < ($5::timestamptz, $6::uuid)
      ORDER BY created_at ${direction}, id ${direction} LIMIT $7 OFFSET $8`,
  )
const pageForwards = page('page_of_pool_values', 'ASC')
const pageBackwards = page('page_of_pool_values_backwards', 'DESC')

const BEFORE_ALL = { createdAt: '-infinity', id: '00000000-0000-0000-0000-000000000000' }
const AFTER_ALL = { createdAt: 'infinity', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' }

/** The values of a pool, consumed or not, oldest first. Throws REWARD_NOT_FOUND, REWARD_NOT_POOL_SOURCED. */
export async function listPoolValues(
  ctx: Context,
  { rewardId, ...args }: PageArgs & { rewardId: string },
): Promise<Page<PoolValueRow>> {
  const request = pageRequest(args)
  const { total } = await readPool(ctx, { rewardId })
  const after = request.after ?? BEFORE_ALL
  const before = request.before ?? AFTER_ALL
  const found = await ctx.sql.rows(request.backwards ? pageBackwards : pageForwards, [
    ctx.business.id,
    rewardId,
    after.createdAt,
    after.id,
    before.createdAt,
    before.id,
    request.limit + 1,
    request.offset,
  ])
  return pageOf(request, found, async () => total)
}

const findUnclaimed = statement<{ id: string; value: string }>(
  'unclaimed_pool_values_after',
  `SELECT id, value FROM pool_values
    WHERE business_id = $1 AND reward_id = $2 AND redemption_id IS NULL AND id > $3
    ORDER BY id LIMIT $4`,
)
const JUDGED_AT_ONCE = 5_000

/**
 * A reward whose values come from its pool and are links from now on has only links to hand out. To be asked under
 * the reward's lock. Throws InvalidInput naming what the change made of it.
 */
export async function requireLinksInPool(
  tx: TransactionContext,
  rewardId: string,
  before: RewardTerms,
  after: RewardTerms,
): Promise<void> {
  if (!handsOutLinks(after) || handsOutLinks(before)) return
  for (let last = BEFORE_ALL.id; ; ) {
    const values = await tx.sql.rows(findUnclaimed, [tx.business.id, rewardId, last, JUDGED_AT_ONCE])
    if (values.some(({ value }) => !isHttpUrl(value))) throw notLinks(before)
    if (values.length < JUDGED_AT_ONCE) return
    last = values.at(-1)!.id
  }
}

const handsOutLinks = ({ digitalAssetSource, digitalAssetType }: RewardTerms): boolean =>
  digitalAssetSource === 'pool' && digitalAssetType === 'link'

const notLinks = (before: RewardTerms) =>
  before.digitalAssetType === 'link'
    ? invalid('digitalAssetSource', 'must not be pool: values of the pool are not http or https URLs')
    : invalid('digitalAssetType', 'must not be link: values of the pool are not http or https URLs')
