import { randomBytes } from 'node:crypto'
import { crc32, deflateSync, gzipSync } from 'node:zlib'
import sharp, { type Sharp } from 'sharp'

/** Files that come where an image is asked for, made anew in each run: broken, disguised, oversized. */

const MAX_IMAGE_BYTES = 5 * 1024 * 1024

/** A picture in which no pixel is like its neighbour. */
export const picture = (width = 64, height = 48, channels: 3 | 4 = 3): Sharp =>
  sharp(
    Buffer.from(Array.from({ length: width * height * channels }, (_, n) => (n * 37 + (n >> 5) * 11) & 255)),
    {
      raw: { width, height, channels },
    },
  )

const PNG_SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')

/** One chunk of a PNG. */
export function pngChunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, sum])
}

/** A PNG of one bit per pixel, all black unless other `pixels` are given. */
export function blackPng(
  width: number,
  height: number,
  pixels: Buffer = deflateSync(Buffer.alloc((Math.ceil(width / 8) + 1) * height), { level: 9 }),
): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header[8] = 1
  return Buffer.concat([
    PNG_SIGNATURE,
    pngChunk('IHDR', header),
    pngChunk('IDAT', pixels),
    pngChunk('IEND', Buffer.alloc(0)),
  ])
}

/** Puts chunks right after the header of a PNG. */
export const withPngChunks = (png: Buffer, ...chunks: Buffer[]): Buffer =>
  Buffer.concat([png.subarray(0, 33), ...chunks, png.subarray(33)])

/** One segment of a JPEG. */
export function jpegSegment(marker: number, data: Uint8Array): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0])
  head.writeUInt16BE(data.length + 2, 2)
  return Buffer.concat([head, data])
}

/** Puts segments right after the start of a JPEG. */
export const withJpegSegments = (jpeg: Buffer, ...segments: Buffer[]): Buffer =>
  Buffer.concat([jpeg.subarray(0, 2), ...segments, jpeg.subarray(2)])

/** Bits as the entropy-coded data of a JPEG. */
function entropy(bits: string): Buffer {
  const bytes = (bits.padEnd(Math.ceil(bits.length / 8) * 8, '1').match(/.{8}/g) ?? []).flatMap((byte) => {
    const value = Number.parseInt(byte, 2)
    return value === 0xff ? [0xff, 0] : [value]
  })
  return Buffer.from(bytes)
}

/** A valid grey JPEG in 883 scans, each of which takes a decoder once through the whole image. */
function jpegOfManyScans(side: number): Buffer {
  const blocks = Math.ceil(side / 8) ** 2
  // Symbol n ends 2^n blocks and as many more as the next n bits say.
  const ends = Array.from({ length: 15 }, (_, n) => n << 4)
  let empty = ''
  for (let left = blocks; left > 0; ) {
    const n = Math.min(14, Math.floor(Math.log2(left)))
    const run = Math.min(left, 2 ** (n + 1) - 1)
    empty += n.toString(2).padStart(4, '0') + (n > 0 ? (run - 2 ** n).toString(2).padStart(n, '0') : '')
    left -= run
  }
  const size = [side >> 8, side & 255]
  const noCoefficients = entropy(empty)
  const scans = [scan(0, 0, entropy('0'.repeat(blocks)))]
  for (let k = 1; k < 64; k++)
    for (let low = 13; low >= 0; low--)
      scans.push(scan(k, low === 13 ? 13 : ((low + 1) << 4) | low, noCoefficients))
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    jpegSegment(0xdb, Buffer.from([0, ...Array<number>(64).fill(16)])),
    jpegSegment(0xc2, Buffer.from([8, ...size, ...size, 1, 1, 0x11, 0])),
    jpegSegment(0xc4, Buffer.from([0x00, 1, ...Array<number>(15).fill(0), 0])),
    jpegSegment(0xc4, Buffer.from([0x10, 0, 0, 0, 15, ...Array<number>(12).fill(0), ...ends])),
    ...scans,
    Buffer.from([0xff, 0xd9]),
  ])
}

const scan = (k: number, bits: number, data: Buffer): Buffer =>
  Buffer.concat([jpegSegment(0xda, Buffer.from([1, 1, 0, k, k, bits])), data])

/** A copy in which the bytes at `at` are others. */
function patched(bytes: Buffer, at: number, ...replacement: number[]): Buffer {
  const copy = Buffer.from(bytes)
  copy.set(replacement, at)
  return copy
}

const scrambled = (bytes: Buffer, from: number, to: number): Buffer =>
  patched(bytes, from, ...Buffer.alloc(to - from, 0xa5))

const head = (hex: string): Buffer => Buffer.concat([Buffer.from(hex, 'hex'), randomBytes(2000)])
const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><rect width="9" height="9"/></svg>'

