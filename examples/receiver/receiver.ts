import { randomInt } from 'node:crypto'
import type { IncomingMessage, RequestListener } from 'node:http'
import { isSigned } from './signature.js'
import type { Asset, Store } from './store.js'

/** The endpoint of a business that mints the codes and links of its rewards itself: it answers `reward.provision`. */

export interface ReceiverOptions {
  /** The signing secrets of our rewards: each has its own. */
  secrets: readonly string[]
  store: Store
  /** Where a link leads: the token comes after it. */
  linkBase?: string
}

/** What the body of a `reward.provision` call says, as far as we need it. */
interface Provision {
  event: 'reward.provision'
  test: boolean
  idempotency_key: string
  asset_type: 'code' | 'link'
}

const MAX_BODY_BYTES = 64 * 1024
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export function createReceiver({
  secrets,
  store,
  linkBase = 'https://shop.example.com/gifts/',
}: ReceiverOptions): RequestListener {
  const mint = (type: Asset['type']): Asset => ({
    type,
    value: type === 'link' ? linkBase + token() : token(),
  })

  async function answerTo(request: IncomingMessage): Promise<Asset | Refusal> {
    if (request.method !== 'POST') return { status: 405, error: 'POST only' }
    const rawBody = await bodyOf(request)
    if (!rawBody) return { status: 413, error: 'body too large' }
    const signature = request.headers['x-service-signature']
    // Before anything in the body is believed, or even read.
    if (typeof signature !== 'string' || !isSigned(signature, rawBody, secrets, Date.now()))
      return { status: 401, error: 'signature not valid' }
    const call = JSON.parse(rawBody.toString('utf8')) as Provision
    if (call.event !== 'reward.provision') return { status: 400, error: 'unknown event' }
    // A test call gets a value of the right form that nobody can use: nothing is minted for it.
    if (call.test) {
      const value = call.asset_type === 'link' ? `${linkBase}test` : 'TEST'
      return { type: call.asset_type, value }
    }
    if (!UUID.test(call.idempotency_key)) return { status: 400, error: 'unknown form of idempotency_key' }
    return store.once(call.idempotency_key, () => mint(call.asset_type))
  }

  return async (request, response) => {
    const answer = await answerTo(request).catch((error: unknown): Refusal => {
      console.error(error)
      return { status: 500, error: 'internal error' }
    })
    const { status, body } =
      'status' in answer
        ? { status: answer.status, body: { error: answer.error } }
        : { status: 200, body: answer }
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
  }
}

interface Refusal {
  status: number
  error: string
}

/** The bytes as they came; undefined where there are more than a call ever has. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  // Left open, so that the refusal can be read.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BODY_BYTES) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

// Without characters that are mistaken for others when a person types them.
const ALPHABET = '23456789ABCDEFGHJKMNPQRSTVWXYZ'
const TOKEN_LENGTH = 16

/** A value that nobody can guess (78 bits). */
const token = (): string =>
  Array.from({ length: TOKEN_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
