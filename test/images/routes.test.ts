import { createHash, randomUUID } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { createTenant, type RestAnswer, startApp, type Tenant, type TestApp } from '../helpers/app.js'
import { createReward } from '../helpers/factories.js'
import { picture } from '../helpers/hostile-images.js'
import { startInternet } from '../helpers/internet.js'

// Seen failing with its guard taken out: deleting after the commit, undoing after a refusal (with an Idempotency-Key and
// without), the hash of a file in the fingerprint, the 304, the look before a download, forms on the other routes.

const HOST = 'pictures.example.com'
const PUBLIC_URL = 'https://loyalty.example.com/shop'

/** An app whose images nobody else adds to, one reward in it, and a server to download from. */
async function setUp(t: ExecutionContext) {
  const internet = await startInternet(t)
  const app = await startApp(t, { network: internet.network, env: { PUBLIC_URL: `${PUBLIC_URL}/` } })
  const tenant = await createTenant(app)
  const { id } = await createReward(tenant)
  return { app, tenant, internet, id, path: `/rewards/${id}/image` }
}

const filesOf = ({ dataDir }: TestApp): Promise<string[]> => readdir(join(dataDir, 'images')).catch(() => [])

const inBase64 = (bytes: Buffer) => ({ image_base64: bytes.toString('base64'), content_type: 'image/png' })

const png = (width = 8): Promise<Buffer> => picture(width).png().toBuffer()

