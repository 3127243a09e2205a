import { v7 as uuidv7 } from 'uuid'
import { randomCharacters } from '../../src/crockford.js'
import { graphClient, restClient, type Tenant, type TestApp } from './app.js'

/**
 * What a test needs to exist, made through the API as a client would make it. Overrides are fields of the request;
 * what they do not say gets a value that plays no part.
 */

/** A resource as REST answers it; the tests look into it freely. */
// biome-ignore lint/suspicious/noExplicitAny: fields of any resource
export type Resource = Record<string, any>

/** A reward of the counter for 100 points. */
export async function createReward(
  { rest }: Pick<Tenant, 'rest'>,
  overrides: Record<string, unknown> = {},
): Promise<Resource> {
  const { status, body, text } = await rest('POST /rewards', {
    name: 'Coffee',
    points_cost: 100,
    ...overrides,
  })
  if (status !== 201) throw new Error(`POST /rewards: ${status} ${text}`)
  return body.data.reward
}

/** A customer of whom nothing is known. */
export async function createCustomer(
  { rest }: Pick<Tenant, 'rest'>,
  overrides: Record<string, unknown> = {},
): Promise<Resource> {
  const { status, body, text } = await rest('POST /customers', overrides)
  if (status !== 201) throw new Error(`POST /customers: ${status} ${text}`)
  return body.data.customer
}

/** A promotion without days, which doubles points. */
export async function createPromotion(
  { rest }: Pick<Tenant, 'rest'>,
  overrides: Record<string, unknown> = {},
): Promise<Resource> {
  const { status, body, text } = await rest('POST /promotions', {
    name: 'Double points',
    points_multiplier: '2',
    ...overrides,
  })
  if (status !== 201) throw new Error(`POST /promotions: ${status} ${text}`)
  return body.data.promotion
}

/** A running raffle of one winner for 10 points an entry. */
export async function createRaffle(
  { rest }: Pick<Tenant, 'rest'>,
  overrides: Record<string, unknown> = {},
): Promise<Resource> {
  const { status, body, text } = await rest('POST /raffles', {
    name: 'Bicycle',
    points_cost: 10,
    ends_at: '2999-01-01T00:00:00Z',
    ...overrides,
  })
  if (status !== 201) throw new Error(`POST /raffles: ${status} ${text}`)
  return body.data.raffle
}

let lastRank = 0

/** A tier above all that were created before it. */
export async function createTier(
  { graph }: Pick<Tenant, 'graph'>,
  overrides: { name?: string; rank?: number; minPoints?: number; benefits?: Record<string, unknown> } = {},
): Promise<Resource> {
  const { data, errors } = await graph(
    'mutation ($input: CreateTierInput!) { createTier(input: $input) { id name rank minPoints } }',
    { input: { name: 'Gold', rank: ++lastRank, minPoints: 1000, ...overrides } },
  )
  if (errors) throw new Error(`createTier: ${JSON.stringify(errors)}`)
  return data.createTier
}

/** Lets customers move between tiers: by points earned in a lifetime, unless the overrides say how. */
export async function enableTiers(
  { graph }: Pick<Tenant, 'graph'>,
  overrides: Record<string, unknown> = {},
): Promise<void> {
  const { errors } = await graph(
    'mutation ($input: UpdateTierSettingsInput!) { updateTierSettings(input: $input) { enabled } }',
    { input: { enabled: true, ...overrides } },
  )
  if (errors) throw new Error(`updateTierSettings: ${JSON.stringify(errors)}`)
}

/** A digital reward for 1 point whose codes come from a pool with some values. */
export async function createPoolReward(
  { rest }: Pick<Tenant, 'rest'>,
  values: readonly string[] = [],
  overrides: Record<string, unknown> = {},
): Promise<Resource> {
  const reward = await createReward(
    { rest },
    {
      points_cost: 1,
      delivery_mode: 'digital',
      digital_asset_type: 'code',
      digital_asset_source: 'pool',
      ...overrides,
    },
  )
  if (values.length === 0) return reward
  const { status, text } = await rest(`POST /rewards/${reward.id}/pool`, { values })
  if (status !== 200) throw new Error(`POST /rewards/:id/pool: ${status} ${text}`)
  return (await rest(`GET /rewards/${reward.id}`)).body.data.reward
}

/** A terminal with the code that pairs it. */
export async function registerDevice(
  { rest }: Pick<Tenant, 'rest'>,
  overrides: Record<string, unknown> = {},
): Promise<{ device: Resource; pairing: Resource }> {
  const { status, body, text } = await rest('POST /devices', {
    device_name: `Counter ${uuidv7()}`,
    ...overrides,
  })
  if (status !== 201) throw new Error(`POST /devices: ${status} ${text}`)
  return body.data
}

/** A paired terminal, with its token and a client that shows it. */
export async function createTerminal(
  app: TestApp,
  tenant: Pick<Tenant, 'rest'>,
  overrides: Record<string, unknown> = {},
) {
  const { pairing } = await registerDevice(tenant, overrides)
  const { status, body, text } = await restClient(app.url, undefined)('POST /terminal/pair', {
    code: pairing.code,
  })
  if (status !== 200) throw new Error(`POST /terminal/pair: ${status} ${text}`)
  const { device, token } = body.data as { device: Resource; token: string }
  return { device, token, rest: restClient(app.url, token), graph: graphClient(app.url, token) }
}

/** A prefix that no other batch has. */
export const newPrefix = (): string => randomCharacters(10)

/** A batch of one code of 10 points, and its codes. */
export async function createCodes(
  { rest }: Pick<Tenant, 'rest'>,
  overrides: Record<string, unknown> = {},
): Promise<{ batch: Resource; codes: string[] }> {
  const { status, body, text } = await rest('POST /code-batches', {
    name: 'Bottle caps',
    prefix: newPrefix(),
    points: 10,
    quantity: 1,
    ...overrides,
  })
  if (status !== 201) throw new Error(`POST /code-batches: ${status} ${text}`)
  const { batch } = body.data
  const exported = await rest(`GET /code-batches/${batch.id}/export?format=json`)
  return { batch, codes: exported.body.map(({ code }: { code: string }) => code) }
}
