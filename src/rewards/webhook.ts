import { v4 as uuidv4 } from 'uuid'
import { type Context, transaction } from '../context.js'
import { statement } from '../database/sql.js'
import { AppError } from '../errors.js'
import { callProvision, type ProvisionResult } from '../outbound/provision-call.js'
import { logDelivery } from './deliveries.js'
import { newSigningSecret } from './signing-secret.js'

/** Where a reward's values are minted, and what signs the calls. */
export interface Webhook {
  url: string
  secret: string
}

interface WebhookRow {
  url: string | null
  sealedSecret: Buffer | null
  assetType: 'code' | 'link' | null
}

const find = statement<WebhookRow>(
  'find_reward_webhook',
  `SELECT digital_webhook_url AS url, digital_webhook_secret AS "sealedSecret", digital_asset_type AS "assetType"
     FROM rewards WHERE business_id = $1 AND id = $2 AND deleted_at IS NULL`,
)

/** The webhook of a reward as it is now; undefined where its values do not come from one, or it was deleted. */
export async function readWebhook(ctx: Context, rewardId: string): Promise<Webhook | undefined> {
  const row = await ctx.sql.row(find, [ctx.business.id, rewardId])
  return row && opened(ctx, row)
}

const opened = (ctx: Context, { url, sealedSecret }: WebhookRow): Webhook | undefined =>
  url === null || sealedSecret === null ? undefined : { url, secret: ctx.secrets.open(sealedSecret) }

const replaceSecret = statement<{ one: number }>(
  'replace_webhook_secret',
  `UPDATE rewards SET digital_webhook_secret = $3, updated_at = $4
    WHERE business_id = $1 AND id = $2 AND digital_asset_source = 'external' RETURNING 1 AS one`,
)

/**
 * A new signing secret; the old one is void from now on. The new one is shown this once. Throws REWARD_NOT_FOUND or
 * REWARD_NOT_EXTERNALLY_SOURCED.
 */
export function rotateWebhookSecret(ctx: Context, { id }: { id: string }): Promise<{ secret: string }> {
  return transaction(ctx, async (tx) => {
    if (!(await tx.sql.row(find, [ctx.business.id, id]))) throw new AppError('REWARD_NOT_FOUND')
    const { sealed, revealed } = newSigningSecret(tx)
    const replaced = await tx.sql.row(replaceSecret, [ctx.business.id, id, sealed, ctx.now])
    if (!replaced) throw new AppError('REWARD_NOT_EXTERNALLY_SOURCED')
    return { secret: revealed }
  })
}

/** A test call as it was made, and what came of it. */
export interface WebhookTest extends ProvisionResult {
  url: string
}

/**
 * Calls the webhook as a redemption would, marked as a test (spec §6): the receiver returns a throwaway value. The
 * breaker neither stops nor counts it. Throws REWARD_NOT_FOUND or REWARD_NOT_EXTERNALLY_SOURCED.
 */
export async function testWebhook(ctx: Context, { id }: { id: string }): Promise<WebhookTest> {
  const row = await ctx.sql.row(find, [ctx.business.id, id])
  if (!row) throw new AppError('REWARD_NOT_FOUND')
  const webhook = opened(ctx, row)
  if (!webhook) throw new AppError('REWARD_NOT_EXTERNALLY_SOURCED')
  const result = await callProvision(ctx.network, {
    ...webhook,
    idempotencyKey: `test_${uuidv4()}`,
    redemptionId: null,
    userId: null,
    rewardId: id,
    businessId: ctx.business.id,
    assetType: row.assetType!,
    now: ctx.now,
  })
  await logDelivery(ctx, { rewardId: id, redemptionId: null, ...result })
  return { url: webhook.url, ...result }
}