/** Sends a form; text fields as they are, bytes as files. */
async function sendForm(
  { url }: TestApp,
  { key }: Tenant,
  path: string,
  fields: Record<string, string | Buffer>,
  headers: Record<string, string> = {},
): Promise<Pick<RestAnswer, 'status' | 'headers' | 'body' | 'text'>> {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string') form.set(name, value)
    else form.set(name, new Blob([new Uint8Array(value)]), 'picture')
  }
  const response = await fetch(`${url}/api/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, ...headers },
    body: form,
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: JSON.parse(text), text }
}

/** Where the app itself serves what it calls `imageUrl`. */
function servedAt(t: ExecutionContext, { url }: TestApp, imageUrl: string): string {
  t.true(imageUrl.startsWith(`${PUBLIC_URL}/images/`), imageUrl)
  return url + imageUrl.slice(PUBLIC_URL.length)
}

test('each of the three sources becomes the image of the reward', async (t) => {
  const { app, tenant, internet, id, path } = await setUp(t)
  const bytes = await png()
  const origin = await internet.serve(HOST, (_request, response) => response.end(bytes))
  for (const [source, send] of Object.entries({
    raw: () => tenant.rest(`POST ${path}`, inBase64(bytes)),
    uri: () =>
      tenant.rest(`POST ${path}`, { image_base64: `data:image/png;base64,${bytes.toString('base64')}` }),
    address: () => tenant.rest(`POST ${path}`, { image_url: `${origin}/a.png` }),
    addressUnderKey: () =>
      tenant.rest(`POST ${path}`, { image_url: `${origin}/a.png` }, { 'idempotency-key': randomUUID() }),
    form: () => sendForm(app, tenant, path, { image: bytes }),
    formOfText: () => sendForm(app, tenant, path, inBase64(bytes) as Record<string, string>),
  })) {
    const { status, body, text } = await send()
    t.is(status, 200, `${source}: ${text}`)
    t.deepEqual(Object.keys(body.data), ['image_url'], source)
    const served = await fetch(servedAt(t, app, body.data.image_url))
    t.is(served.headers.get('content-type'), 'image/png', source)
    await served.arrayBuffer()
    const reward = await tenant.rest(`GET /rewards/${id}`)
    t.is(reward.body.data.reward.image_url, body.data.image_url, source)
  }
})

test('a replaced image is gone once the new one is there, under an Idempotency-Key as well', async (t) => {
  const { app, tenant, path } = await setUp(t)
  const seen = new Set<string>()
  for (const key of [undefined, 'a', undefined, 'b']) {
    const headers = key === undefined ? {} : { 'idempotency-key': key }
    const { body } = await tenant.rest(`POST ${path}`, inBase64(await png()), headers)
    const files = await filesOf(app)
    t.deepEqual(files, [body.data.image_url.split('/').at(-1)])
    seen.add(files[0]!)
  }
  t.is(seen.size, 4)
})

test('of many images that are sent at once one stays, and it is the one that the reward shows', async (t) => {
  const { app, tenant, id, path } = await setUp(t)
  const answers = await Promise.all(
    Array.from({ length: 8 }, async (_, index) =>
      tenant.rest(
        `POST ${path}`,
        inBase64(await png(8 + index)),
        index % 2 ? { 'idempotency-key': `${index}` } : {},
      ),
    ),
  )
  t.deepEqual(
    answers.map(({ status }) => status),
    Array(8).fill(200),
  )
  const { body } = await tenant.rest(`GET /rewards/${id}`)
  t.deepEqual(await filesOf(app), [body.data.reward.image_url.split('/').at(-1)])
})

test('an image is deleted with its file, and deleting none changes nothing', async (t) => {
  const { app, tenant, id, path } = await setUp(t)
  await tenant.rest(`POST ${path}`, inBase64(await png()))
  for (const headers of [{}, { 'idempotency-key': 'a' }, {}]) {
    const { status, body } = await tenant.rest(`DELETE ${path}`, undefined, headers)
    t.deepEqual([status, body.data], [200, {}])
    t.deepEqual(await filesOf(app), [])
  }
  t.is((await tenant.rest(`GET /rewards/${id}`)).body.data.reward.image_url, null)
})

test('a refusal names what is wrong in the words of the request, and leaves no file behind', async (t) => {
  const { app, tenant, internet, path } = await setUp(t)
  const bytes = await png()
  const one = 'Provide exactly one of image, image_base64 or image_url'
  const origin = await internet.serve(HOST, (_request, response) => response.end('no image'))
  const notAnImage = 'must be an intact JPEG, PNG or WebP image'
  const noImage = Buffer.from('no image')
  const large = Buffer.alloc(5 * 1024 * 1024 + 1)
  const refused: [object, string][] = [
    [{}, one],
    [{ ...inBase64(bytes), image_url: `${origin}/` }, one],
    [{ image: 'text' }, 'image: must be a file of a multipart form'],
    [{ image: { 0: 137 } }, 'image: must be a file of a multipart form'],
    [{ image_base64: 1 }, 'image_base64: must be a string'],
    [{ image_base64: bytes.toString('base64') }, 'content_type: required with raw base64'],
    [
      { ...inBase64(bytes), content_type: 'image/gif' },
      'content_type: must be one of image/jpeg, image/png, image/webp',
    ],
    [inBase64(noImage), `image_base64: ${notAnImage}`],
    [inBase64(large), 'image_base64: must have at most 5 MB'],
    [{ image_url: `${origin}/` }, `image_url: ${notAnImage}`],
    [{ image_url: `https://${HOST}/${'x'.repeat(500)}` }, 'image_url: must have at most 500 characters'],
    [{ image_url: `http://${HOST}/` }, 'image_url: must be an https URL'],
    [{ image_url: 'https://10.0.0.1/' }, 'image_url: must lead to a public host'],
    [{ image_url: 'https://nobody.example.com/' }, 'image_url: could not be downloaded (dns_failed)'],
    [{ ...inBase64(bytes), nonsense: 1 }, 'nonsense: unknown field'],
  ]
  for (const headers of [{}, { 'idempotency-key': 'a' }])
    for (const [body, message] of refused) {
      const answer = await tenant.rest(`POST ${path}`, body, headers)
      t.deepEqual([answer.status, answer.body.error?.message], [400, message])
    }
  const refusedForms: [Record<string, string | Buffer>, string][] = [
    [{ image: noImage }, `image: ${notAnImage}`],
    [{ image: large }, 'image: must have at most 5 MB'],
    [{ image: 'text' }, 'image: must be a file of a multipart form'],
    [{ image: bytes, image_url: `${origin}/` }, one],
    [{ image_base64: bytes }, 'image_base64: must be a string'],
    [{ picture: bytes }, 'picture: unknown field'],
  ]
  for (const [fields, message] of refusedForms) {
    const answer = await sendForm(app, tenant, path, fields)
    t.deepEqual([answer.status, answer.body.error?.message], [400, message])
  }
  t.deepEqual(await filesOf(app), [])
})

