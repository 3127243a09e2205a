import { v7 as uuidv7 } from 'uuid'
import { type Context, lookOutside, type TransactionContext, transaction } from '../context.js'
import type { Reward } from '../database/generated/prisma/client.js'
import { statement } from '../database/sql.js'
import { AppError, InvalidInput } from '../errors.js'
import { type Page, type PageArgs, pageOf, pageRequest, prismaPage } from '../graphql/connection.js'
import type { selection } from '../graphql/fields.js'
import { assertPublicHttpsUrl } from '../outbound/destination.js'
import { givenFields } from '../patch.js'
import { causesAfter, requireCapAbove } from './activity.rules.js'
import { requireLinksInPool } from './pool-values.js'
import { columnsOf, lockReward, type StoredReward, saveTierOverrides } from './reward-row.js'
import { newSigningSecret, type SigningSecret } from './signing-secret.js'
import { BLANK_TERMS, changeTerms, type RewardChange, type RewardTerms } from './terms.rules.js'

type Selection = ReturnType<typeof selection>

/** A reward as one answer shows it: with the signing secret only where that was made for it (spec §5). */
export type ShownReward = Reward & { revealedSecret?: string | undefined }

/** The fields of a request: absent ones are undefined. */
type Request<Fields> = { [Field in keyof Fields]: Fields[Field] | undefined }
type RewardRequest = Request<RewardChange> & { active?: boolean | undefined }

/**
 * Adds a reward. One from a pool starts off by pool, for it has no values yet. Throws InvalidInput where fields
 * contradict each other or a tier is not there.
 */
export async function createReward(
  ctx: Context,
  input: RewardRequest & { name: string; pointsCost: number },
  selected: Selection,
): Promise<ShownReward> {
  const { active, ...change } = givenFields(input)
  const terms = changeTerms(BLANK_TERMS, change)
  const id = uuidv7()
  await requirePublicWebhook(ctx, change)
  return transaction(ctx, async (tx) => {
    await requireTiers(tx, change)
    const secret = secretAfter(tx, terms)
    const supply = { ...terms, redemptionsCount: 0, poolAvailable: 0 }
    await tx.db.reward.create({
      data: {
        businessId: ctx.business.id,
        id,
        ...columnsOf(terms),
        ...causesAfter(active === false, undefined, supply),
        digitalWebhookSecret: secret.sealed,
        createdAt: ctx.now,
        updatedAt: ctx.now,
      },
      select: { id: true },
    })
    await saveTierOverrides(tx, id, terms.tierOverrides)
    return { ...(await readReward(tx, { id }, selected)), revealedSecret: secret.revealed }
  })
}

/**
 * Changes a reward; an absent field stays, null clears, objects and arrays are replaced whole. The rules are judged
 * on the merged record, under the row's lock, so that completions and changes cannot pass each other. Throws
 * EMPTY_UPDATE, REWARD_NOT_FOUND, InvalidInput, REWARD_LIMIT_BELOW_CURRENT, REWARD_LIMIT_REACHED,
 * DIGITAL_POOL_EXHAUSTED, in this order.
 */
export async function updateReward(
  ctx: Context,
  { id, ...input }: RewardRequest & { id: string },
  selected: Selection,
): Promise<ShownReward> {
  const { active, ...change } = givenFields(input)
  await requirePublicWebhook(ctx, change)
  return transaction(ctx, async (tx) => {
    const before = await lockReward(tx, id)
    const terms = changeTerms(before.terms, change)
    await requireTiers(tx, change)
    await requireLinksInPool(tx, id, before.terms, terms)
    requireCapAbove(before.redemptionsCount + before.reservedCount, terms.maxRedemptions)
    const secret = secretAfter(tx, terms, before)
    await tx.db.reward.update({
      where: { businessId_id: { businessId: ctx.business.id, id } },
      data: {
        ...columnsOf(terms),
        ...causesAfter(before.offByHand, active, { ...before, ...terms }),
        digitalWebhookSecret: secret.sealed,
        updatedAt: ctx.now,
      },
      select: { id: true },
    })
    // A new mode of the reward may have cleared numbers of its overrides.
    if (change.tierOverrides !== undefined || change.cooldownMode !== undefined)
      await saveTierOverrides(tx, id, terms.tierOverrides)
    return { ...(await readReward(tx, { id }, selected)), revealedSecret: secret.revealed }
  })
}

