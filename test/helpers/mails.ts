import type { Tenant, TestApp } from './app.js'
import { createCustomer, createReward, type Resource } from './factories.js'

/** A digital reward whose one code is also e-mailed. */
export const createMailedReward = (
  tenant: Pick<Tenant, 'rest'>,
  overrides: Record<string, unknown> = {},
): Promise<Resource> =>
  createReward(tenant, {
    points_cost: 0,
    delivery_mode: 'digital',
    digital_asset_type: 'code',
    digital_asset_value: 'SESAME-42',
    digital_email_delivery: true,
    ...overrides,
  })

/** A customer redeems a mailed reward: its e-mail waits. Returns the customer. */
export async function redeemMailed(
  tenant: Pick<Tenant, 'rest'>,
  {
    reward = {},
    customer = {},
    times = 1,
  }: { reward?: Record<string, unknown>; customer?: Record<string, unknown>; times?: number } = {},
): Promise<Resource> {
  const { id } = await createMailedReward(tenant, reward)
  const created = await createCustomer(tenant, { email: 'ada@example.com', ...customer })
  for (let time = 0; time < times; time++) {
    const { status, text } = await tenant.rest('POST /redemptions', {
      reward_id: id,
      user_id: created.user_id,
    })
    if (status !== 201) throw new Error(`POST /redemptions: ${status} ${text}`)
  }
  return created
}

const MAILS = `{ mails { totalCount nodes {
  id redemptionId userId status attempts nextAttemptAt lastError createdAt sentAt } } }`

/** The mails of a business as its dashboard sees them, newest first. */
export async function mailsOf({ graph }: Pick<Tenant, 'graph'>): Promise<Resource[]> {
  const { data, errors } = await graph(MAILS)
  if (errors) throw new Error(`mails: ${JSON.stringify(errors)}`)
  return data.mails.nodes
}

/** The connections of a database on which a transaction is open although nothing runs. */
export async function idleTransactions({ database }: TestApp): Promise<number> {
  const { rows } = await database.pool.query(
    "SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%'",
  )
  return Number(rows[0].n)
}
