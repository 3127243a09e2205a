import { v7 as uuidv7 } from 'uuid'
import type { Context } from '../context.js'
import type { Prisma, WebhookDelivery } from '../database/generated/prisma/client.js'
import { statement } from '../database/sql.js'
import { type Page, type PageArgs, pageOf, pageRequest, prismaPage } from '../graphql/connection.js'
import type { ProvisionFailure } from '../outbound/provision-call.js'

/** How one call to a business's endpoint ended; no secrets, no values. */
export interface Delivery {
  rewardId: string
  /** Null = a test call. */
  redemptionId: string | null
  /** HTTP status of the answer, if there was one. */
  status: number | null
  /** Null = it brought a value. */
  failure: ProvisionFailure | 'circuit_open' | null
  durationMs: number
}

const insert = statement<never>(
  'log_webhook_delivery',
  `INSERT INTO webhook_deliveries (business_id, id, reward_id, redemption_id, test, ok, status, reason, duration_ms,
                                   created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
)

/** Adds to the delivery log of a reward. */
export async function logDelivery(ctx: Context, delivery: Delivery): Promise<void> {
  const { rewardId, redemptionId, status, failure, durationMs } = delivery
  await ctx.sql.run(insert, [
    ctx.business.id,
    uuidv7(),
    rewardId,
    redemptionId,
    redemptionId === null,
    failure === null,
    status,
    failure,
    durationMs,
    ctx.now,
  ])
}

/** The delivery log, newest first; of one reward or of all. */
export async function listDeliveries(
  ctx: Context,
  { rewardId, ...page }: PageArgs & { rewardId?: string | null | undefined },
): Promise<Page<WebhookDelivery>> {
  const listed: Prisma.WebhookDeliveryWhereInput = {
    businessId: ctx.business.id,
    ...(rewardId == null ? {} : { rewardId }),
  }
  const request = pageRequest(page)
  const { where, ...order } = prismaPage(request)
  const found = await ctx.db.webhookDelivery.findMany({ ...order, where: { ...listed, ...where } })
  return pageOf(request, found, () => ctx.db.webhookDelivery.count({ where: listed }))
}
