import type { ClientRequest, IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { checkedDestination, type Destination } from './destination.js'
import type { Network } from './network.js'
import { type RefusalReason, Refused } from './refusal.js'

/**
 * The guarded HTTPS client: the only code that calls somebody else's server (spec §6; docs: reliability, Outbound
 * HTTPS). It sends one request to an address that was checked, follows nothing, repeats nothing, and always comes
 * back within its deadline with an outcome.
 */

export interface OutboundRequest {
  method: 'GET' | 'POST'
  url: string
  headers: Readonly<Record<string, string>>
  body?: string
  /** More body than this ends the call. */
  maxBodyBytes: number
}

export type Outcome =
  | {
      answered: true
      status: number
      /** Whether the status is 2xx. */
      ok: boolean
      body: Buffer
      durationMs: number
    }
  | {
      answered: false
      reason: RefusalReason
      /** Of the answer that was cut off or refused; null where none came. */
      status: number | null
      durationMs: number
    }

const HTTPS_PORT = 443
const DEADLINE_MS = 5_000
const MAX_HEADER_BYTES = 16 * 1024
/** How long one address may keep the next of the same host waiting. */
const NEXT_ADDRESS_AFTER_MS = 1_000

/** Makes the call. Nothing that the other side or the network does makes it throw; only a fault of ours does. */
export async function guardedRequest(network: Network, request: OutboundRequest): Promise<Outcome> {
  const started = performance.now()
  const signal = AbortSignal.timeout(DEADLINE_MS)
  const call: Call = { stage: 'connection_failed', status: null }
  try {
    const destination = await checkedDestination(network, request.url, signal)
    const body = await exchange(network, request, destination, signal, call)
    const status = call.status!
    return { answered: true, status, ok: status >= 200 && status < 300, body, durationMs: since(started) }
  } catch (error) {
    if (error instanceof TypeError) throw error
    const reason = reasonOf(error, signal, call)
    return { answered: false, reason, status: call.status, durationMs: since(started) }
  }
}

const since = (started: number): number => Math.round(performance.now() - started)

/** How far a call has come. */
interface Call {
  /** What a break of the connection means now. */
  stage: 'connection_failed' | 'tls_failed' | 'connection_lost'
  status: number | null
}

function reasonOf(error: unknown, signal: AbortSignal, { stage }: Call): RefusalReason {
  if (signal.aborted) return 'timeout'
  if (error instanceof Refused) return error.reason
  const code = (error as NodeJS.ErrnoException).code ?? ''
  if (code === 'HPE_HEADER_OVERFLOW') return 'header_too_large'
  return code.startsWith('HPE_') ? 'invalid_response' : stage
}

/** Sends the request and reads the answer's body; notes in `call` how far it came. */
function exchange(
  network: Network,
  { method, headers, body, maxBodyBytes }: OutboundRequest,
  destination: Destination,
  signal: AbortSignal,
  call: Call,
): Promise<Buffer> {
  let request: ClientRequest | undefined
  return new Promise<Buffer>((resolve, reject) => {
    request = httpsRequest(destination.url, {
      method,
      headers: { ...headers, 'Accept-Encoding': 'identity' },
      // In place of an agent: a connection of this call's own, with nothing kept from or for another call.
      createConnection: () => dial(network, destination, call),
      defaultPort: HTTPS_PORT,
      maxHeaderSize: MAX_HEADER_BYTES,
      signal,
    })
    request.on('error', reject)
    request.on('response', (response) => {
      call.status = response.statusCode!
      readBody(response, maxBodyBytes).then(resolve, reject)
    })
    // An answer that Node gives up without an error, such as a change of protocol.
    request.on('close', () => {
      if (call.status === null) reject(new Refused('invalid_response'))
    })
    request.end(body)
  }).finally(() => request?.destroy())
}

function dial(network: Network, { url, host, addresses }: Destination, call: Call): TLSSocket {
  // Dialling asks here instead of a name server: between the check and now the name may have turned elsewhere.
  const lookup: LookupFunction = (_host, { all }, callback) => {
    const first = addresses[0]!
    if (all) callback(null, [...addresses])
    else callback(null, first.address, first.family)
  }
  const socket = network.connect({
    host,
    port: Number(url.port || HTTPS_PORT),
    lookup,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
    servername: isIP(host) === 0 ? host.replace(/\.$/, '') : '',
    // Said, so that no NODE_TLS_REJECT_UNAUTHORIZED in the environment says otherwise.
    rejectUnauthorized: true,
    ALPNProtocols: ['http/1.1'],
  })
  socket.once('connect', () => {
    call.stage = 'tls_failed'
  })
  socket.once('secureConnect', () => {
    call.stage = 'connection_lost'
  })
  return socket
}

async function readBody(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  if (isEncoded(response)) throw new Refused('encoded_body')
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes) throw new Refused('body_too_large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const isEncoded = ({ headers }: IncomingMessage): boolean =>
  (headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity' ||
  (headers['transfer-encoding'] ?? 'chunked').toLowerCase() !== 'chunked'
