import type { IncomingMessage } from 'node:http'
import type { Transform } from 'node:stream'
import { createBrotliDecompress, createUnzip } from 'node:zlib'
import { AppError } from '../errors.js'

/** The largest JSON body, inflated; an image of 5 MB in base64 with its envelope fits. */
export const BODY_LIMIT_BYTES = 8 * 1024 * 1024

/** Whether a request announces a body; a chunked one may still turn out empty. */
export const announcesBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || lengthOf(headers) > 0

const lengthOf = (headers: IncomingMessage['headers']): number => Number(headers['content-length'] ?? 0)

/**
 * The bytes of a request's body, inflated where it was sent compressed. Throws BODY_TOO_LARGE past the limit (which
 * holds for the inflated bytes: a bomb is cut), UNSUPPORTED_MEDIA_TYPE for an unknown Content-Encoding, INVALID_JSON
 * where the compression is broken or the request ends early.
 */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const inflate = inflaterOf(request.headers['content-encoding'])
  try {
    if (lengthOf(request.headers) > BODY_LIMIT_BYTES) throw new AppError('BODY_TOO_LARGE')
    return await collect(request, inflate)
  } catch (refused) {
    // What is still on its way is read and dropped, so that the client hears the answer and can go on.
    request.unpipe()
    request.resume()
    inflate?.destroy()
    throw refused
  }
}

function inflaterOf(encoding = 'identity'): Transform | undefined {
  switch (encoding.toLowerCase()) {
    case 'identity':
      return undefined
    case 'gzip':
    case 'deflate':
      return createUnzip()
    case 'br':
      return createBrotliDecompress()
    default:
      throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'application/json')
  }
}

function collect(request: IncomingMessage, inflate: Transform | undefined): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const source = inflate ? request.pipe(inflate) : request
    const chunks: Buffer[] = []
    let length = 0
    source.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= BODY_LIMIT_BYTES) chunks.push(chunk)
      else reject(new AppError('BODY_TOO_LARGE'))
    })
    source.on('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)))
    const broken = () => reject(new AppError('INVALID_JSON'))
    source.on('error', broken)
    if (inflate) request.on('error', broken)
  })
}
