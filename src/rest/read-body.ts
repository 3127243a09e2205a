import type { IncomingMessage } from 'node:http'
import type { ParameterizedContext } from 'koa'
import { koaBody } from 'koa-body'
import { AppError } from '../errors.js'

/** The largest JSON body, inflated; an image of 5 MB in base64 with its envelope fits. */
const BODY_LIMIT_BYTES = 8 * 1024 * 1024

/** Whether a request announces a body; a chunked one may still turn out empty. */
export const announcesBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || lengthOf(headers) > 0

const lengthOf = (headers: IncomingMessage['headers']): number => Number(headers['content-length'] ?? 0)

/**
 * koa-body collects, inflates and bounds any body as text. In latin1 each byte is one character, so the bytes come back
 * unchanged, and whoever reads them can refuse what koa-body would mend (broken UTF-8).
 */
const collect = koaBody({
  json: false,
  urlencoded: false,
  text: true,
  textTypes: ['text/plain'],
  textLimit: BODY_LIMIT_BYTES,
  encoding: 'latin1',
  parsedMethods: ['POST', 'PATCH', 'DELETE'] as never,
})

/**
 * The bytes of a request's body, inflated where it was sent compressed. Throws BODY_TOO_LARGE past the limit (which
 * holds for the inflated bytes: a bomb is cut), UNSUPPORTED_MEDIA_TYPE for an unknown Content-Encoding, INVALID_JSON
 * where the compression is broken or the request ends early.
 */
export async function readBody(koa: ParameterizedContext): Promise<Buffer> {
  const { req } = koa
  const { 'content-type': type, 'content-encoding': encoding } = req.headers
  // Read whatever it is called: it may be empty, and if not, its name is refused afterwards.
  req.headers['content-type'] = 'text/plain'
  if (encoding !== undefined) req.headers['content-encoding'] = encoding.toLowerCase()
  try {
    if (lengthOf(req.headers) > BODY_LIMIT_BYTES) throw new AppError('BODY_TOO_LARGE')
    await collect(koa as never, async () => {})
  } catch (error) {
    // What is still on its way is read and dropped, so that the client hears the answer and can go on.
    req.unpipe()
    req.resume()
    throw refusalOf(error)
  } finally {
    if (type === undefined) delete req.headers['content-type']
    else req.headers['content-type'] = type
  }
  return Buffer.from((koa.request as { body?: string }).body ?? '', 'latin1')
}

function refusalOf(error: unknown): unknown {
  if (error instanceof AppError) return error
  const { status } = error as { status?: number }
  if (status === 413) return new AppError('BODY_TOO_LARGE')
  if (status === 415) return new AppError('UNSUPPORTED_MEDIA_TYPE', 'application/json')
  return new AppError('INVALID_JSON')
}
