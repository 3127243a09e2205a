import { v7 as uuidv7 } from 'uuid'
import type { CompiledRoute } from '../../src/rest/compile.js'
import type { Route } from '../../src/rest/route.js'
import type { RestAnswer, RestClient } from '../helpers/app.js'
import { newPrefix } from '../helpers/factories.js'
import type { Things } from './things.js'

/**
 * A request for every row of the route table that the row accepts: what the contract suite asks each of them. A new
 * row without one fails the suite by name, unless its path alone is enough.
 */

/** What stands for a path's last parameter; the longest beginning of a row's path counts. */
const pathThings: Record<string, keyof Things> = {
  '/code-batches/:id': 'codeBatchId',
  '/customers/:userId': 'userId',
  '/customers/:userId/identifiers/:id': 'identifierId',
  '/transactions/:id': 'transactionId',
  '/promotions/:id': 'promotionId',
  '/rewards/:id': 'rewardId',
  '/rewards/:id/pool': 'poolRewardId',
  '/rewards/:id/webhook': 'externalRewardId',
  '/raffles/:id': 'raffleId',
  '/raffles/:id/confirm': 'drawnRaffleId',
  '/redemptions/:code': 'redemptionCode',
  '/redemptions/:code/fulfil': 'parcelCode',
  '/devices/:id': 'deviceId',
}

interface Sample {
  query?: string
  body?: Record<string, unknown>
}

/** The smallest image there is. */
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAADElEQVQImWP4//8/AAX+Av5Y8msOAAAAAElFTkSuQmCC'

const samples: Record<string, (things: Things) => Sample> = {
  'POST /code-batches': () => ({ body: { name: 'Caps', prefix: newPrefix(), points: 5, quantity: 2 } }),
  'POST /codes/claim': ({ claimableCode, userId }) => ({ body: { code: claimableCode, user_id: userId } }),
  'PATCH /settings': () => ({ body: { timezone: 'Europe/Berlin' } }),
  'POST /customers': () => ({ body: { display_name: 'Ada' } }),
  'GET /customers/lookup': ({ identifier }) => ({ query: `?identifier=${identifier}` }),
  'POST /devices': () => ({ body: { device_name: `Counter ${uuidv7()}` } }),
  'PATCH /devices/:id': () => ({ body: { max_points: 50 } }),
  'POST /terminal/pair': ({ pairingCode }) => ({ body: { code: pairingCode } }),
  'PATCH /customers/:userId': () => ({ body: { display_name: 'Ada' } }),
  'POST /customers/:userId/identifiers': () => ({ body: { value: `card-${uuidv7()}` } }),
  'PATCH /customers/:userId/identifiers/:id': () => ({ body: { label: 'Card' } }),
  'POST /points/issue': ({ userId }) => ({ body: { user_id: userId, points: 10 } }),
  'POST /points/redeem': ({ identifier }) => ({ body: { identifier, points: 10 } }),
  'POST /promotions': () => ({ body: { name: 'Double points', points_multiplier: '2' } }),
  'PATCH /promotions/:id': () => ({ body: { name: 'Triple points' } }),
  'POST /promotions/:id/image': () => ({ body: { image_base64: PIXEL } }),
  'POST /promotions/:id/interest': ({ userId }) => ({ body: { user_id: userId } }),
  'POST /raffles': () => ({ body: { name: 'Bicycle', points_cost: 5, ends_at: '2999-01-01T00:00:00Z' } }),
  'PATCH /raffles/:id': () => ({ body: { name: 'Tandem' } }),
  'POST /raffles/:id/entries': ({ userId }) => ({ body: { user_id: userId } }),
  'POST /raffles/:id/image': () => ({ body: { image_base64: PIXEL } }),
  'GET /redemptions': ({ rewardId, userId }) => ({ query: `?reward_id=${rewardId}&user_id=${userId}` }),
  'POST /redemptions': ({ rewardId, userId }) => ({ body: { reward_id: rewardId, user_id: userId } }),
  'POST /redemptions/:code/fulfil': () => ({ body: { status: 'shipped' } }),
  'POST /reviews': ({ userId }) => ({ body: { user_id: userId, rating: 5 } }),
  'POST /rewards': () => ({ body: { name: 'Cake', points_cost: 50 } }),
  'PATCH /rewards/:id': () => ({ body: { name: 'Cake' } }),
  'POST /rewards/:id/image': () => ({ body: { image_base64: PIXEL } }),
  'POST /rewards/:id/pool': () => ({ body: { values: ['A-1', 'A-2'] } }),
  'DELETE /rewards/:id/pool': () => ({ body: { all: true } }),
}

/** The kinds of the things in a row's path. */
export const thingsInPath = ({ path }: Pick<Route, 'path'>): (keyof Things)[] =>
  [...path.matchAll(/:\w+/g)].map((match) => {
    const upTo = path.slice(0, match.index + match[0].length)
    const [longest] = Object.keys(pathThings)
      .filter(
        (known) =>
          known.startsWith(upTo) && path.startsWith(known) && !known.slice(upTo.length).includes(':'),
      )
      .sort((a, b) => b.length - a.length)
    if (!longest) throw new Error(`test/contract/samples.ts: say what stands for ${upTo}`)
    return pathThings[longest]!
  })

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

/** The kinds of all things that a row's request is about. */
export function thingsOf(row: CompiledRoute): (keyof Things)[] {
  const kinds = new Set<keyof Things>()
  const noted = new Proxy({} as Things, { get: (_things, kind: keyof Things) => kinds.add(kind) && kind })
  sampleFor(row, noted)
  return [...kinds]
}

export const send = (
  rest: RestClient,
  { request, body }: SampleRequest,
  headers: Record<string, string> = {},
): Promise<RestAnswer> => rest(request, body, headers)
