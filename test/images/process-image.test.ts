import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import test from 'ava'
import fc from 'fast-check'
import sharp from 'sharp'
import { InvalidInput } from '../../src/errors.js'
import { openImageStore } from '../../src/images/image-store.js'
import { processImage } from '../../src/images/process-image.js'
import {
  blackPng,
  hostileImages,
  jpegSegment,
  picture,
  pngChunk,
  withJpegSegments,
  withPngChunks,
} from '../helpers/hostile-images.js'

/*
 * Seen failing with its guard taken out: the limits of bytes, pixels and scans, the block on loaders, `failOn`, the
 * orientation, the removal of metadata.
 */

const PAYLOAD = '<?php system($_GET["x"]); ?>'
const accept = (bytes: Uint8Array) => processImage('image', bytes)

/** The first pixel, red to alpha. */
const firstPixel = async (bytes: Uint8Array) => [...(await sharp(bytes).raw().toBuffer()).subarray(0, 4)]

test('every hostile file is refused by name, nothing crashes, and no file is left anywhere', async (t) => {
  const files = await hostileImages()
  t.true(Object.keys(files).length >= 40)
  const dataDir = await mkdtemp(join(tmpdir(), 'images-test-'))
  t.teardown(() => rm(dataDir, { recursive: true }))
  const store = await openImageStore({ dataDir, imagesS3: undefined, publicUrl: 'http://localhost' })
  for (const [name, bytes] of Object.entries(files)) {
    const storing = accept(bytes).then((image) => store.put(image))
    const refusal = await t.throwsAsync(storing, { instanceOf: InvalidInput }, name)
    t.like(refusal?.issues, [{ path: 'image' }], name)
    t.regex(
      refusal?.message ?? '',
      /^image: must (be an intact JPEG|have at most (5 MB|24 megapixels)$)/,
      name,
    )
  }
  t.deepEqual(readdirSync(dataDir), [])
})

test('sharp itself opens no other format in this process', async (t) => {
  const files = await hostileImages()
  for (const name of ['a GIF', 'a TIFF', 'an AVIF', 'an SVG', 'a PPM'])
    await t.throwsAsync(sharp(files[name]!).metadata(), { message: /unsupported image format/ }, name)
})

test('what is too large says so, the rest says what an image is', async (t) => {
  const files = await hostileImages()
  const messageOf = (name: string) =>
    accept(files[name]!).then(
      () => 'accepted',
      (error: Error) => error.message,
    )
  t.is(await messageOf('a JPEG of 5 MB and a byte'), 'image: must have at most 5 MB')
  t.is(await messageOf('a PNG of 25,000 × 25,000 in 80 KB'), 'image: must have at most 24 megapixels')
  t.is(await messageOf('a GIF'), 'image: must be an intact JPEG, PNG or WebP image')
})

test('random damage is either drawn or refused, never anything else', async (t) => {
  const seeds = await Promise.all([
    picture().jpeg().toBuffer(),
    picture().png().toBuffer(),
    picture().webp().toBuffer(),
  ])
  const damage = fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(255)), {
    minLength: 1,
    maxLength: 8,
  })
  const property = fc.asyncProperty(fc.constantFrom(...seeds), damage, async (seed, changes) => {
    const bytes = Buffer.from(seed)
    for (const [at, value] of changes) bytes[Math.floor(at * (bytes.length - 1))] = value
    const outcome = await accept(bytes).catch((error: unknown) => error)
    if (outcome instanceof Error) assert(outcome instanceof InvalidInput, outcome)
  })
  await t.notThrowsAsync(fc.assert(property, { numRuns: 300 }))
})

for (const [format, contentType, extension] of [
  ['jpeg', 'image/jpeg', 'jpg'],
  ['png', 'image/png', 'png'],
  ['webp', 'image/webp', 'webp'],
] as const)
  test(`a ${format} of any size from one pixel on stays a ${format}, is called so, and has the hash it says`, async (t) => {
    for (const [width, height] of [
      [1, 1],
      [1, 1000],
      [64, 48],
    ] as const) {
      const image = await accept(await picture(width, height).toFormat(format).toBuffer())
      t.like(image, { contentType, extension })
      t.like(await sharp(image.bytes).metadata(), { format, width, height })
      t.is(image.sha256, createHash('sha256').update(image.bytes).digest('hex'))
    }
  })

