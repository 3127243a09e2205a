import { v7 as uuidv7 } from 'uuid'
import type { CompiledRoute } from '../../src/rest/compile.js'
import type { Tenant } from '../helpers/app.js'
import {
  createCodes,
  createCustomer,
  createPromotion,
  createRaffle,
  createReward,
  type Resource,
  registerDevice,
} from '../helpers/factories.js'
import { thingsOf } from './samples.js'

/** The ids and codes of one business's things, one of each kind: what the contract suite's requests are about. */
export type Things = Record<keyof typeof strangers, string>

/** The form of each id, naming nothing. */
const strangers = {
  codeBatchId: uuidv7,
  claimableCode: () => 'NOBODY-000000000000',
  userId: uuidv7,
  identifier: () => `nobody-${uuidv7()}`,
  identifierId: uuidv7,
  transactionId: uuidv7,
  promotionId: uuidv7,
  rewardId: uuidv7,
  poolRewardId: uuidv7,
  externalRewardId: uuidv7,
  raffleId: uuidv7,
  drawnRaffleId: uuidv7,
  redemptionCode: () => 'ZZZZZZZZ',
  parcelCode: () => 'ZZZZZZZZ',
  deviceId: uuidv7,
  pairingCode: () => 'ZZZZ-ZZZZ-ZZZZ',
}

export const thingsOfNobody = (): Things =>
  Object.fromEntries(Object.entries(strangers).map(([kind, make]) => [kind, make()])) as Things

/** The server of every business, for rewards that ask one: the apps of the suite find it (see table.ts). */
export const WEBHOOK_HOST = 'shop.example'

/** A redemption of a reward by a customer. */
async function redeem({ rest }: Tenant, reward: Resource, userId: string, address?: object): Promise<string> {
  const asked = { reward_id: reward.id, user_id: userId, ...(address && { shipping_address: address }) }
  const { status, text, body } = await rest('POST /redemptions', asked)
  if (status !== 201) throw new Error(`POST /redemptions: ${status} ${text}`)
  return body.data.redemption.code
}

const digital = { points_cost: 10, delivery_mode: 'digital', digital_asset_type: 'code' }
const address = { name: 'Ada', line1: '1 Main Street', city: 'Springfield', country: 'US' }

/** How to make each kind; all are about one customer, who has points. */
function makersFor(tenant: Tenant): Record<keyof Things, () => Promise<string>> {
  const customer = once(async () => {
    const created = await createCustomer(tenant, { identifiers: [{ value: `card-${uuidv7()}` }] })
    const issued = await tenant.rest('POST /points/issue', { user_id: created.user_id, points: 100 })
    return { created, transactionId: issued.body.data.transaction.id as string }
  })
  const reward = (fields: object) => createReward(tenant, { points_cost: 10, ...fields })
  const userId = async () => (await customer()).created.user_id as string
  return {
    codeBatchId: async () => (await createCodes(tenant)).batch.id,
    claimableCode: async () => (await createCodes(tenant)).codes[0]!,
    userId,
    identifier: async () => (await customer()).created.identifiers[0].value,
    identifierId: async () => (await customer()).created.identifiers[0].id,
    transactionId: async () => (await customer()).transactionId,
    promotionId: async () => (await createPromotion(tenant)).id,
    rewardId: async () => (await reward({})).id,
    poolRewardId: async () => (await reward({ ...digital, digital_asset_source: 'pool' })).id,
    externalRewardId: async () => {
      const url = { digital_asset_source: 'external', digital_webhook_url: `https://${WEBHOOK_HOST}/mint` }
      return (await reward({ ...digital, ...url })).id
    },
    raffleId: async () => (await createRaffle(tenant)).id,
    drawnRaffleId: async () => {
      const { id } = await createRaffle(tenant)
      await tenant.rest(`POST /raffles/${id}/end`)
      return id
    },
    redemptionCode: async () => redeem(tenant, await reward({}), await userId()),
    parcelCode: async () =>
      redeem(tenant, await reward({ delivery_mode: 'shipping' }), await userId(), address),
    deviceId: async () => (await registerDevice(tenant)).device.id,
    pairingCode: async () => (await registerDevice(tenant)).pairing.code,
  }
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}

/** One of each kind, or of those that are asked for, the others naming nothing. */
export async function createThings(
  tenant: Tenant,
  kinds = Object.keys(strangers) as (keyof Things)[],
): Promise<Things> {
  const makers = makersFor(tenant)
  const things = thingsOfNobody()
  for (const kind of kinds) things[kind] = await makers[kind]()
  return things
}

/** Things for each row in turn: of its own for a write, which may use them up; the same for all reads. */
export function thingsFor(tenant: Tenant): (row: CompiledRoute) => Promise<Things> {
  const shared = once(() => createThings(tenant))
  return (row) => (row.isWrite ? createThings(tenant, thingsOf(row)) : shared())
}