const cancelPending = statement<never>(
  'cancel_redemptions_of_reward',
  `UPDATE redemptions SET status = 'cancelled'
    WHERE business_id = $1 AND id IN (
      SELECT id FROM redemptions
       WHERE business_id = $1 AND reward_id = $2 AND status = 'pending' AND delivery_mode = 'in_store'
       ORDER BY id FOR NO KEY UPDATE)`,
)
const markDeleted = statement<never>(
  'delete_reward',
  'UPDATE rewards SET deleted_at = $3, updated_at = $3 WHERE business_id = $1 AND id = $2 AND deleted_at IS NULL',
)

/**
 * Deletes a reward: from now on it is not found. The codes that wait for the counter are cancelled (a redemption
 * whose value is on its way is settled by whoever secures that), its history stays. Throws REWARD_NOT_FOUND.
 */
export function deleteReward(ctx: Context, { id }: { id: string }): Promise<{ id: string }> {
  return transaction(ctx, async (tx) => {
    // Redemption before reward: the lock order of a completion.
    await tx.sql.run(cancelPending, [ctx.business.id, id])
    const deleted = await tx.sql.run(markDeleted, [ctx.business.id, id, ctx.now])
    if (deleted === 0) throw new AppError('REWARD_NOT_FOUND')
    return { id }
  })
}

/** Throws REWARD_NOT_FOUND. */
export async function readReward(
  ctx: Context,
  { id }: { id: string },
  selected: Selection,
): Promise<ShownReward> {
  const reward = await ctx.db.reward.findUnique({
    ...selected,
    where: { businessId_id: { businessId: ctx.business.id, id }, deletedAt: null },
  })
  if (!reward) throw new AppError('REWARD_NOT_FOUND')
  return reward
}

/** The rewards of the business, newest first. */
export async function listRewards(
  ctx: Context,
  args: PageArgs,
  selected: Selection,
): Promise<Page<ShownReward>> {
  const request = pageRequest(args)
  const listed = { businessId: ctx.business.id, deletedAt: null }
  const { where, ...page } = prismaPage(request)
  const found = await ctx.db.reward.findMany({ ...selected, ...page, where: { ...listed, ...where } })
  return pageOf(request, found, () => ctx.db.reward.count({ where: listed }))
}

/** Throws InvalidInput that names each field whose tier the business does not have. */
async function requireTiers(
  tx: TransactionContext,
  { tierGate, tierOverrides }: RewardChange,
): Promise<void> {
  const named = [
    ...(tierGate ? [{ path: 'tierGate.tierId', tierId: tierGate.tierId }] : []),
    ...(tierOverrides ?? []).map(({ tierId }, index) => ({ path: `tierOverrides.${index}.tierId`, tierId })),
  ]
  if (named.length === 0) return
  const tiers = await tx.db.tier.findMany({
    where: { businessId: tx.business.id, deletedAt: null, id: { in: named.map(({ tierId }) => tierId) } },
    select: { id: true },
  })
  const known = new Set(tiers.map(({ id }) => id))
  const missing = named.filter(({ tierId }) => !known.has(tierId))
  if (missing.length > 0)
    throw new InvalidInput(missing.map(({ path }) => ({ path, message: 'is not a tier of the business' })))
}

/** Throws InvalidInput naming the URL where it leads to anything but a public host. */
async function requirePublicWebhook(ctx: Context, { digitalWebhookUrl }: RewardChange): Promise<void> {
  if (digitalWebhookUrl == null) return
  await lookOutside(ctx, () => assertPublicHttpsUrl(ctx.network, 'digitalWebhookUrl', digitalWebhookUrl))
}

/** A reward that becomes external gets a signing secret, one that stays so keeps its own (spec §3). */
function secretAfter(ctx: Context, terms: RewardTerms, before?: StoredReward): SigningSecret {
  if (terms.digitalAssetSource !== 'external') return { sealed: null }
  if (before?.terms.digitalAssetSource === 'external') return { sealed: before.sealedSecret }
  return newSigningSecret(ctx)
}
