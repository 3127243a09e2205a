import { invalid } from '../errors.js'
import { guardedRequest } from '../outbound/guarded-request.js'
import type { Network } from '../outbound/network.js'
import { MAX_IMAGE_BYTES, TOO_LARGE } from './process-image.js'

/** The three ways to send an image, of which a request uses one (spec §4, POST /rewards/{id}/image). */
export interface ImageInput {
  /** The file of a multipart request. */
  image?: Uint8Array | null | undefined
  /** Raw, or a `data:image/…;base64,` URI. */
  imageBase64?: string | null | undefined
  /** Of raw base64; the bytes decide what the image is. */
  contentType?: string | null | undefined
  imageUrl?: string | null | undefined
}

/** What was sent, and the input field that holds or names it. */
export interface SentImage {
  path: 'image' | 'imageBase64' | 'imageUrl'
  bytes: Uint8Array
}

/**
 * The bytes of an image, from the one source that the input names; an address is downloaded, so this must run outside
 * any transaction. Throws InvalidInput naming the field that is wrong.
 */
export async function readImage(network: Network, input: ImageInput): Promise<SentImage> {
  const { image, imageBase64, contentType, imageUrl } = input
  if ([image, imageBase64, imageUrl].filter((source) => source != null).length !== 1)
    throw invalid('', 'Provide exactly one of image, imageBase64 or imageUrl')
  if (contentType != null && imageBase64 == null) throw invalid('contentType', 'only with imageBase64')

  if (image != null) return { path: 'image', bytes: image }
  if (imageBase64 != null) return { path: 'imageBase64', bytes: decode(imageBase64, contentType) }
  return { path: 'imageUrl', bytes: await download(network, imageUrl!) }
}

const CONTENT_TYPES: readonly unknown[] = ['image/jpeg', 'image/png', 'image/webp']
const DATA_URI = /^data:image\/[\w.+-]+;base64,/i

function decode(text: string, contentType: string | null | undefined): Buffer {
  if (contentType != null && !CONTENT_TYPES.includes(contentType))
    throw invalid('contentType', `must be one of ${CONTENT_TYPES.join(', ')}`)
  const isUri = /^data:/i.test(text)
  const head = DATA_URI.exec(text)?.[0] ?? ''
  if (isUri && head === '') throw invalid('imageBase64', 'must be a data:image/…;base64, URI')
  if (!isUri && contentType == null) throw invalid('contentType', 'required with raw base64')

  const base64 = text.slice(head.length)
  const bytes = Buffer.from(base64, 'base64')
  // Node skips what is no base64; what it read, written again, is then not what was sent.
  if (bytes.length === 0 || bytes.toString('base64') !== base64)
    throw invalid('imageBase64', 'must be base64 (RFC 4648, with padding)')
  return bytes
}

async function download(network: Network, url: string): Promise<Buffer> {
  const outcome = await guardedRequest(network, {
    method: 'GET',
    url,
    headers: { Accept: 'image/jpeg, image/png, image/webp', 'User-Agent': 'Service-Images/1.0' },
    maxBodyBytes: MAX_IMAGE_BYTES,
  })
  if (outcome.answered && outcome.ok) return outcome.body
  const reason = outcome.answered ? `status ${outcome.status}` : outcome.reason
  switch (reason) {
    case 'url_not_allowed':
    case 'address_not_public':
      throw invalid('imageUrl', 'must be a public https URL')
    case 'body_too_large':
      throw invalid('imageUrl', TOO_LARGE)
    default:
      throw invalid('imageUrl', `could not be downloaded (${reason})`)
  }
}
