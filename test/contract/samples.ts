import { v7 as uuidv7 } from 'uuid'
import type { CompiledRoute } from '../../src/rest/compile.js'
import type { Route } from '../../src/rest/route.js'
import type { RestAnswer, RestClient, Tenant } from '../helpers/app.js'
import { createCustomer, createReward } from '../helpers/factories.js'

/**
 * A request for every row of the route table that the row accepts: what the contract suite asks each of them. A new
 * row without one fails the suite by name, unless its path alone is enough.
 */

/** The ids and codes of one business's things, one of each kind. */
export type Things = Record<keyof typeof strangers, string>

/** The form of each id, naming nothing. */
const strangers = {
  userId: uuidv7,
  identifierId: uuidv7,
  identifier: () => `nobody-${uuidv7()}`,
  transactionId: uuidv7,
  rewardId: uuidv7,
  redemptionCode: () => 'ZZZZZZZZ',
}

export const thingsOfNobody = (): Things =>
  Object.fromEntries(Object.entries(strangers).map(([kind, make]) => [kind, make()])) as Things

/** One of each kind, in a business: a customer with points and an identifier, and a reward they may take. */
export async function createThings({ rest }: Pick<Tenant, 'rest'>): Promise<Things> {
  const identifier = `card-${uuidv7()}`
  const customer = await createCustomer({ rest }, { identifiers: [{ value: identifier }] })
  const userId = customer.user_id as string
  const reward = await createReward({ rest }, { points_cost: 10 })
  const issued = await rest('POST /points/issue', { user_id: userId, points: 100 })
  const redemption = await rest('POST /redemptions', { reward_id: reward.id, user_id: userId })
  return {
    userId,
    identifier,
    identifierId: customer.identifiers[0].id,
    transactionId: issued.body.data.transaction.id,
    rewardId: reward.id,
    redemptionCode: redemption.body.data.redemption.code,
  }
}

/** Things for each row in turn: of its own for a write, which may use them up; the same for all reads. */
export function thingsFor(tenant: Tenant): (row: CompiledRoute) => Promise<Things> {
  const shared = createThings(tenant)
  return (row) => (row.isWrite ? createThings(tenant) : shared)
}

/** What stands for a parameter, by the path up to it. */
const pathThings: Record<string, keyof Things> = {
  '/customers/:userId': 'userId',
  '/customers/:userId/identifiers/:id': 'identifierId',
  '/transactions/:id': 'transactionId',
  '/rewards/:id': 'rewardId',
  '/redemptions/:code': 'redemptionCode',
}

interface Sample {
  query?: string
  body?: Record<string, unknown>
}

const samples: Record<string, (things: Things) => Sample> = {
  'PATCH /settings': () => ({ body: { timezone: 'Europe/Berlin' } }),
  'POST /customers': () => ({ body: { display_name: 'Ada' } }),
  'GET /customers/lookup': ({ identifier }) => ({ query: `?identifier=${identifier}` }),
  'PATCH /customers/:userId': () => ({ body: { display_name: 'Ada' } }),
  'POST /customers/:userId/identifiers': () => ({ body: { value: 'card-2' } }),
  'PATCH /customers/:userId/identifiers/:id': () => ({ body: { label: 'Card' } }),
  'POST /points/issue': ({ userId }) => ({ body: { user_id: userId, points: 10 } }),
  'POST /points/redeem': ({ identifier }) => ({ body: { identifier, points: 10 } }),
  'GET /redemptions': ({ rewardId, userId }) => ({ query: `?reward_id=${rewardId}&user_id=${userId}` }),
  'POST /redemptions': ({ rewardId, userId }) => ({ body: { reward_id: rewardId, user_id: userId } }),
  'POST /rewards': () => ({ body: { name: 'Cake', points_cost: 50 } }),
  'PATCH /rewards/:id': () => ({ body: { name: 'Cake' } }),
}

/** The kinds of the things in a row's path. */
export const thingsInPath = ({ path }: Pick<Route, 'path'>): (keyof Things)[] =>
  parametersOf(path).map((upTo) => pathThings[upTo] ?? missing(upTo))

const parametersOf = (path: string): string[] =>
  [...path.matchAll(/:\w+/g)].map((match) => path.slice(0, match.index + match[0].length))

const missing = (upTo: string): never => {
  throw new Error(`test/contract/samples.ts: say what stands for ${upTo}`)
}

/** `/customers/0190…/balance` */
export function pathFor(row: Pick<Route, 'path'>, things: Things): string {
  const values = thingsInPath(row).map((kind) => things[kind])
  return row.path.replace(/:\w+/g, () => encodeURIComponent(values.shift()!))
}

export interface SampleRequest {
  /** `POST /points/issue` */
  request: string
  body: Record<string, unknown> | undefined
}

/** The row's request about some things. */
export function sampleFor(row: CompiledRoute, things: Things): SampleRequest {
  const { name, method } = row
  const { query = '', body } = samples[name]?.(things) ?? {}
  return { request: `${method.toUpperCase()} ${pathFor(row, things)}${query}`, body }
}

export const send = (
  rest: RestClient,
  { request, body }: SampleRequest,
  headers: Record<string, string> = {},
): Promise<RestAnswer> => rest(request, body, headers)
