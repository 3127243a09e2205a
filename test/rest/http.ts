import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { TestApp } from '../helpers/app.js'

export interface RawRequest {
  method?: string
  /** Sent as it is, also where fetch would correct or refuse it. */
  path: string
  headers?: Record<string, string>
  /** Sent chunked unless the headers say how long it is. */
  body?: Buffer | string
  agent?: Agent
}

export interface RawAnswer {
  status: number
  headers: IncomingHttpHeaders
  // biome-ignore lint/suspicious/noExplicitAny: the parsed envelope of any route
  body: any
}

/** A request below fetch, which mends what these tests are about. */
export function rawRequest(
  { url }: TestApp,
  { method = 'POST', path, headers = {}, body = '', agent = new Agent() }: RawRequest,
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const outgoing = request({ hostname, port, method, path, headers, agent }, async (incoming) => {
      const answer = await text(incoming)
      resolve({ status: incoming.statusCode!, headers: incoming.headers, body: JSON.parse(answer || 'null') })
    })
    outgoing.on('error', reject)
    if (headers['content-length'] === undefined && body.length > 0) Readable.from(pieces(body)).pipe(outgoing)
    else outgoing.end(body)
  })
}

const PIECE = 64 * 1024

function* pieces(body: Buffer | string): Generator<Buffer> {
  const bytes = Buffer.from(body)
  for (let start = 0; start < bytes.length; start += PIECE) yield bytes.subarray(start, start + PIECE)
}

export const JSON_TYPE = { 'content-type': 'application/json' }

export const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` })
