import type { RequestListener, ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:tls'
import { gzipSync } from 'node:zlib'
import test, { type ExecutionContext } from 'ava'
import {
  assertAudit,
  createExternalBusiness,
  customerWith,
  type ExternalBusiness,
  type Mint,
  PROVISION_FAILED,
  pointsOf,
  said,
  startExternal,
  startOutgoing,
} from '../helpers/external.js'
import { certificateFor, type TestInternet } from '../helpers/internet.js'

/**
 * Whatever a business's server does but answer as spec §6 says: the redemption is cancelled with 502, the customer is
 * untouched, and exactly one request was made. [Taken out and seen failing: each check of an answer, the deadline, the
 * cap on the body, the refusal of redirects and of encoded bodies; the release of the points and of the slot.]
 */

const ends: (() => unknown)[] = []
const service = await startOutgoing({ teardown: (end) => ends.unshift(end) })
test.after.always(async () => {
  for (const end of ends) await end()
})
let businesses = 0
const business = (t: ExecutionContext) =>
  createExternalBusiness(t, service, `mint-${++businesses}.example.com`)

/** The call's own is 5 seconds; a busy machine notices it late. */
const DEADLINE_MS = 8_000
const json = (response: ServerResponse, body: unknown, status = 200) =>
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
const answers =
  (body: unknown, status = 200): RequestListener =>
  (_request, response) =>
    json(response, body, status)
const writes =
  (body: string | Buffer, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) =>
    response.writeHead(200, headers).end(body)

const good = { type: 'code', value: 'GOOD-CODE' }
const CAP_BYTES = 65_536
/** A valid answer of exactly so many bytes. */
const sized = (bytes: number): string => {
  const body = JSON.stringify({ ...good, padding: '' })
  return body.replace('"padding":""', `"padding":"${'x'.repeat(bytes - body.length)}"`)
}
/** Writes `first`, then goes on writing `again` for as long as anybody listens. */
const drips =
  (first: string, again: string): RequestListener =>
  (_request, { socket }) => {
    socket!.write(first)
    const timer = setInterval(() => socket!.write(again), 200)
    socket!.once('close', () => clearInterval(timer))
  }

interface BadAnswer {
  answer: RequestListener
  /** What the delivery log says; a status where there was an answer. */
  logged: [status: number | null, reason: string]
  assetType?: 'code' | 'link'
}

const past = () => new Date(Date.now() - 60_000).toISOString()

const badAnswers: Record<string, BadAnswer> = {
  'no answer at all': { answer: () => {}, logged: [null, 'timeout'] },
  'a header that never ends': {
    answer: drips('HTTP/1.1 200 OK\r\n', 'X-A: b\r\n'),
    logged: [null, 'timeout'],
  },
  'a body that never ends': {
    answer: drips('HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n{', ' '),
    logged: [200, 'timeout'],
  },
  'a connection that ends in the body': {
    answer: (_request, response) => {
      response.writeHead(200, { 'Content-Length': '100' }).write('{"type":"code"')
      setTimeout(() => response.socket!.destroy(), 50)
    },
    logged: [200, 'connection_lost'],
  },
  'a body of 65,537 bytes': { answer: writes(sized(CAP_BYTES + 1)), logged: [200, 'body_too_large'] },
  'no JSON': { answer: writes('GOOD-CODE'), logged: [200, 'body_not_json'] },
  'bytes that are not UTF-8': {
    answer: writes(
      Buffer.concat([Buffer.from('{"type":"code","value":"'), Buffer.from([0xff]), Buffer.from('"}')]),
    ),
    logged: [200, 'body_not_json'],
  },
  'an array': { answer: answers([good]), logged: [200, 'body_not_json'] },
  null: { answer: answers(null), logged: [200, 'body_not_json'] },
  'no body, status 200': { answer: writes(''), logged: [200, 'body_not_json'] },
  'status 204': {
    answer: (_request, response) => response.writeHead(204).end(),
    logged: [204, 'body_not_json'],
  },
  'the other type': { answer: answers({ ...good, type: 'link' }), logged: [200, 'type_mismatch'] },
  'no type': { answer: answers({ value: 'GOOD-CODE' }), logged: [200, 'type_mismatch'] },
  'no value': { answer: answers({ type: 'code' }), logged: [200, 'value_invalid'] },
  'a value that is a number': { answer: answers({ ...good, value: 42 }), logged: [200, 'value_invalid'] },
  'an empty value': { answer: answers({ ...good, value: '' }), logged: [200, 'value_invalid'] },
  'a value of 501 characters': {
    answer: answers({ ...good, value: 'é'.repeat(501) }),
    logged: [200, 'value_invalid'],
  },
  'a value with NUL': { answer: answers({ ...good, value: 'A\0B' }), logged: [200, 'value_invalid'] },
  'half a character': { answer: writes('{"type":"code","value":"\\ud83d"}'), logged: [200, 'value_invalid'] },
  'a link that is none': {
    answer: answers({ type: 'link', value: 'GOOD-CODE' }),
    logged: [200, 'value_invalid'],
    assetType: 'link',
  },
  'a link of another scheme': {
    answer: answers({ type: 'link', value: 'javascript:alert(1)' }),
    logged: [200, 'value_invalid'],
    assetType: 'link',
  },
  'an expires_at that is past': {
    answer: (_request, response) => json(response, { ...good, expires_at: past() }),
    logged: [200, 'expires_at_invalid'],
  },
  'an expires_at without a zone': {
    answer: answers({ ...good, expires_at: '2099-01-01T00:00:00' }),
    logged: [200, 'expires_at_invalid'],
  },
  'an expires_at that is a number': {
    answer: answers({ ...good, expires_at: 4_102_444_800 }),
    logged: [200, 'expires_at_invalid'],
  },
  'a good body with gzip': {
    answer: writes(gzipSync(JSON.stringify(good)), { 'Content-Encoding': 'gzip' }),
    logged: [200, 'encoded_body'],
  },
  'no HTTP': {
    answer: (_request, { socket }) => socket!.end('GOOD-CODE\r\n\r\n'),
    logged: [null, 'invalid_response'],
  },
  ...Object.fromEntries(
    [300, 301, 302, 303, 304, 305, 306, 307, 308, 400, 401, 404, 409, 429, 500, 502, 503].map((status) => [
      `status ${status}`,
      {
        answer: (_request, response) =>
          response
            .writeHead(status, { Location: 'https://mint.example.com/elsewhere' })
            .end(status === 304 ? undefined : JSON.stringify(good)),
        logged: [status, 'status_not_2xx'],
      } satisfies BadAnswer,
    ]),
  ),
}

/** Redeems, and checks that it has failed without a trace on the customer. */
async function failsCleanly(
  t: ExecutionContext,
  { app, tenant, reward: create }: ExternalBusiness,
  expected: BadAnswer['logged'],
  assetType: 'code' | 'link' = 'code',
  spoil: () => void = () => {},
): Promise<void> {
  const reward = await create({ points_cost: 60, max_redemptions: 5, digital_asset_type: assetType })
  const user_id = await customerWith(tenant, 100)
  const before = (await tenant.rest(`GET /customers/${user_id}/balance`)).body.data
  spoil()
  const { headers, ...answer } = await tenant.rest('POST /redemptions', { reward_id: reward.id, user_id })
  t.is(said(answer), PROVISION_FAILED)
  t.is(answer.text, '{"success":false,"error":{"message":"DIGITAL_PROVISION_FAILED"}}')

  const [listed] = (await tenant.rest(`GET /redemptions?reward_id=${reward.id}`)).body.data.redemptions
  t.is(listed.status, 'cancelled')
  t.deepEqual(await pointsOf(tenant, app, user_id), { balance: 100, held: 0 })
  t.deepEqual((await tenant.rest(`GET /customers/${user_id}/balance`)).body.data, before)
  const completed = await tenant.rest('GET /transactions?type=redeem&status=completed')
  t.is(completed.body.data.pagination.total_count, 0)
  const { redemptions_count, active } = (await tenant.rest(`GET /rewards/${reward.id}`)).body.data.reward
  t.deepEqual([redemptions_count, active], [0, true])
  const log = await tenant.graph(
    'query ($id: UUID) { webhookDeliveries(rewardId: $id) { nodes { ok status reason durationMs } } }',
    { id: reward.id },
  )
  const [status, reason] = expected
  const [{ durationMs, ...delivery }, ...others] = log.data.webhookDeliveries.nodes
  t.deepEqual([delivery, others], [{ ok: false, status, reason }, []])
  t.true(durationMs < DEADLINE_MS, `${durationMs} ms`)
  await assertAudit(app, tenant.businessId)
}

const started = test.macro({
  title: (given) => `${given} takes nothing from the customer, after one request`,
  async exec(t, { answer, logged, assetType }: BadAnswer) {
    const external = await business(t)
    external.mint.answer = answer
    await failsCleanly(t, external, logged, assetType)
    t.is(external.mint.keys.length, 1)
  },
})
for (const [given, bad] of Object.entries(badAnswers)) test(given, started, bad)

/** A host that is reached, or not, in another way than over HTTP with a good certificate. */
const unreachable = test.macro({
  title: (given) => `${given} takes nothing from the customer`,
  async exec(
    t,
    reason: string,
    spoil: (internet: TestInternet, mint: Mint) => void | Promise<void>,
    connections: number,
  ) {
    const external = await startExternal(t)
    const { internet, mint } = external
    const spoilt = async () => spoil(internet, mint)
    await failsCleanly(t, external, [null, reason], 'code', () => void spoilt())
    t.is(internet.dialled.length, connections)
    t.deepEqual(mint.keys, [])
  },
})

test(
  'a host that turned private since it was saved',
  unreachable,
  'address_not_public',
  ({ names }) => {
    names.set('mint.example.com', ['169.254.169.254'])
  },
  0,
)
test(
  'one private address among public ones',
  unreachable,
  'address_not_public',
  ({ names }) => {
    names.set('mint.example.com', ['93.184.215.14', '127.0.0.1'])
  },
  0,
)
test(
  'a host that is gone',
  unreachable,
  'dns_failed',
  ({ names }) => {
    names.delete('mint.example.com')
  },
  0,
)
test(
  'a port that refuses',
  unreachable,
  'connection_failed',
  ({ map }) => {
    delete map.ports['mint.example.com']
  },
  1,
)

test("another host's certificate takes nothing from the customer", async (t) => {
  const external = await startExternal(t)
  const { internet } = external
  const other = createTlsServer(await certificateFor('other.example.com'), (socket) => {
    socket.on('error', () => {})
    socket.end('HTTP/1.1 200 OK\r\n\r\n{"type":"code","value":"STOLEN"}')
  })
  await internet.join('other.example.com', other)
  await failsCleanly(t, external, [null, 'tls_failed'], 'code', () => {
    internet.map.ports['mint.example.com'] = internet.map.ports['other.example.com']!
  })
  t.is(internet.dialled.length, 1)
})

const goodAnswers: Record<string, { answer: RequestListener; value: string; assetType?: 'link' }> = {
  'status 201': { answer: answers(good, 201), value: 'GOOD-CODE' },
  'exactly 65,536 bytes': { answer: writes(sized(CAP_BYTES)), value: 'GOOD-CODE' },
  '500 characters beyond the basic plane': {
    answer: answers({ ...good, value: '🎁'.repeat(500) }),
    value: '🎁'.repeat(500),
  },
  'one character': { answer: answers({ ...good, value: '0' }), value: '0' },
  'an http link': {
    answer: answers({ type: 'link', value: 'http://shop.example/g?a=b#c' }),
    value: 'http://shop.example/g?a=b#c',
    assetType: 'link',
  },
  'fields that nobody asked for and expires_at null': {
    answer: answers({ ...good, expires_at: null, note: 'hello' }),
    value: 'GOOD-CODE',
  },
  'a byte order mark': { answer: writes(`\ufeff${JSON.stringify(good)}`), value: 'GOOD-CODE' },
}
for (const [given, { answer, value, assetType = 'code' }] of Object.entries(goodAnswers))
  test(`${given}: the value is handed over`, async (t) => {
    const { app, tenant, mint, reward: create } = await business(t)
    const reward = await create({ digital_asset_type: assetType })
    const user_id = await customerWith(tenant, 100)
    mint.answer = answer
    const { status, body } = await tenant.rest('POST /redemptions', { reward_id: reward.id, user_id })
    t.is(status, 201)
    t.deepEqual(body.data.asset, { type: assetType, value, expires_at: null })
    t.deepEqual(await pointsOf(tenant, app, user_id), { balance: 0, held: 0 })
    await assertAudit(app, tenant.businessId)
  })
