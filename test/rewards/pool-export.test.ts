import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { parse } from 'csv-parse/sync'
import { createTenant, startApp, type Tenant, type TestApp } from '../helpers/app.js'
import { createCustomer, createPoolReward, createReward } from '../helpers/factories.js'
import { statementsDuring } from '../helpers/statements.js'
import { fillPool } from './pool-rows.js'

const exportOf = (id: string, query = '') => `GET /rewards/${id}/pool/export${query}`

/** Asks for a file and leaves the body to the test. */
async function open({ url }: TestApp, { key }: Tenant, id: string): Promise<IncomingMessage> {
  const request = get(`${url}/api/v1/rewards/${id}/pool/export`, {
    headers: { authorization: `Bearer ${key}` },
    agent: false,
  })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  return response
}

test('CSV has every value, oldest first, each field in double quotes, as RFC 4180 says', async (t) => {
  const app = await startApp(t)
  const tenant = await createTenant(app)
  const { id } = await createPoolReward(tenant, ['first', 'a "b", c', 'two\nlines', '=1+1', ' x '])
  const { user_id } = await createCustomer(tenant)
  await tenant.rest('POST /points/issue', { user_id, points: 10 })
  const { body } = await tenant.rest('POST /redemptions', { reward_id: id, user_id })
  const { id: redemptionId, completed_at } = body.data.details

  const { status, headers, text } = await tenant.rest(exportOf(id))
  t.is(status, 200)
  t.is(headers.get('content-type'), 'text/csv; charset=utf-8')
  t.is(headers.get('content-disposition'), `attachment; filename="code-pool-${id}.csv"`)
  for (const name of ['x-request-id', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'])
    t.truthy(headers.get(name), name)
  t.is(
    text,
    [
      '"value","status","consumed_at","redemption_id"',
      `"first","consumed","${completed_at}","${redemptionId}"`,
      '"a ""b"", c","available","",""',
      '"two\nlines","available","",""',
      '"=1+1","available","",""',
      '" x ","available","",""',
      '',
    ].join('\r\n'),
  )
  t.is((await tenant.rest(exportOf(id, '?format=csv'))).text, text)
})

test('JSON is a bare array of the same rows', async (t) => {
  const app = await startApp(t)
  const tenant = await createTenant(app)
  const { id } = await createPoolReward(tenant, ['a "b"', 'ü\u2028'])
  const { status, headers, body } = await tenant.rest(exportOf(id, '?format=json'))
  t.is(status, 200)
  t.is(headers.get('content-type'), 'application/json; charset=utf-8')
  t.is(headers.get('content-disposition'), `attachment; filename="code-pool-${id}.json"`)
  const row = { status: 'available', consumed_at: null, redemption_id: null }
  t.deepEqual(body, [
    { value: 'a "b"', ...row },
    { value: 'ü\u2028', ...row },
  ])
})

test('an empty pool is a file too', async (t) => {
  const app = await startApp(t)
  const tenant = await createTenant(app)
  const { id } = await createPoolReward(tenant)
  t.is((await tenant.rest(exportOf(id))).text, '"value","status","consumed_at","redemption_id"\r\n')
  t.is((await tenant.rest(exportOf(id, '?format=json'))).text, '[]')
})

test('a file of several pages has every value once, in the order of addition', async (t) => {
  const app = await startApp(t)
  const tenant = await createTenant(app)
  const { id } = await createPoolReward(tenant)
  const batches = [2000, 1, 999, 1].map((size, batch) =>
    Array.from({ length: size }, (_, index) => `${batch}-${index}`),
  )
  for (const values of batches) await tenant.rest(`POST /rewards/${id}/pool`, { values })
  const textOf = ({ value }: { value: string }) => value
  const { body } = await tenant.rest(exportOf(id, '?format=json'))
  t.deepEqual(body.map(textOf), batches.flat())
  const rows: { value: string }[] = parse((await tenant.rest(exportOf(id))).text, { columns: true })
  t.deepEqual(rows.map(textOf), batches.flat())
})

test('HEAD tells what GET would, without a body and after one page; refusals are the same', async (t) => {
  const app = await startApp(t)
  const tenant = await createTenant(app)
  const { id } = await createPoolReward(tenant)
  await fillPool(app, tenant, id, 5000)
  const plain = await createReward(tenant)
  const sent = await statementsDuring(app, async () => {
    const { status, headers, text } = await tenant.rest(`HEAD /rewards/${id}/pool/export?format=json`)
    t.deepEqual([status, text], [200, ''])
    t.is(headers.get('content-type'), 'application/json; charset=utf-8')
    t.is(headers.get('content-disposition'), `attachment; filename="code-pool-${id}.json"`)
  })
  t.is(sent.filter((sql) => sql.includes('pool_values')).length, 1)
  t.is((await tenant.rest(`HEAD /rewards/${plain.id}/pool/export`)).status, 400)
})

test('what is wrong with the request is said in the envelope, before any byte of the file', async (t) => {
  const app = await startApp(t)
  const tenant = await createTenant(app)
  const { id } = await createPoolReward(tenant, ['a'])
  const refusals = {
    '?format=xml': 'format: must be one of csv, json',
    '?format=CSV': 'format: must be one of csv, json',
    '?format=': 'format: must be one of csv, json',
    '?format=csv&format=json': 'format: given more than once',
    '?after=x': 'after: unknown query parameter',
    '?limit=1&format=x': 'limit: unknown query parameter; format: must be one of csv, json',
  }
  for (const [query, message] of Object.entries(refusals)) {
    const { status, headers, body } = await tenant.rest(exportOf(id, query))
    t.deepEqual([status, body], [400, { success: false, error: { message } }], query)
    t.is(headers.get('content-disposition'), null)
  }
  t.is((await tenant.rest(`GET /rewards/${id}/pool?format=csv`)).status, 400)
})

// Serial: alone in its process, for nobody else's memory to be counted.
test.serial('an export of 300,000 values is complete, and takes no memory that grows with it', async (t) => {
  const app = await startApp(t)
  const tenant = await createTenant(app)
  const { id } = await createPoolReward(tenant)
  await fillPool(app, tenant, id, 300_000, 200)
  const before = process.memoryUsage().rss
  let peak = before
  let bytes = 0
  let lines = 0
  const response = await open(app, tenant, id)
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length
    for (const byte of chunk) if (byte === 10) lines++
    peak = Math.max(peak, process.memoryUsage().rss)
  }
  t.is(lines, 300_001)
  t.true(bytes > 60_000_000)
  const grownMb = Math.round((peak - before) / 1_000_000)
  t.log(`${Math.round(bytes / 1_000_000)} MB with ${grownMb} MB of memory`)
  t.true(grownMb < 150)
})

/** More than the buffers of both ends hold: 25 MB in 50 pages, two statements each. */
async function largePool(app: TestApp) {
  const tenant = await createTenant(app)
  const { id } = await createPoolReward(tenant)
  await fillPool(app, tenant, id, 50_000, 480)
  return { tenant, id }
}

/** Waits until the service has closed the connection of the next request. */
const nextClosed = ({ server }: TestApp): Promise<void> =>
  new Promise((closed) => {
    server.once('connection', (socket) => socket.once('close', () => closed()))
  })

const cutOff = async (response: IncomingMessage): Promise<string> => {
  response.resume()
  const [error] = (await once(response, 'error')) as [NodeJS.ErrnoException]
  return `${error.code}, complete: ${response.complete}`
}

test('a client that takes nothing stops the reading, and is let go', async (t) => {
  const app = await startApp(t, { stalledAfterMs: 2_000 })
  const { tenant, id } = await largePool(app)
  const closed = nextClosed(app)
  const sent = await statementsDuring(app, async () => {
    const response = await open(app, tenant, id)
    response.pause()
    await closed
    t.is(await cutOff(response), 'ECONNRESET, complete: false')
  })
  t.true(sent.length < 80, `${sent.length} statements`)
  t.is((await tenant.rest(`GET /rewards/${id}/pool`)).status, 200)
})

test('a client that is slow but takes on gets the whole file, however long that is', async (t) => {
  const app = await startApp(t, { stalledAfterMs: 1_500 })
  const { tenant, id } = await largePool(app)
  const response = await open(app, tenant, id)
  const startedAt = Date.now()
  let taken = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    taken += chunk.length
    // As fast as 25 MB in six seconds, several times the limit.
    await sleep(startedAt + taken / 4_000 - Date.now())
  }
  t.true(response.complete)
  t.true(taken > 24_000_000)
})

test('a client that goes away ends the reading', async (t) => {
  const app = await startApp(t)
  const { tenant, id } = await largePool(app)
  const closed = nextClosed(app)
  const response = await open(app, tenant, id)
  response.once('error', () => {})
  response.destroy()
  await closed
  const sent = await statementsDuring(app, () => sleep(500))
  t.true(sent.length <= 2, `${sent.length} statements`)
})

test('a file that cannot be finished is cut off, so that nobody takes it for whole', async (t) => {
  const app = await startApp(t)
  const { tenant, id } = await largePool(app)
  const response = await open(app, tenant, id)
  response.pause()
  await tenant.rest(`PATCH /rewards/${id}`, { delivery_mode: 'in_store' })
  t.is(await cutOff(response), 'ECONNRESET, complete: false')
})
