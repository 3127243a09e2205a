import { setTimeout as sleep } from 'node:timers/promises'
import { OperatorError } from '../../src/operator-error.js'

/** An answer of the service; `error` is the message of a refusal. */
export interface Reply {
  readonly status: number
  readonly replayed: boolean
  /** Of the envelope; undefined in a refusal. */
  readonly data: unknown
  readonly error: string
}

export interface Api {
  get(path: string): Promise<Reply>
  post(path: string, body: object, idempotencyKey: string): Promise<Reply>
}

const TIMEOUT_MS = 60_000
/** Of one request that the service cannot answer now; one that is over a rate limit waits as long as it takes. */
const TRIES = 10
const RETRY_AFTER_SECONDS_DEFAULT = 1

/**
 * A client that sends a request again until it is answered: over a rate limit (429), while the service is away (503,
 * or no answer at all) and while an earlier try with the same key still runs (409). The waits are the service's own
 * (`Retry-After`); past a rate limit all requests wait together.
 */
export function createApi(url: string, key: string): Api {
  let limitedUntil = 0

  async function send(method: string, path: string, init: RequestInit): Promise<Reply> {
    for (let failures = 0; ; ) {
      while (limitedUntil > Date.now()) await sleep(limitedUntil - Date.now())
      const response = await attempt(`${url}/api/v1${path}`, { method, ...init })
      const reply = typeof response === 'string' ? undefined : await replyOf(response)
      if (reply && !mayBeSentAgain(reply)) return reply
      const waitMs = retryAfterMs(typeof response === 'string' ? undefined : response)
      if (reply?.status === 429) limitedUntil = Date.now() + waitMs
      else if (++failures === TRIES)
        throw new OperatorError(`${method} ${path}: ${reply?.error ?? response} (tried ${TRIES} times)`)
      else await sleep(waitMs)
    }
  }

  const headers = { Authorization: `Bearer ${key}` }
  return {
    get: (path) => send('GET', path, { headers }),
    post: (path, body, idempotencyKey) =>
      send('POST', path, {
        headers: { ...headers, 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey },
        body: JSON.stringify(body),
      }),
  }
}

/** The response, or why there is none. */
async function attempt(url: string, init: RequestInit): Promise<Response | string> {
  try {
    return await fetch(url, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) })
  } catch (error) {
    const { message, cause } = error as Error
    return cause instanceof Error ? cause.message : message
  }
}

async function replyOf(response: Response): Promise<Reply> {
  const text = await response.text()
  const replayed = response.headers.get('Idempotency-Replayed') === 'true'
  try {
    const { data, error } = JSON.parse(text) as { data?: unknown; error?: { message: string } }
    return { status: response.status, replayed, data, error: error?.message ?? '' }
  } catch {
    return { status: response.status, replayed, data: undefined, error: text.slice(0, 200) }
  }
}

const mayBeSentAgain = ({ status, error }: Reply): boolean =>
  status === 429 || status === 503 || (status === 409 && error === 'IDEMPOTENCY_KEY_IN_USE')

const retryAfterMs = (response: Response | undefined): number =>
  (Number(response?.headers.get('Retry-After')) || RETRY_AFTER_SECONDS_DEFAULT) * 1000
