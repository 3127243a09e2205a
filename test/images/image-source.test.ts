import test, { type ExecutionContext } from 'ava'
import { InvalidInput } from '../../src/errors.js'
import { type ImageInput, readImage } from '../../src/images/image-source.js'
import type { Network } from '../../src/outbound/network.js'
import { picture } from '../helpers/hostile-images.js'
import { startInternet } from '../helpers/internet.js'

// Seen failing with its guard taken out: each check of the input, and that an answer must be 2xx.

const CAP_BYTES = 5 * 1024 * 1024
const HOST = 'pictures.example.com'

/** For sources that do not call out. */
const nowhere: Network = {
  newResolver: () => {
    throw new Error('a name was asked for')
  },
  connect: () => {
    throw new Error('a connection was opened')
  },
}

async function refused(
  t: ExecutionContext,
  input: ImageInput,
  expected: string,
  network = nowhere,
): Promise<void> {
  const error = await t.throwsAsync(readImage(network, input), { instanceOf: InvalidInput })
  t.is(error?.message, expected)
}

test('the file of a multipart request is taken as it is', async (t) => {
  const bytes = Buffer.from('whatever')
  t.deepEqual(await readImage(nowhere, { image: bytes, imageBase64: null }), { path: 'image', bytes })
})

test('base64 is read raw with a content type, or as a data URI', async (t) => {
  const bytes = await picture().png().toBuffer()
  const raw = bytes.toString('base64')
  for (const input of [
    { imageBase64: raw, contentType: 'image/png' },
    { imageBase64: raw, contentType: 'image/webp' },
    { imageBase64: `data:image/png;base64,${raw}` },
    { imageBase64: `DATA:IMAGE/svg+xml;BASE64,${raw}`, contentType: 'image/jpeg' },
  ])
    t.deepEqual(await readImage(nowhere, input), { path: 'imageBase64', bytes })
})

test('exactly one source is needed', async (t) => {
  const message = 'Provide exactly one of image, imageBase64 or imageUrl'
  const sources = {
    image: Buffer.from('x'),
    imageBase64: 'data:image/png;base64,eA==',
    imageUrl: `https://${HOST}/`,
  }
  const { image, imageBase64, imageUrl } = sources
  for (const input of [
    {},
    { image: null, imageBase64: null, imageUrl: null },
    { contentType: 'image/png' },
    { image, imageBase64 },
    { image, imageUrl },
    { imageBase64, imageUrl },
    sources,
  ])
    await refused(t, input, message)
})

test('a content type belongs to raw base64 and is one of three', async (t) => {
  await refused(t, { imageBase64: 'eA==' }, 'contentType: required with raw base64')
  await refused(
    t,
    { image: Buffer.from('x'), contentType: 'image/png' },
    'contentType: only with imageBase64',
  )
  await refused(
    t,
    { imageUrl: `https://${HOST}/`, contentType: 'image/png' },
    'contentType: only with imageBase64',
  )
  for (const contentType of ['image/gif', 'image/svg+xml', 'IMAGE/PNG', 'png', ''])
    await refused(
      t,
      { imageBase64: 'eA==', contentType },
      'contentType: must be one of image/jpeg, image/png, image/webp',
    )
})

test('what is not base64 is refused, whatever Node would make of it', async (t) => {
  for (const text of [
    '',
    '=',
    'eA',
    'eA=',
    'eA===',
    'eB==',
    'e A==',
    'eA==\n',
    'eA==eA==',
    '-_-_',
    'eA=!',
    'é',
    '\0',
  ])
    for (const input of [
      { imageBase64: text, contentType: 'image/png' },
      { imageBase64: `data:image/png;base64,${text}` },
    ])
      await refused(t, input, 'imageBase64: must be base64 (RFC 4648, with padding)')
})

test('a data URI that is not an image in base64 is refused', async (t) => {
  for (const uri of [
    'data:',
    'data:,eA==',
    'data:;base64,eA==',
    'data:text/html;base64,eA==',
    'data:image/png,eA==',
    'data:image/png;base64',
    'data:image/;base64,eA==',
    'data:image/png;charset=utf-8,eA==',
    'data:image/png ;base64,eA==',
    'data: image/png;base64,eA==',
  ])
    for (const contentType of [undefined, 'image/png'])
      await refused(t, { imageBase64: uri, contentType }, 'imageBase64: must be a data:image/…;base64, URI')
})

test('an image is downloaded by one plain request', async (t) => {
  const internet = await startInternet(t)
  const bytes = await picture().webp().toBuffer()
  const requests: unknown[] = []
  const origin = await internet.serve(HOST, ({ method, url, headers }, response) => {
    requests.push([method, url, headers.accept, headers.cookie, headers.authorization])
    response.end(bytes)
  })
  const read = await readImage(internet.network, { imageUrl: `${origin}/a.webp?size=1` })
  t.deepEqual(read, { path: 'imageUrl', bytes })
  t.deepEqual(requests, [
    ['GET', '/a.webp?size=1', 'image/jpeg, image/png, image/webp', undefined, undefined],
  ])
})

test('a download that fails names its field and why', async (t) => {
  const internet = await startInternet(t)
  const origin = await internet.serve(HOST, (request, response) => {
    const [, status, size] = request.url!.split('/').map(Number)
    response.writeHead(status!, { Location: 'https://elsewhere.example.com/' })
    response.end(Buffer.alloc(size!))
  })
  const { network, names, dialled } = internet
  t.is((await readImage(network, { imageUrl: `${origin}/200/${CAP_BYTES}` })).bytes.length, CAP_BYTES)
  await refused(
    t,
    { imageUrl: `${origin}/200/${CAP_BYTES + 1}` },
    'imageUrl: must have at most 5 MB',
    network,
  )
  await refused(t, { imageUrl: `${origin}/302/9` }, 'imageUrl: could not be downloaded (status 302)', network)
  await refused(t, { imageUrl: `${origin}/404/9` }, 'imageUrl: could not be downloaded (status 404)', network)

  dialled.length = 0
  names.set('turned.example.com', ['169.254.169.254'])
  const notPublic = 'imageUrl: must be a public https URL'
  for (const imageUrl of [
    'https://turned.example.com/',
    `http://${HOST}/`,
    'https://127.0.0.1/',
    'file:///etc/passwd',
    'x',
  ])
    await refused(t, { imageUrl }, notPublic, network)
  await refused(
    t,
    { imageUrl: 'https://nobody.example.com/' },
    'imageUrl: could not be downloaded (dns_failed)',
    network,
  )
  t.deepEqual(dialled, [])
})