test('only the routes that say so take a form', async (t) => {
  const { app, tenant, id } = await setUp(t)
  const answer = await sendForm(app, tenant, `/rewards/${id}/pool`, { values: 'A' })
  t.deepEqual(
    [answer.status, answer.body.error?.message],
    [415, 'Content-Type must be application/json or text/csv'],
  )
})

test("another business's reward, a deleted one and none are the same 404, before anything is downloaded", async (t) => {
  const { app, tenant, internet, id } = await setUp(t)
  const stranger = await createTenant(app)
  const deleted = await createReward(stranger)
  await stranger.rest(`DELETE /rewards/${deleted.id}`)
  await tenant.rest(`POST /rewards/${id}/image`, inBase64(await png()))
  const before = await filesOf(app)
  for (const rewardId of [id, deleted.id, randomUUID(), 'nonsense'])
    for (const headers of [{}, { 'idempotency-key': rewardId }]) {
      const path = `/rewards/${rewardId}/image`
      for (const answer of [
        await stranger.rest(`POST ${path}`, { image_url: `https://${HOST}/` }, headers),
        await sendForm(app, stranger, path, { image: await png() }),
        await stranger.rest(`DELETE ${path}`),
      ])
        t.deepEqual([answer.status, answer.body.error?.message], [404, 'Reward not found'])
    }
  t.deepEqual(internet.dialled, [])
  t.deepEqual(await filesOf(app), before)
})

test('a reward that is deleted while its image is downloaded leaves no file behind', async (t) => {
  const { app, tenant, internet } = await setUp(t)
  const bytes = await png()
  const origin = await internet.serve(HOST, async (request, response) => {
    await tenant.rest(`DELETE /rewards${request.url}`)
    response.end(bytes)
  })
  for (const headers of [{}, { 'idempotency-key': 'a' }]) {
    const { id } = await createReward(tenant)
    const ask = () => tenant.rest(`POST /rewards/${id}/image`, { image_url: `${origin}/${id}` }, headers)
    const [first, second] = [await ask(), await ask()]
    t.deepEqual([first.status, second.text], [404, first.text])
    t.deepEqual(await filesOf(app), [])
  }
})

test('a form is replayed for the same bytes and refused for others, whatever its boundary', async (t) => {
  const { app, tenant, path } = await setUp(t)
  const [bytes, others] = [await png(8), await png(9)]
  const headers = { 'idempotency-key': 'a' }
  const first = await sendForm(app, tenant, path, { image: bytes }, headers)
  const second = await sendForm(app, tenant, path, { image: bytes }, headers)
  const third = await sendForm(app, tenant, path, { image: others }, headers)
  t.deepEqual([first.status, second.status, third.status], [200, 200, 422])
  t.is(second.text, first.text)
  t.deepEqual(
    [first, second].map((answer) => answer.headers.get('idempotency-replayed')),
    [null, 'true'],
  )
  t.is((await filesOf(app)).length, 1)
})

test('of retries that run at once one keeps its image, the others leave none', async (t) => {
  const { app, tenant, id, internet, path } = await setUp(t)
  const bytes = await png()
  const origin = await internet.serve(HOST, (_request, response) => response.end(bytes))
  const answers = await Promise.all(
    Array.from({ length: 6 }, () =>
      tenant.rest(`POST ${path}`, { image_url: `${origin}/` }, { 'idempotency-key': 'a' }),
    ),
  )
  t.deepEqual(
    answers.map(({ status }) => status).filter((status) => status !== 200 && status !== 409),
    [],
  )
  const { body } = await tenant.rest(`GET /rewards/${id}`)
  t.deepEqual(await filesOf(app), [body.data.reward.image_url.split('/').at(-1)])
})