test('exactly 24 megapixels and exactly 5 MB are taken', async (t) => {
  t.like(await accept(blackPng(4_800, 5_000)), { contentType: 'image/png' })
  const png = await picture().png().toBuffer()
  t.like(await accept(Buffer.concat([png, Buffer.alloc(5 * 1024 * 1024 - png.length)])), {
    contentType: 'image/png',
  })
})

test('the same picture gives the same bytes', async (t) => {
  const png = await picture().png().toBuffer()
  t.is((await accept(png)).sha256, (await accept(Buffer.concat([png, Buffer.from('tail')]))).sha256)
})

const polyglots: Record<string, () => Promise<Buffer>> = {
  'a JPEG with a tail': async () => Buffer.concat([await picture().jpeg().toBuffer(), Buffer.from(PAYLOAD)]),
  'a PNG with a tail': async () => Buffer.concat([await picture().png().toBuffer(), Buffer.from(PAYLOAD)]),
  'a WebP with a tail': async () => Buffer.concat([await picture().webp().toBuffer(), Buffer.from(PAYLOAD)]),
  'a JPEG with a comment': async () =>
    withJpegSegments(await picture().jpeg().toBuffer(), jpegSegment(0xfe, Buffer.from(PAYLOAD))),
  'a JPEG with a segment of an unknown kind': async () =>
    withJpegSegments(await picture().jpeg().toBuffer(), jpegSegment(0xeb, Buffer.from(PAYLOAD))),
  'a JPEG with EXIF': () =>
    picture()
      .withExif({ IFD0: { Copyright: PAYLOAD } })
      .jpeg()
      .toBuffer(),
  'a JPEG with XMP': () =>
    picture().withXmp(`<x:xmpmeta xmlns:x="adobe:ns:meta/">${PAYLOAD}</x:xmpmeta>`).jpeg().toBuffer(),
  'a PNG with text': async () =>
    withPngChunks(await picture().png().toBuffer(), pngChunk('tEXt', Buffer.from(`Comment\0${PAYLOAD}`))),
  'a PNG with a chunk of its own': async () =>
    withPngChunks(await picture().png().toBuffer(), pngChunk('paYl', Buffer.from(PAYLOAD))),
  'a PNG with EXIF': () =>
    picture()
      .withExif({ IFD0: { Copyright: PAYLOAD } })
      .png()
      .toBuffer(),
  'a WebP with EXIF': () =>
    picture()
      .withExif({ IFD0: { Copyright: PAYLOAD } })
      .webp()
      .toBuffer(),
  'a WebP with XMP': () =>
    picture().withXmp(`<x:xmpmeta xmlns:x="adobe:ns:meta/">${PAYLOAD}</x:xmpmeta>`).webp().toBuffer(),
}
for (const [what, make] of Object.entries(polyglots))
  test(`nothing but pixels comes through: ${what}`, async (t) => {
    const sent = await make()
    t.true(sent.includes(PAYLOAD), 'the file holds it')
    const { bytes } = await accept(sent)
    t.false(bytes.includes(PAYLOAD))
    const { exif, icc, xmp, iptc, comments } = await sharp(bytes).metadata()
    t.deepEqual([exif, icc, xmp, iptc, comments], Array(5).fill(undefined))
  })

test('texts that would inflate to 3 GB do not come through, nor stop the picture', async (t) => {
  const bomb = deflateSync(Buffer.alloc(64 * 1024 * 1024), { level: 9 })
  const text = pngChunk('zTXt', Buffer.concat([Buffer.from('Comment\0\0'), bomb]))
  const sent = withPngChunks(await picture().png().toBuffer(), ...Array<Buffer>(50).fill(text))
  t.true((await accept(sent)).bytes.length < 10_000)
})