/** Each must be refused. */
export async function hostileImages(): Promise<Record<string, Buffer>> {
  const jpeg = await picture().jpeg().toBuffer()
  const png = await picture().png().toBuffer()
  const webp = await picture().webp().toBuffer()
  const half = (bytes: Buffer) => bytes.subarray(0, bytes.length >> 1)
  const frame = jpeg.indexOf(Buffer.from([0xff, 0xc0]))
  const pixels = png.indexOf('IDAT')
  return {
    nothing: Buffer.alloc(0),
    'one byte': Buffer.from([0xff]),
    noise: randomBytes(10_000),
    text: Buffer.from('This is not an image.\n'.repeat(100)),

    'the first bytes of a JPEG': jpeg.subarray(0, 3),
    'the first bytes of a PNG': PNG_SIGNATURE,
    'the first bytes of a WebP': webp.subarray(0, 16),
    'half a JPEG': half(jpeg),
    'half a PNG': half(png),
    'half a WebP': half(webp),
    'a JPEG that ends before its pixels': jpeg.subarray(0, jpeg.indexOf(Buffer.from([0xff, 0xda]))),
    'a PNG without pixels': Buffer.concat([png.subarray(0, pixels - 4), pngChunk('IEND', Buffer.alloc(0))]),
    'a JPEG behind the magic of a PNG': Buffer.concat([PNG_SIGNATURE, jpeg]),
    'a PNG behind the magic of a JPEG': Buffer.concat([jpeg.subarray(0, 4), png]),
    'a PNG whose first byte is wrong': patched(png, 0, 0x88),
    'a JPEG whose second byte is wrong': patched(jpeg, 1, 0xd9),
    'a WebP that calls itself WAVE': patched(webp, 8, ...Buffer.from('WAVE')),
    'a PNG whose header does not match its sum': patched(png, 19, 65),
    'a PNG with damaged pixels': scrambled(png, pixels + 40, pixels + 200),
    'a JPEG with damaged tables': scrambled(jpeg, 160, 220),
    'a WebP with a damaged partition': scrambled(webp, 20, 60),
    'a JPEG of 12 bits a sample': patched(jpeg, frame + 4, 12),
    'a JPEG without height': patched(jpeg, frame + 5, 0, 0),
    'a PNG without width': blackPng(0, 10),
    'a PNG of an unknown colour type': Buffer.concat([
      PNG_SIGNATURE,
      pngChunk('IHDR', Buffer.from([0, 0, 0, 8, 0, 0, 0, 8, 8, 9, 0, 0, 0])),
      png.subarray(33),
    ]),

    'a GIF': await picture().gif().toBuffer(),
    'a TIFF': await picture().tiff().toBuffer(),
    'an AVIF': await picture().avif({ effort: 0 }).toBuffer(),
    'a HEIC': Buffer.concat([Buffer.from('000000186674797068656963', 'hex'), randomBytes(2000)]),
    'a BMP': head('424d8a7b0c000000000036000000280000000a0000000a0000000100180000000000'),
    'an icon': head('00000100010010100000010020006804000016000000'),
    'a JPEG XL': head('ff0a'),
    'a JPEG 2000': head('0000000c6a5020200d0a870a'),
    'a Radiance picture': Buffer.from('#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 1\nabcd'),
    'a FITS picture': Buffer.from('SIMPLE  =                    T'.padEnd(2880)),
    'a PPM': Buffer.from('P6\n2 2\n255\nabcdefghijkl'),
    'a picture in libvips’ own format': head('b6a6f208'),
    'an SVG': Buffer.from(SVG),
    'an SVG that reads a file': Buffer.from(
      `<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>${SVG.replace('<rect', '<text>&x;</text><rect')}`,
    ),
    'a packed SVG': gzipSync(SVG),
    'an ImageMagick script': Buffer.from(
      "push graphic-context\nviewbox 0 0 640 480\nfill 'url(https://x/|ls)'\n",
    ),
    'a PDF': Buffer.from('%PDF-1.7\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF'),
    'a ZIP': head('504b030414000000080000000000'),
    'a program': head('7f454c46020101000000000000000000'),
    'a page': Buffer.from('<!doctype html><script>alert(1)</script>'),

    'a PNG of 25,000 × 25,000 in 80 KB': blackPng(25_000, 25_000),
    'a PNG that claims 2,147,483,647 × 2,147,483,647': blackPng(
      2 ** 31 - 1,
      2 ** 31 - 1,
      deflateSync(Buffer.alloc(99)),
    ),
    'a JPEG that claims 60,000 × 60,000': patched(jpeg, frame + 5, 0xea, 0x60, 0xea, 0x60),
    'a JPEG that claims 65,535 × 65,535': patched(jpeg, frame + 5, 0xff, 0xff, 0xff, 0xff),
    'a WebP of 16,383 × 16,383 in 34 bytes': Buffer.from(
      '524946461a000000574542505650384c0e0000002ffebfff0f071011fd0f4444ff03',
      'hex',
    ),
    'a PNG of one row more than 24 megapixels': blackPng(4_800, 5_001),
    'a PNG of 24,000,001 × 1': blackPng(24_000_001, 1),
    'a PNG that claims more rows than it has': blackPng(4_000, 4_000, deflateSync(Buffer.alloc(501 * 10))),
    'a JPEG of 883 scans': jpegOfManyScans(4_800),
    'a JPEG of 5 MB and a byte': Buffer.concat([jpeg, Buffer.alloc(MAX_IMAGE_BYTES + 1 - jpeg.length)]),
    'a PNG of 5 MB and a byte': Buffer.concat([png, Buffer.alloc(MAX_IMAGE_BYTES + 1 - png.length)]),
  }
}