test('the graph takes an address or base64, and no file, whatever it is called', async (t) => {
  const { app, tenant, id } = await setUp(t)
  const set = (input: object, headers = {}) =>
    tenant.graph(
      'mutation ($input: SetRewardImageInput!) { setRewardImage(input: $input) { id imageUrl } }',
      { input: { id, ...input } },
      headers,
    )
  for (const image of ['text', 1, true, [137, 80], { 0: 137 }, { type: 'Buffer', data: [137, 80] }]) {
    const { errors } = await set({ image })
    t.is(errors?.[0].extensions.code, 'INVALID_INPUT')
  }
  const literal = await tenant.graph(
    `mutation { setRewardImage(input: { id: "${id}", image: "text" }) { id } }`,
  )
  t.is(literal.errors?.length, 1)
  t.deepEqual(await filesOf(app), [])
  for (const headers of [{}, { 'idempotency-key': 'a' }]) {
    const { data } = await set(
      { imageBase64: (await png()).toString('base64'), contentType: 'image/png' },
      headers,
    )
    t.deepEqual(await filesOf(app), [data.setRewardImage.imageUrl.split('/').at(-1)])
  }
})

test('an image is served to everybody, for ever, and never as anything else', async (t) => {
  const { app, tenant, path } = await setUp(t)
  const { body } = await tenant.rest(`POST ${path}`, inBase64(await png()))
  const url = servedAt(t, app, body.data.image_url)
  const got = await fetch(url)
  const bytes = Buffer.from(await got.arrayBuffer())
  const etag = `"${createHash('sha256').update(bytes).digest('hex')}"`
  const headers = ['content-type', 'etag', 'cache-control', 'x-content-type-options']
  const expected = ['image/png', etag, 'public, max-age=31536000, immutable', 'nosniff']
  t.is(got.status, 200)
  t.deepEqual(
    headers.map((name) => got.headers.get(name)),
    expected,
  )
  const head = await fetch(url, { method: 'HEAD' })
  t.deepEqual([head.status, await head.text()], [200, ''])
  t.deepEqual(
    headers.map((name) => head.headers.get(name)),
    expected,
  )
  // As browsers ask; by itself `fetch` adds `no-cache`.
  const ask = (known: string) =>
    fetch(url, { headers: { 'if-none-match': known, 'cache-control': 'max-age=0' } })
  const unchanged = await ask(etag)
  t.deepEqual([unchanged.status, await unchanged.text(), unchanged.headers.get('etag')], [304, '', etag])
  t.is((await ask('"another"')).status, 200)
  const posted = await fetch(url, { method: 'POST' })
  t.deepEqual([posted.status, posted.headers.get('allow')], [405, 'GET, HEAD'])
})

test('a key that names no image is a 404 that nobody keeps', async (t) => {
  const { app, tenant, path } = await setUp(t)
  const { body } = await tenant.rest(`POST ${path}`, inBase64(await png()))
  const key = body.data.image_url.split('/').at(-1) as string
  const unknown = `${'0'.repeat(64)}-${randomUUID()}.png`
  for (const name of [
    unknown,
    key.toUpperCase(),
    key.slice(1),
    `${key}.png`,
    `${key}/`,
    '..%2f..%2fetc%2fpasswd',
    '%00',
    '%',
    'x'.repeat(1000),
    '',
  ]) {
    const answer = await fetch(`${app.url}/images/${name}`)
    t.deepEqual(
      [answer.status, await answer.json(), answer.headers.get('cache-control')],
      [404, { success: false, error: { message: 'Image not found' } }, null],
      name,
    )
  }
  t.is((await fetch(`${app.url}/images`)).status, 404)
})
