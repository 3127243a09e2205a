import { Agent } from 'node:http'
import { connect } from 'node:net'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import test from 'ava'
import { createTenant, startApp, type Tenant, type TestApp } from '../helpers/app.js'
import { bearer, JSON_TYPE, type RawRequest, rawRequest } from './http.js'

/** Sends bytes as the body of `POST /customers`, with JSON's content type unless told otherwise. */
const poster =
  (app: TestApp, { key }: Tenant) =>
  async (body: Buffer | string, { headers = JSON_TYPE, ...rest }: Partial<RawRequest> = {}) => {
    const path = '/api/v1/customers'
    const answer = await rawRequest(app, { path, body, headers: { ...bearer(key), ...headers }, ...rest })
    return { ...answer, said: [answer.status, answer.body.error?.message ?? answer.body.message] }
  }

async function setUp(t: Parameters<typeof startApp>[0]) {
  const app = await startApp(t)
  const tenant = await createTenant(app)
  return { app, tenant, post: poster(app, tenant) }
}

const CREATED = [201, 'Customer created successfully']
const NOT_JSON = [400, 'Request body is not valid JSON']
const WRONG_TYPE = [415, 'Content-Type must be application/json']
const TOO_LARGE = [413, 'Request body too large']
const sized = (body: string | Buffer) => ({ ...JSON_TYPE, 'content-length': String(Buffer.byteLength(body)) })

test('a body that may be left out may be empty, however that is said', async (t) => {
  const { post } = await setUp(t)
  const chunked = { 'transfer-encoding': 'chunked' }
  for (const headers of [{}, JSON_TYPE, { 'content-length': '0' }, chunked, { ...chunked, ...JSON_TYPE }])
    t.deepEqual((await post('', { headers })).said, CREATED, JSON.stringify(headers))
  t.deepEqual((await post('{}')).said, CREATED)
  t.deepEqual((await post(' ')).said, NOT_JSON)
})

test('JSON is taken under every name it has, in pieces or whole, and under no other', async (t) => {
  const { post } = await setUp(t)
  const names = ['application/json', 'APPLICATION/JSON; charset=utf-8', 'application/merge-patch+json']
  for (const type of names)
    for (const length of [{}, { 'content-length': '2' }])
      t.deepEqual((await post('{}', { headers: { 'content-type': type, ...length } })).said, CREATED, type)
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=a',
    'json',
    '',
  ])
    t.deepEqual((await post('{}', { headers: { 'content-type': type } })).said, WRONG_TYPE, type)
  t.deepEqual((await post('{}', { headers: {} })).said, WRONG_TYPE)
})

test('bytes that are not UTF-8 are refused, not mended', async (t) => {
  const { post } = await setUp(t)
  const inString = (...bytes: number[]) =>
    Buffer.concat([Buffer.from('{"display_name":"'), Buffer.from(bytes), Buffer.from('"}')])
  const broken = {
    'a lone continuation byte': inString(0x80),
    'a sequence that ends early': inString(0xe2, 0x82),
    'an overlong slash': inString(0xc0, 0xaf),
    'a surrogate in UTF-8': inString(0xed, 0xa0, 0x80),
    'past the last code point': inString(0xf4, 0x90, 0x80, 0x80),
    'Latin-1': Buffer.from('{"display_name":"Café"}', 'latin1'),
    'UTF-16': Buffer.from('{"display_name":"Ada"}', 'utf16le'),
  }
  for (const [what, body] of Object.entries(broken)) t.deepEqual((await post(body)).said, NOT_JSON, what)
})

test('what PostgreSQL or UTF-8 cannot hold is refused by the name of its field', async (t) => {
  const { post } = await setUp(t)
  t.deepEqual((await post('{"display_name":"a\\u0000b"}')).said, [
    400,
    'display_name: must not contain NUL characters',
  ])
  for (const lone of ['\\ud800', '\\udc00', '\\udc00\\ud800', 'a\\ud83d'])
    t.deepEqual((await post(`{"display_name":"${lone}"}`)).said, [
      400,
      'display_name: must be well-formed Unicode',
    ])
})

test('text is stored as it was sent: emoji, combining marks, quotes, line breaks, spaces at the ends', async (t) => {
  const { post } = await setUp(t)
  const name = ' 👩‍👩‍👧 é e\u0301 \' " \\ \n\t ﷽ \u202e '
  t.is((await post(JSON.stringify({ display_name: name }))).body.data.customer.display_name, name)
  t.is((await post('{"display_name":"\\ud83e\\udd84"}')).body.data.customer.display_name, '🦄')
})

test('a body of 20 MB is refused with 413, and the connection stays good for the next request', async (t) => {
  const { post } = await setUp(t)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  const large = JSON.stringify({ display_name: 'x'.repeat(20 * 1024 * 1024) })
  const compressed = { ...JSON_TYPE, 'content-encoding': 'gzip' }
  for (const headers of [JSON_TYPE, sized(large)]) {
    t.deepEqual((await post(large, { agent, headers })).said, TOO_LARGE)
    t.deepEqual((await post('{}', { agent })).said, CREATED)
  }
  t.deepEqual((await post(gzipSync(large), { agent, headers: compressed })).said, TOO_LARGE)
  t.deepEqual((await post('{}', { agent })).said, CREATED)
})

