import { createHash } from 'node:crypto'
import pLimit from 'p-limit'
import sharp from 'sharp'
import { invalid } from '../errors.js'

/** An image has at most this size, before any encoding for transport (spec §4). */
export const MAX_IMAGE_BYTES = 5 * 1024 * 1024
export const TOO_LARGE = 'must have at most 5 MB'
const MAX_PIXELS = 24_000_000
/** A progressive JPEG has about 10. Each is a pass over all pixels that nothing can cut short: 100 KB could take 20 s. */
const MAX_JPEG_SCANS = 300
const MAX_SECONDS = 20

/** An image as it is stored: drawn anew from the pixels of what was sent. */
export interface ProcessedImage {
  bytes: Buffer
  contentType: string
  /** Of a file name, without the dot. */
  extension: string
  /** Of `bytes`, hexadecimal. */
  sha256: string
}

const FORMATS: Readonly<Record<string, Pick<ProcessedImage, 'contentType' | 'extension'>>> = {
  jpeg: { contentType: 'image/jpeg', extension: 'jpg' },
  png: { contentType: 'image/png', extension: 'png' },
  webp: { contentType: 'image/webp', extension: 'webp' },
}

// Settings of the whole process; sharp is used nowhere else. By itself it opens dozens of formats.
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({
  operation: ['VipsForeignLoadJpegBuffer', 'VipsForeignLoadPngBuffer', 'VipsForeignLoadWebpBuffer'],
})
sharp.cache(false)

/** A large image takes some 200 MB and a thread of the pool that files and cryptography share. */
const inTurn = pLimit(2)

/**
 * Reads a JPEG, PNG or WebP image, whatever it is called, and writes it again in the same format: upright, in sRGB,
 * its first frame, without metadata or anything else that came along. Throws InvalidInput naming `path`.
 */
export async function processImage(path: string, sent: Uint8Array): Promise<ProcessedImage> {
  if (sent.length > MAX_IMAGE_BYTES) throw invalid(path, TOO_LARGE)
  const { format, width, height } = await inspect(sent).catch(() => {
    throw invalid(path, NOT_AN_IMAGE)
  })
  const kind = FORMATS[format]
  if (!kind) throw invalid(path, NOT_AN_IMAGE)
  if (width * height > MAX_PIXELS) throw invalid(path, 'must have at most 24 megapixels')
  if (format === 'jpeg' && hasTooManyScans(sent)) throw invalid(path, NOT_AN_IMAGE)

  const bytes = await inTurn(() => redraw(sent)).catch(() => {
    throw invalid(path, NOT_AN_IMAGE)
  })
  return { bytes, ...kind, sha256: createHash('sha256').update(bytes).digest('hex') }
}

const NOT_AN_IMAGE = 'must be an intact JPEG, PNG or WebP image'

/** Reads the header alone; an image too large to be drawn still says how large it is. */
const inspect = async (sent: Uint8Array) => sharp(sent, { limitInputPixels: false }).metadata()

/** `force: false` leaves the choice among the three to what came in. */
const redraw = async (sent: Uint8Array): Promise<Buffer> =>
  sharp(sent, { limitInputPixels: MAX_PIXELS, failOn: 'error' })
    .autoOrient()
    .jpeg({ quality: 85, force: false })
    .png({ force: false })
    .webp({ quality: 85, effort: 2, force: false })
    .timeout({ seconds: MAX_SECONDS })
    .toBuffer()

const START_OF_SCAN = Buffer.from([0xff, 0xda])

function hasTooManyScans(jpeg: Uint8Array): boolean {
  const bytes = Buffer.from(jpeg.buffer, jpeg.byteOffset, jpeg.byteLength)
  let scans = 0
  for (let at = bytes.indexOf(START_OF_SCAN); at !== -1; at = bytes.indexOf(START_OF_SCAN, at + 2))
    if (++scans > MAX_JPEG_SCANS) return true
  return false
}
