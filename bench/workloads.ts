import { anyPoolReward } from './pool.js'
import { segmentBody, segmentKinds } from './segments.js'
import { customerId, RAFFLE_ID } from './tenants.js'

/** What the requests of one run are made of. */
export interface Material {
  apiKey: string
  customers: number
  /** Redemption codes that are pending; each is used once. */
  codes: string[]
  /** Codes of batches that nobody has claimed; each is used once. */
  claimCodes: string[]
  /** Told apart from every other run on this database. */
  run: string
}

export interface HttpRequest {
  method: 'GET' | 'POST'
  path: string
  headers?: Record<string, string>
  body?: object
}

export interface Workload {
  name: string
  /** The service's throughput as a share of the reference's (design.md §7); undefined = for information. */
  target?: number
  /** Which of the material it uses up. */
  uses?: 'codes' | 'claimCodes'
  /** An endless supply of requests, unless the material comes to an end. */
  requests(material: Material): Iterator<HttpRequest, undefined>
}

const READ_TARGET = 0.6
const WRITE_TARGET = 0.6
/** A segment takes at most 1.3 times as long as its bare SQL. */
const SEGMENT_TARGET = 1 / 1.3

function* repeat(request: HttpRequest): Generator<HttpRequest, undefined> {
  for (;;) yield request
}

const anyCustomer = ({ customers }: Material): string => customerId(Math.floor(Math.random() * customers))

const purchase = (material: Material): HttpRequest => ({
  method: 'POST',
  path: '/points/issue',
  body: {
    user_id: anyCustomer(material),
    amount: `${Math.ceil(Math.random() * 90)}.${10 + Math.floor(Math.random() * 90)}`,
  },
})

export const workloads: readonly Workload[] = [
  {
    name: 'GET /me',
    target: READ_TARGET,
    requests: () => repeat({ method: 'GET', path: '/me' }),
  },
  {
    name: 'GET /customers/{id}/balance',
    target: READ_TARGET,
    *requests(material) {
      for (;;) yield { method: 'GET', path: `/customers/${anyCustomer(material)}/balance` }
    },
  },
  {
    name: 'GET /transactions?limit=50',
    target: READ_TARGET,
    requests: () => repeat({ method: 'GET', path: '/transactions?limit=50' }),
  },
  {
    name: 'GET /transactions?limit=1',
    requests: () => repeat({ method: 'GET', path: '/transactions?limit=1' }),
  },
  {
    name: 'POST /points/issue',
    target: WRITE_TARGET,
    *requests(material) {
      for (;;) yield purchase(material)
    },
  },
  {
    name: 'POST /points/issue, Idempotency-Key',
    *requests(material) {
      for (let n = 0; ; n++)
        yield { ...purchase(material), headers: { 'Idempotency-Key': `${material.run}-${n}` } }
    },
  },
  {
    name: 'POST /redemptions/{code}/complete',
    target: WRITE_TARGET,
    uses: 'codes',
    *requests({ codes }) {
      for (const code of codes) yield { method: 'POST', path: `/redemptions/${code}/complete` }
      return undefined
    },
  },
  {
    name: 'POST /redemptions, code pool',
    *requests(material) {
      for (;;)
        yield {
          method: 'POST',
          path: '/redemptions',
          body: { reward_id: anyPoolReward(), user_id: anyCustomer(material) },
        }
    },
  },
  {
    name: 'POST /codes/claim',
    target: WRITE_TARGET,
    uses: 'claimCodes',
    *requests(material) {
      for (const code of material.claimCodes)
        yield { method: 'POST', path: '/codes/claim', body: { user_id: anyCustomer(material), code } }
      return undefined
    },
  },
  {
    name: 'POST /raffles/{id}/entries',
    *requests(material) {
      for (;;) {
        const body = { user_id: anyCustomer(material) }
        yield { method: 'POST', path: `/raffles/${RAFFLE_ID}/entries`, body }
      }
    },
  },
  ...segmentKinds.map(
    (kind): Workload => ({
      name: `POST /segments/customers, ${kind.name}`,
      target: SEGMENT_TARGET,
      requests: () => repeat({ method: 'POST', path: '/segments/customers', body: segmentBody(kind) }),
    }),
  ),
]
