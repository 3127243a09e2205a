import {
  type GraphQLField,
  type GraphQLOutputType,
  getNamedType,
  isObjectType,
  isRequiredArgument,
} from 'graphql'
import { schema } from '../../src/graphql/schema.js'
import { createThings } from '../contract/things.js'
import type { Tenant, TestApp } from '../helpers/app.js'
import {
  createCodes,
  createCustomer,
  createPoolReward,
  createRaffle,
  createReward,
  createTier,
} from '../helpers/factories.js'

/** A list of the graph, with the arguments it cannot do without. */
export interface Connection {
  name: string
  /** `rewardId: "0190…", ` */
  given: string
}

const fields = Object.values(schema.getQueryType()!.getFields()).filter(({ type }) =>
  getNamedType(type).name.endsWith('Connection'),
)

/**
 * At least `count` entries in every list of the graph, each about a customer, a reward and a redemption of its own; a
 * list added later needs its entries made here. Returns the lists.
 */
export async function fillConnections(app: TestApp, tenant: Tenant, count: number): Promise<Connection[]> {
  const { rest, graph, businessId } = tenant
  const tier = await createTier(tenant)
  const pool = await createPoolReward(
    tenant,
    Array.from({ length: count }, (_, index) => `VALUE-${index}`),
  )
  const { externalRewardId } = await createThings(tenant, ['externalRewardId'])
  const { batch } = await createCodes(tenant, { quantity: count })
  const raffle = await createRaffle(tenant, { points_cost: 1 })
  const asked = 'mutation { createReviewQuestion(input: { text: "The staff?" }) { id } }'
  const answers = [{ question_id: (await tenant.graph(asked)).data.createReviewQuestion.id, rating: 4 }]
  for (let index = 0; index < count; index++) {
    await createRaffle(tenant)
    await createCodes(tenant)
    const { user_id } = await createCustomer(tenant, {
      email: `customer-${index}@example.com`,
      identifiers: [{ value: `card-${index}` }, { value: `app-${index}` }],
    })
    const reward = await createReward(tenant, {
      points_cost: 1,
      tier_gate: { mode: 'minimum', tier_id: tier.id },
      tier_overrides: [{ tier_id: tier.id, early_access_hours: 1 }],
      delivery_mode: 'digital',
      digital_asset_type: 'code',
      digital_asset_value: 'HELLO',
      digital_email_delivery: true,
    })
    await app.database.pool.query('UPDATE customers SET tier_id = $1 WHERE business_id = $2', [
      tier.id,
      businessId,
    ])
    await rest('POST /points/issue', { user_id, points: 10 })
    const entered = await rest(`POST /raffles/${raffle.id}/entries`, { user_id })
    await graph('mutation ($input: ImportPointsInput!) { importPoints(input: $input) { id } }', {
      input: { csv: `user_id,points\n${user_id},1\n` },
    })
    const redeemed = await rest('POST /redemptions', { reward_id: reward.id, user_id })
    const tested = await rest(`POST /rewards/${externalRewardId}/webhook/test`)
    for (const { status, text } of [entered, redeemed, tested]) if (status >= 300) throw new Error(text)
    const reviewed = await rest('POST /reviews', { user_id, rating: 5, answers })
    for (const { status, text } of [redeemed, tested, reviewed]) if (status >= 300) throw new Error(text)
  }
  const values: Record<string, string> = { rewardId: pool.id, raffleId: raffle.id, batchId: batch.id }
  return fields.map(({ name, args }) => ({
    name,
    given: args
      .filter(isRequiredArgument)
      .map((arg) => `${arg.name}: "${values[arg.name]}", `)
      .join(''),
  }))
}

const DEEPEST = 6

/** Everything that can be asked of a type without arguments, as deep as it goes. */
function everythingOf(type: GraphQLOutputType, level = 0): string {
  const named = getNamedType(type)
  if (!isObjectType(named)) return ''
  const members = Object.values(named.getFields()).flatMap((field) => memberOf(field, level))
  return members.length > 0 ? `{ ${members.join(' ')} }` : ''
}

function memberOf(field: GraphQLField<unknown, unknown>, level: number): string[] {
  if (!isObjectType(getNamedType(field.type))) return [field.name]
  const inside = level < DEEPEST ? everythingOf(field.type, level + 1) : ''
  return inside === '' ? [] : [`${field.name} ${inside}`]
}

/** Everything that a list of the graph can tell of its entries. */
export function everythingOfNodes({ name }: Connection): string {
  const connection = getNamedType(fields.find((field) => field.name === name)!.type)
  const nodes = isObjectType(connection) ? connection.getFields().nodes! : undefined
  return everythingOf(nodes!.type)
}
