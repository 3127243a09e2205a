import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import pg from 'pg'
import { createTenant, restClient, startApp, TEST_SECRET } from './helpers/app.js'
import { serverPid, temporaryDataDir } from './helpers/embedded-process.js'
import { MAIN, type Program, startProgram, startService } from './helpers/program.js'

// One after the other: every process here takes a processor of its own for a while.

/** One line for people, nothing for programmers. */
const onlyReason = (program: Program): string => {
  const lines = program.err().trim().split('\n')
  return lines.length === 1 ? lines[0]! : `${lines.length} lines: ${program.err()}`
}

async function answerOf(program: Program) {
  const code = await program.exited
  if (code !== 0) throw new Error(`exit code ${code}: ${program.err()}`)
  return JSON.parse(program.out())
}

test.serial(
  'the first start seeds a demo business, the next ones keep the data; commands work beside and alone',
  async (t) => {
    const DATA_DIR = temporaryDataDir(t)
    const first = await startService(t, { DATA_DIR })
    const rest = restClient(first.ready.url, first.ready.api_key)
    t.is((await rest('GET /me')).body.data.business.id, first.ready.business_id)

    const beside = await answerOf(startProgram(t, ['business', 'list', '--json'], { DATA_DIR }))
    t.deepEqual(
      beside.businesses.map((each: { business_id: string }) => each.business_id),
      [first.ready.business_id],
    )
    t.is((await rest('GET /me')).status, 200, 'a command that ends leaves the service its database')

    first.child.kill('SIGTERM')
    t.is(await first.exited, 0)
    t.is(serverPid(DATA_DIR), undefined, 'the database stops with the service')

    const create = ['business', 'create', '--name', 'Bakery', '--email', 'b@example.com', '--country', 'FR']
    const alone = await answerOf(startProgram(t, [...create, '--json'], { DATA_DIR }))
    t.is(serverPid(DATA_DIR), undefined, 'the database stops with the command')

    const second = await startService(t, { DATA_DIR })
    t.is(second.ready.business_id, undefined, 'nothing is seeded again')
    for (const key of [first.ready.api_key, alone.api_key])
      t.is((await restClient(second.ready.url, key)('GET /me')).status, 200)
    second.child.kill('SIGINT')
    t.is(await second.exited, 0)
  },
)

test.serial(
  'what the first start prints is JSON lines on standard output and, for people, a curl that works',
  async (t) => {
    const service = startProgram(t, ['serve'], { DATA_DIR: temporaryDataDir(t), PORT: '0' })
    await service.says(/Ctrl-C stops/)
    for (const line of service.out().trim().split('\n')) t.notThrows(() => JSON.parse(line), line)
    const key = /^ {2}(lby_live_\w+)$/m.exec(service.err())![1]!
    t.false(service.out().includes(key), 'the key is not logged')
    const [, header, url] = /^ {2}curl -H '(.*)' (.*)$/m.exec(service.err())!
    const [name, value] = header!.split(': ') as [string, string]
    const answer = await fetch(url!, { headers: { [name]: value } })
    t.is(answer.status, 200)
    t.like(await answer.json(), { success: true })
    const graphiql = /^ {2}GraphiQL +(.*)$/m.exec(service.err())![1]!
    const page = await fetch(graphiql, { headers: { accept: 'text/html' } })
    t.regex(await page.text(), /<!doctype html>/i)
  },
)

test.serial(
  'a second service on the same folder is refused in one line, and the first goes on',
  async (t) => {
    const DATA_DIR = temporaryDataDir(t)
    const first = await startService(t, { DATA_DIR })
    const second = startProgram(t, ['serve'], { DATA_DIR, PORT: '0', LOG_LEVEL: 'warn' })
    t.is(await second.exited, 1)
    t.regex(onlyReason(second), /^error: another service \(process \d+\) is running on the database in /)
    t.is((await fetch(`${first.ready.url}/readyz`)).status, 200)
  },
)

test.serial('a port in use is told in one line and leaves no database running', async (t) => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.teardown(() => other.close())
  const { port } = other.address() as { port: number }
  const DATA_DIR = temporaryDataDir(t)
  const service = startProgram(t, ['serve'], { DATA_DIR, PORT: String(port), LOG_LEVEL: 'warn' })
  t.is(await service.exited, 1)
  t.regex(onlyReason(service), new RegExp(`^error: port ${port} of 127\\.0\\.0\\.1 is in use`))
  t.is(serverPid(DATA_DIR), undefined)
})

