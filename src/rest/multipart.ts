import { Busboy, type BusboyInstance } from '@fastify/busboy'
import { AppError, invalid } from '../errors.js'

/** More than any form of this service has; past the number of parts the rest is not even looked at. */
const LIMITS = { parts: 20, headerPairs: 20, headerSize: 8192, fieldSize: Number.POSITIVE_INFINITY }
const SLICE_BYTES = 64 * 1024

/**
 * The fields of a multipart/form-data body: a part with a file name is a file, its bytes, whatever type it claims;
 * any other is text. Nothing touches the disk. Throws INVALID_MULTIPART, or InvalidInput naming a field that is there
 * more than once.
 */
export function parseMultipart(
  contentType: string,
  body: Buffer,
): Promise<Readonly<Record<string, string | Buffer>>> {
  return new Promise((resolve, reject) => {
    let refused = false
    const refuse = (error: AppError = new AppError('INVALID_MULTIPART')) => {
      refused = true
      reject(error)
    }
    const fields = new Map<string, string | Buffer>()
    const keep = (name: string | undefined, value: string | Buffer) => {
      if (name === undefined) refuse()
      else if (fields.has(name)) refuse(invalid(name, 'given more than once'))
      else fields.set(name, value)
    }

    const form = parserOf(contentType)
    if (!form) return refuse()
    form.on('file', (name, file) => {
      const chunks: Buffer[] = []
      file.on('data', (chunk: Buffer) => chunks.push(chunk))
      file.on('end', () => keep(name, Buffer.concat(chunks)))
      file.on('error', () => refuse())
    })
    form.on('field', keep)
    form.on('partsLimit', () => refuse())
    form.on('error', () => refuse())
    form.on('finish', () => resolve(Object.fromEntries(fields)))
    for (let at = 0; at < body.length && !refused; at += SLICE_BYTES)
      form.write(body.subarray(at, at + SLICE_BYTES))
    form.end()
  })
}

/** Undefined where the content type names no boundary. */
function parserOf(contentType: string): BusboyInstance | undefined {
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      limits: LIMITS,
      isPartAFile: (_name, _type, fileName) => fileName !== undefined,
    })
  } catch {
    return undefined
  }
}
