import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import test, { type ExecutionContext } from 'ava'
import pino from 'pino'
import { openCluster } from '../../src/database/embedded-cluster.js'
import { ensureRunning, stopServer, urlOf } from '../../src/database/embedded-server.js'
import { migrate } from '../../src/database/migrations.js'
import { createTenant, type RestAnswer, startApp } from '../helpers/app.js'
import { createCustomer, createReward } from '../helpers/factories.js'
import { clearUpLater } from '../helpers/watchdog.js'

/** A PostgreSQL of the test's own, which it can stop and start. */
async function ownServer(t: ExecutionContext) {
  const folder = mkdtempSync(join(tmpdir(), 'loyalty-test-'))
  t.teardown(clearUpLater(folder, folder))
  const cluster = openCluster(folder, () => {})
  const start = () => ensureRunning(cluster, { durable: false })
  const url = urlOf(cluster, (await start()).address, 'postgres')
  await migrate(url, { log: { info: () => {} } })
  return { url, start, stop: () => stopServer(cluster) }
}

/** A log that a test can read. */
function capturedLog() {
  const lines: Record<string, unknown>[] = []
  const sink = new Writable({
    write(line, _encoding, done) {
      lines.push(JSON.parse(String(line)))
      done()
    },
  })
  return { log: pino(sink), lines }
}

const said = ({ status, headers, body }: RestAnswer) => [
  status,
  body.error?.message,
  headers.get('retry-after'),
]
const AWAY = [503, 'Service temporarily unavailable', '2']

test('while the database is away every answer is a 503 that may be retried; then the service goes on by itself', async (t) => {
  const server = await ownServer(t)
  const app = await startApp(t, { serverUrl: server.url })
  const tenant = await createTenant(app)
  const cold = await createTenant(app)
  const { user_id } = await createCustomer(tenant)
  const reward = await createReward(tenant)
  const asked: [string, object?][] = [
    ['GET /me'],
    ['GET /transactions'],
    [`GET /customers/${user_id}`],
    [`GET /rewards/${reward.id}`],
    ['POST /customers', {}],
    ['POST /points/issue', { user_id, points: 5 }],
    ['PATCH /settings', { timezone: 'Europe/Berlin' }],
    [`PATCH /rewards/${reward.id}`, { name: 'Tea' }],
  ]
  const readiness = async () => (await fetch(`${app.url}/readyz`)).status

  await server.stop()
  for (const [request, body] of asked)
    for (const key of [{}, { 'idempotency-key': request }]) {
      const answer = await tenant.rest(request, body, key)
      t.deepEqual(said(answer), AWAY, request)
      t.truthy(answer.headers.get('ratelimit-limit'))
    }
  // A key that was not known yet cannot be judged: that is no 401, and does not count as one.
  const unjudged = await cold.rest('GET /me')
  t.deepEqual(said(unjudged), AWAY)
  t.is(unjudged.headers.get('ratelimit-remaining'), '1000000')
  const graph = await tenant.graph('{ transactions { totalCount } }')
  t.deepEqual(graph.errors![0].extensions, { code: 'UNAVAILABLE', retryAfter: 2 })
  const unjudgedGraph = await cold.graph('{ viewer { business { id } } }')
  t.deepEqual([unjudgedGraph.status, unjudgedGraph.errors![0].extensions.code], [503, 'UNAVAILABLE'])
  t.deepEqual([await readiness(), (await fetch(`${app.url}/healthz`)).status], [503, 200])

  await server.start()
  t.is(await readiness(), 200)
  for (const [request, body] of asked) {
    const answer = await tenant.rest(request, body, { 'idempotency-key': request })
    t.true(answer.status < 300, `${request}: ${answer.text}`)
    t.is(answer.headers.get('idempotency-replayed'), null)
  }
  t.is((await cold.rest('GET /me')).status, 200)
  t.is((await tenant.rest(`GET /customers/${user_id}/balance`)).body.data.balance, 5)
})

test('a connection that is cut in the middle of a request costs that request alone', async (t) => {
  const app = await startApp(t, { poolSize: 2 })
  const { rest } = await createTenant(app)
  const { user_id } = await createCustomer({ rest })
  const locker = await app.database.pool.connect()
  await locker.query('BEGIN')
  await locker.query('SELECT FROM customers WHERE id = $1 FOR UPDATE', [user_id])
  const waiting = rest('POST /points/issue', { user_id, points: 5 })
  const cut = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = current_database() AND wait_event_type = 'Lock'`
  while ((await locker.query(cut)).rowCount === 0) await new Promise((resolve) => setTimeout(resolve, 10))
  t.deepEqual(said(await waiting), AWAY)
  await locker.query('ROLLBACK')
  locker.release()
  t.is((await rest('POST /points/issue', { user_id, points: 7 })).body.data.balance.balance, 7)
})

test('a fault of ours shows nothing of itself; the log has it under the id of the request', async (t) => {
  const { log, lines } = capturedLog()
  const app = await startApp(t, { log })
  const { rest, graph, key } = await createTenant(app)
  const { user_id } = await createCustomer({ rest })
  await app.database.pool.query('ALTER TABLE transactions RENAME TO ledger_of_yore')
  await app.database.pool.query('ALTER TABLE rewards RENAME COLUMN name TO title_of_yore')
  lines.length = 0

  const requests: [string, object?][] = [
    ['GET /transactions'],
    ['GET /rewards'],
    ['POST /points/issue', { user_id, points: 1 }],
    ['POST /rewards', { name: 'Tea', points_cost: 1 }],
  ]
  for (const [request, body] of requests)
    for (const idempotency of [{}, { 'idempotency-key': request }]) {
      const answer = await rest(request, body, idempotency)
      t.is(answer.text, '{"success":false,"error":{"message":"Internal server error"}}', request)
      t.is(answer.status, 500)
      t.truthy(answer.headers.get('ratelimit-limit'))
      const fault = lines.find(
        ({ msg, requestId }) => msg === 'fault' && requestId === answer.headers.get('x-request-id'),
      )
      t.regex(JSON.stringify(fault), /of_yore|transactions|name/)
    }

  const issue = 'mutation ($input: IssuePointsInput!) { issuePoints(input: $input) { balance { balance } } }'
  const variables = { input: { userId: user_id, points: 1 } }
  for (const [query, idempotency] of [
    ['{ transactions { nodes { id } } }', {}],
    ['{ rewards { nodes { name } } }', {}],
    [issue, {}],
    [issue, { 'idempotency-key': 'graph' }],
  ] as const) {
    const { errors, headers } = await graph(query, query === issue ? variables : {}, idempotency)
    t.is(errors!.length, 1)
    t.is(errors![0].message, 'Internal server error')
    t.deepEqual(errors![0].extensions, { code: 'INTERNAL' })
    const requestId = headers.get('x-request-id')
    t.truthy(lines.find((line) => line.msg === 'fault' && line.requestId === requestId))
  }
  t.false(JSON.stringify(lines).includes(key))
})