test('a picture lies as its orientation says', async (t) => {
  // Red to the left, blue to the right, as the sensor saw it.
  const raw = Buffer.concat([Buffer.from([255, 0, 0]), Buffer.from([0, 0, 255])])
  const sensor = sharp(raw, { raw: { width: 2, height: 1, channels: 3 } }).resize(64, 32, {
    kernel: 'nearest',
  })
  for (let orientation = 1; orientation <= 8; orientation++) {
    const sent = await sensor.clone().withMetadata({ orientation }).jpeg().toBuffer()
    const { bytes } = await accept(sent)
    const metadata = await sharp(bytes).metadata()
    t.is(metadata.orientation, undefined)
    t.deepEqual([metadata.width, metadata.height], orientation < 5 ? [64, 32] : [32, 64], `${orientation}`)
    const [red, , blue] = (await firstPixel(bytes)) as [number, number, number]
    t.is(red > blue, [1, 4, 5, 6].includes(orientation), `${orientation}`)
  }
})

test('of a picture that moves the first frame stays', async (t) => {
  const frames = await Promise.all(
    ['red', 'lime', 'blue'].map((background) =>
      sharp({ create: { width: 16, height: 16, channels: 4, background } })
        .png()
        .toBuffer(),
    ),
  )
  const moving = await sharp(frames, { join: { animated: true } })
    .webp({ lossless: true })
    .toBuffer()
  t.is((await sharp(moving).metadata()).pages, 3)
  const webp = await accept(moving)
  t.is((await sharp(webp.bytes).metadata()).pages, undefined)
  t.true((await firstPixel(webp.bytes))[0]! > 250)

  const control = pngChunk('acTL', Buffer.from([0, 0, 0, 2, 0, 0, 0, 0]))
  const png = await accept(withPngChunks(frames[0]!, control))
  t.false(png.bytes.includes('acTL'))
  t.deepEqual(await firstPixel(png.bytes), [255, 0, 0, 255])
})

test('other ways to say a colour become sRGB, 8 bits, without a profile', async (t) => {
  const red = sharp({ create: { width: 16, height: 16, channels: 3, background: { r: 200, g: 30, b: 30 } } })
  const sent = {
    cmyk: await red.clone().toColourspace('cmyk').jpeg({ quality: 100 }).toBuffer(),
    p3: await red.clone().withIccProfile('p3').png().toBuffer(),
    '16 bits': await red.clone().toColourspace('rgb16').png().toBuffer(),
    palette: await red.clone().png({ palette: true }).toBuffer(),
  }
  t.is((await sharp(sent.cmyk).metadata()).space, 'cmyk')
  t.is((await sharp(sent['16 bits']).metadata()).depth, 'ushort')
  t.truthy((await sharp(sent.p3).metadata()).icc)
  for (const [what, bytes] of Object.entries(sent)) {
    const image = await accept(bytes)
    t.like(await sharp(image.bytes).metadata(), { space: 'srgb', depth: 'uchar', icc: undefined }, what)
    const [r, g, b] = (await firstPixel(image.bytes)) as [number, number, number]
    t.true(Math.abs(r - 200) < 25 && Math.abs(g - 30) < 30 && Math.abs(b - 30) < 30, `${what}: ${[r, g, b]}`)
  }
})

test('a damaged colour profile does not stop a picture, and does not come through', async (t) => {
  const profile = Buffer.concat([Buffer.from('ICC_PROFILE\0\x01\x01', 'latin1'), Buffer.alloc(200, 0xee)])
  const sent = withJpegSegments(await picture().jpeg().toBuffer(), jpegSegment(0xe2, profile))
  t.is((await sharp((await accept(sent)).bytes).metadata()).icc, undefined)
})

test('transparency stays', async (t) => {
  const clear = sharp({
    create: { width: 8, height: 8, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } },
  })
  for (const sent of [
    await clear.clone().png().toBuffer(),
    await clear.clone().webp({ lossless: true }).toBuffer(),
  ])
    t.is((await firstPixel((await accept(sent)).bytes))[3], 0)
})

test('more pictures at once than are drawn at once all come out', async (t) => {
  const png = await picture(800, 600).png().toBuffer()
  const images = await Promise.all(Array.from({ length: 20 }, () => accept(png)))
  t.is(new Set(images.map(({ sha256 }) => sha256)).size, 1)
})