test('a body announced as too large is refused before it is sent', async (t) => {
  const { app, tenant } = await setUp(t)
  const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
  t.teardown(() => socket.destroy())
  socket.write(
    `POST /api/v1/customers HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${tenant.key}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n',
  )
  const [answer] = (await new Promise((resolve) => socket.once('data', (data) => resolve([data])))) as [
    Buffer,
  ]
  t.regex(answer.toString(), /^HTTP\/1\.1 413 /)
})

test('a client that goes away in the middle of a body disturbs nobody', async (t) => {
  const { app, tenant, post } = await setUp(t)
  for (const encoding of ['identity', 'gzip']) {
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
    socket.write(
      `POST /api/v1/customers HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${tenant.key}\r\n` +
        `Content-Encoding: ${encoding}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
    )
    await new Promise((resolve) => socket.once('connect', resolve))
    socket.destroy()
  }
  t.deepEqual((await post('{}')).said, CREATED)
  t.is((await tenant.rest('GET /customers')).body.data.pagination.total_count, 1)
})

test('compressed bodies are read; broken or unknown compression and bombs are refused', async (t) => {
  const { post } = await setUp(t)
  const as = (encoding: string) => ({ headers: { ...JSON_TYPE, 'content-encoding': encoding } })
  const body = '{"display_name":"Ada"}'
  for (const [encoding, bytes] of Object.entries({
    gzip: gzipSync(body),
    deflate: deflateSync(body),
    br: brotliCompressSync(body),
    identity: Buffer.from(body),
    GZIP: gzipSync(body),
  })) {
    const { said, body: answer } = await post(bytes, as(encoding))
    t.deepEqual(said, CREATED, encoding)
    t.is(answer.data.customer.display_name, 'Ada')
  }
  const zipped = gzipSync(body)
  t.deepEqual((await post(Buffer.from(body), as('gzip'))).said, NOT_JSON)
  t.deepEqual((await post(zipped.subarray(0, -6), as('gzip'))).said, NOT_JSON)
  t.deepEqual((await post(Buffer.from('x'), as('br'))).said, NOT_JSON)
  t.deepEqual((await post(zipped, as('zstd'))).said, WRONG_TYPE)
  t.deepEqual((await post(zipped, as('gzip, gzip'))).said, WRONG_TYPE)
  const bomb = gzipSync(Buffer.alloc(200 * 1024 * 1024))
  t.true(bomb.length < 300_000)
  t.deepEqual((await post(bomb, as('gzip'))).said, TOO_LARGE)
})

test('JSON nested a hundred thousand levels deep is refused as what it is: no JSON of ours', async (t) => {
  const { post } = await setUp(t)
  const levels = 100_000
  for (const [open, close] of [
    ['[', ']'],
    ['{"a":', '}'],
    ['{"display_name":', '}'],
    ['[{"identifiers":', '}]'],
  ] as const)
    t.deepEqual((await post(`${open.repeat(levels)}1${close.repeat(levels)}`)).said, NOT_JSON, open)
  t.deepEqual((await post('['.repeat(levels))).said, NOT_JSON)
})

test('of a key that stands twice the last one counts', async (t) => {
  const { post } = await setUp(t)
  const { said, body } = await post('{"display_name":"Ada","display_name":"Grace"}')
  t.deepEqual([said, body.data.customer.display_name], [CREATED, 'Grace'])
  t.deepEqual((await post('{"display_name":"Ada","display_name":7}')).said, [
    400,
    'display_name: must be a string',
  ])
})

test("keys that are JavaScript's own names are unknown fields like any other", async (t) => {
  const { post } = await setUp(t)
  for (const key of [
    '__proto__',
    'constructor',
    'prototype',
    'hasOwnProperty',
    'toString',
    'valueOf',
    '__typename',
  ])
    t.deepEqual((await post(`{"${key}":{"display_name":"Ada"}}`)).said, [400, `${key}: unknown field`])
  t.deepEqual((await post('{"identifiers":[{"value":"a","__proto__":{"label":"b"}}]}')).said, [
    400,
    'identifiers.0.__proto__: unknown field',
  ])
  t.is(({} as Record<string, unknown>).display_name, undefined)
})

test('a list must be a list, also with one member', async (t) => {
  const { post } = await setUp(t)
  t.deepEqual((await post('{"identifiers":{"value":"a"}}')).said, [400, 'identifiers: must be an array'])
  t.deepEqual((await post('{"identifiers":"a"}')).said, [400, 'identifiers: must be an array'])
  t.deepEqual((await post('{"identifiers":[{"value":"a"}]}')).said, CREATED)
})
