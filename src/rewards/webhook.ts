import type { Context } from '../context.js'
import { statement } from '../database/sql.js'

/** Where a reward's values are minted, and what signs the calls. */
export interface Webhook {
  url: string
  secret: string
}

const find = statement<{ url: string; sealedSecret: Buffer }>(
  'find_reward_webhook',
  `SELECT digital_webhook_url AS url, digital_webhook_secret AS "sealedSecret" FROM rewards
    WHERE business_id = $1 AND id = $2 AND digital_asset_source = 'external'`,
)

/** The webhook of a reward as it is now; undefined where its values do not come from one. */
export async function readWebhook(ctx: Context, rewardId: string): Promise<Webhook | undefined> {
  const row = await ctx.sql.row(find, [ctx.business.id, rewardId])
  return row && { url: row.url, secret: ctx.secrets.open(row.sealedSecret) }
}