test.serial(
  'two commands that find an empty folder at once end up with one database and one secret',
  async (t) => {
    const DATA_DIR = temporaryDataDir(t)
    const create = [
      'business',
      'create',
      '--name',
      'x',
      '--email',
      'x@example.com',
      '--country',
      'FR',
      '--json',
    ]
    const made = await Promise.all([1, 2].map(() => answerOf(startProgram(t, create, { DATA_DIR }))))
    const service = await startService(t, { DATA_DIR })
    for (const { api_key, business_id } of made)
      t.is((await restClient(service.ready.url, api_key)('GET /me')).body.data.business.id, business_id)
  },
)

/** A service on a database in which a customer's row is held, so that requests about it stay in flight. */
async function busyService(t: Parameters<typeof startApp>[0], settings: Record<string, string> = {}) {
  const app = await startApp(t)
  const tenant = await createTenant(app)
  await tenant.rest('POST /customers', { identifiers: [{ value: 'C-1' }] })
  const holder = new pg.Client({ connectionString: app.databaseUrl })
  await holder.connect()
  t.teardown(() => holder.end().catch(() => {}))
  await holder.query('BEGIN')
  await holder.query('SELECT FROM customers FOR UPDATE')
  const service = await startService(t, {
    DATABASE_URL: app.databaseUrl,
    SECRET_KEY: TEST_SECRET,
    RATE_LIMIT_POINTS_PER_MINUTE: '1000',
    DATABASE_POOL_SIZE: '60',
    ...settings,
  })
  const agent = new Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  const issue = () => post(`${service.ready.url}/api/v1/points/issue`, tenant.key, agent)
  /** Resolves when so many requests wait for the row. */
  const inFlight = async (count: number) => {
    const waiting = `SELECT count(*)::int AS count FROM pg_stat_activity
                      WHERE datname = current_database() AND wait_event_type = 'Lock'`
    while ((await app.database.pool.query(waiting)).rows[0].count < count) await sleep(20)
  }
  return { tenant, service, issue, inFlight, release: () => holder.query('COMMIT') }
}

interface Posted {
  status: number
  connection: string | undefined
}

function post(url: string, key: string, agent: Agent): Promise<Posted> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    request(url, { method: 'POST', headers, agent }, (response) => {
      response
        .resume()
        .on('end', () => resolve({ status: response.statusCode!, connection: response.headers.connection }))
    })
      .on('error', reject)
      .end(JSON.stringify({ identifier: 'C-1', points: 1 }))
  })
}

test.serial('SIGTERM lets 50 requests in flight finish, takes no new ones, and ends with 0', async (t) => {
  const { tenant, service, issue, inFlight, release } = await busyService(t)
  const sent = Array.from({ length: 50 }, issue)
  await inFlight(50)
  service.child.kill('SIGTERM')
  const ready = () => fetch(`${service.ready.url}/readyz`).then(({ status }) => status)
  while ((await ready().catch(() => 'nobody listens')) !== 'nobody listens') await sleep(20)
  await release()
  for (const { status, connection } of await Promise.all(sent)) {
    t.is(status, 200)
    t.is(connection, 'close')
  }
  t.is(await service.exited, 0)
  t.is((await tenant.rest('GET /customers/C-1/balance')).body.data.balance, 50)
})

test.serial('a request that outlasts SHUTDOWN_SECONDS is cut off and the service ends with 1', async (t) => {
  const { service, issue, inFlight } = await busyService(t, { SHUTDOWN_SECONDS: '1' })
  const sent = issue()
  await inFlight(1)
  service.child.kill('SIGTERM')
  await t.throwsAsync(sent, { code: 'ECONNRESET' })
  t.is(await service.exited, 1)
  t.regex(service.err(), /"cut":1/)
})

test.serial(
  'a signal that comes twice at once, as npm sends it, is one; a later one ends the service at once',
  async (t) => {
    const { service, issue, inFlight, release } = await busyService(t)
    const sent = issue()
    await inFlight(1)
    service.child.kill('SIGINT')
    await service.says(/"stopping"/)
    service.child.kill('SIGINT')
    await sleep(700)
    t.is(service.child.exitCode, null)
    service.child.kill('SIGINT')
    t.is(await service.exited, 1)
    await t.throwsAsync(sent)
    await release()
  },
)

test.serial(
  'settings come from .env in the working directory, and the environment wins over it',
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'loyalty-env-'))
    t.teardown(() => rmSync(folder, { recursive: true }))
    writeFileSync(join(folder, '.env'), 'PORT=from-the-file\nLOG_LEVEL=from-the-file\n')
    const error = t.throws(() =>
      execFileSync(process.execPath, [MAIN, 'business', 'list'], {
        cwd: folder,
        env: { PATH: process.env.PATH, LOG_LEVEL: 'warn' },
        encoding: 'utf8',
        stdio: 'pipe',
      }),
    ) as unknown as { stderr: string }
    t.regex(error.stderr, /PORT/)
    t.notRegex(error.stderr, /LOG_LEVEL/)
  },
)
