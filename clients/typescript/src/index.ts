import createFetchClient, { type Client } from 'openapi-fetch'
import type { components, paths } from './api.js'

export type { components, operations, paths } from './api.js'

/** The resources by their names in the document: `Resource<'Reward'>`. */
export type Resource<Name extends keyof components['schemas']> = components['schemas'][Name]

export interface LoyaltyClientOptions {
  /** `https://loyalty.example.com`, without `/api/v1`. */
  baseUrl: string
  apiKey: string
  /** Instead of the global one. */
  fetch?: typeof globalThis.fetch
}

/** A client whose paths, parameters, bodies and answers are checked by the compiler. */
export function createLoyaltyClient({ baseUrl, apiKey, fetch }: LoyaltyClientOptions): Client<paths> {
  return createFetchClient<paths>({
    baseUrl,
    headers: { Authorization: `Bearer ${apiKey}` },
    ...(fetch && { fetch }),
  })
}

/** A refusal, as the service words it. */
export class LoyaltyError extends Error {
  readonly status: number
  /** `REWARD_LIMIT_REACHED` where the message is a code, perhaps with a value; undefined where it is words. */
  readonly code: string | undefined
  readonly value: string | undefined
  /** Quote it when you ask the operator. */
  readonly requestId: string | null
  /** After how many seconds the same request may be sent again, where the answer says so. */
  readonly retryAfterSeconds: number | undefined

  constructor(response: Response, message: string) {
    super(message)
    this.name = 'LoyaltyError'
    this.status = response.status
    const [, code, value] = /^([A-Z]+(?:_[A-Z]+)+)(?::(.+))?$/.exec(message) ?? []
    this.code = code
    this.value = value
    this.requestId = response.headers.get('X-Request-Id')
    const after = response.headers.get('Retry-After')
    this.retryAfterSeconds = after === null ? undefined : Number(after)
  }
}

interface Answered<Body> {
  data?: Body
  error?: unknown
  response: Response
}

/** What a call was asked for, out of its envelope; throws LoyaltyError where it was refused. */
export async function dataOf<Data>(call: Promise<Answered<{ data: Data }>>): Promise<Data> {
  const { data, error, response } = await call
  if (data !== undefined) return data.data
  const message = (error as { error?: { message?: string } } | undefined)?.error?.message
  throw new LoyaltyError(response, message ?? response.statusText)
}
