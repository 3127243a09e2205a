import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import type { Summary } from '../scripts/import/import.js'
import { createTenant, startApp, type Tenant, type TestApp } from './helpers/app.js'

const MAIN = fileURLToPath(new URL('../scripts/import/main.ts', import.meta.url))

/** `npm run import -- …` as a process of its own. */
function runImport(target: { url: string; key: string }, file: string, ...options: string[]) {
  const args = [MAIN, '--url', target.url, '--key', target.key, ...options, file]
  return new Promise<{ exitCode: number; out: string; err: string }>((resolve) => {
    const child = execFile(
      process.execPath,
      [`--import=${import.meta.resolve('tsx')}`, ...args],
      (_error, out, err) => resolve({ exitCode: child.exitCode!, out, err }),
    )
  })
}

const summaryOf = ({ out }: { out: string }): Summary => JSON.parse(out)

/** A file for one test. */
function temporaryFile(t: ExecutionContext, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'loyalty-import-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'purchases.csv')
  writeFileSync(file, text)
  return file
}

/** The purchases of CDNOW's customers 1997 to 1998, where they are at hand: a public data set, not part of the project. */
const REAL_FILE = [
  process.env.LOYALTY_PURCHASES_FILE,
  fileURLToPath(new URL('../../shared/data/cdnow/CDNOW_sample.txt', import.meta.url)),
].find((file) => file && existsSync(file))

const PADDED =
  '--separator whitespace --no-header --customer 2 --date 3 --amount 5 --date-format yyyymmdd'.split(' ')

/** Padded columns as in the real file: customer in the master set, customer, day, pieces, dollars. */
function generatedFile(): string {
  let text = ''
  for (let customer = 1; customer <= 40; customer++)
    for (let purchase = 0; purchase <= customer % 5; purchase++) {
      const day = 19970101 + ((customer * 7 + purchase * 3) % 28)
      const dollars = ((customer * 7919 + purchase * 104729) % 20000) / 100
      const number = String(customer).padStart(4, '0')
      text += ` ${number}5 ${number} ${day} ${String(purchase + 1).padStart(2)} ${dollars.toFixed(2).padStart(7)}\n`
    }
  return text
}

/** What a file of padded columns has to come to, in whole cents and whole points a line. */
function expectationOf(text: string) {
  const points = new Map<string, number>()
  const days = new Map<string, string[]>()
  let lines = 0
  let cents = 0
  for (const row of text.split('\n').filter((each) => each.trim() !== '')) {
    const [, customer, day, , dollars] = row.trim().split(/ +/) as [string, string, string, string, string]
    const [whole, fraction] = dollars.split('.') as [string, string]
    lines++
    cents += Number(whole) * 100 + Number(fraction)
    points.set(customer, (points.get(customer) ?? 0) + Number(whole))
    days.set(customer, [...(days.get(customer) ?? []), day])
  }
  const total = `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`
  return { lines, total, points, days }
}

/** Everything that is stored for a business, as one value for each table. */
async function snapshot(app: TestApp, { businessId }: Tenant) {
  const tables = [
    'customers',
    'customer_identifiers',
    'transactions',
    'transaction_counts',
    'visits',
    'idempotency_keys',
  ]
  const hashes = tables.map(async (table) => {
    const { rows } = await app.database.pool.query(
      `SELECT count(*)::int AS rows, md5(string_agg(x::text, '' ORDER BY x::text)) AS md5
         FROM ${table} x WHERE business_id = $1`,
      [businessId],
    )
    return [table, rows[0]]
  })
  return Object.fromEntries(await Promise.all(hashes))
}

/** Days and points of each customer, as the database has them. */
async function ledgerOf(app: TestApp, { businessId }: Tenant) {
  const { rows } = await app.database.pool.query<{ customer: string; balance: number; days: string[] }>(
    `SELECT i.value AS customer, c.balance,
            array_agg(to_char(t.occurred_at AT TIME ZONE b.timezone, 'YYYYMMDD') ORDER BY t.occurred_at) AS days
       FROM customer_identifiers i
       JOIN businesses b ON b.id = i.business_id
       JOIN customers c ON c.business_id = i.business_id AND c.id = i.customer_id
       JOIN transactions t ON t.business_id = c.business_id AND t.customer_id = c.id
      WHERE i.business_id = $1 GROUP BY i.value, c.balance`,
    [businessId],
  )
  return rows
}

const importedTwice = test.macro({
  title: (name) => `${name} imported twice is booked once: the second run is replays and changes nothing`,
  async exec(t, file: (t: ExecutionContext) => string) {
    t.timeout(300_000)
    const path = file(t)
    const { lines, total, points, days } = expectationOf(readFileSync(path, 'utf8'))
    const app = await startApp(t)
    const tenant = await createTenant(app, { timezone: 'America/New_York' })
    const target = { url: app.url, key: tenant.key }
    const totalPoints = [...points.values()].reduce((sum, each) => sum + each, 0)
    const totals = { lines, failed: 0, total_amount: total, total_points: totalPoints }

    const first = await runImport(target, path, ...PADDED)
    t.deepEqual(first, { ...first, exitCode: 0, err: '' })
    t.deepEqual(summaryOf(first), {
      ...totals,
      issued: lines,
      replayed: 0,
      customers: { created: points.size, replayed: 0, existing: 0 },
    })
    const stored = await snapshot(app, tenant)
    t.is(stored.transactions.rows, lines)
    const ledger = await ledgerOf(app, tenant)
    t.is(ledger.length, points.size)
    for (const { customer, balance, days: booked } of ledger) {
      t.is(balance, points.get(customer)!)
      t.deepEqual(booked, days.get(customer)!.toSorted())
    }

    const second = await runImport(target, path, ...PADDED)
    t.is(second.exitCode, 0)
    t.deepEqual(summaryOf(second), {
      ...totals,
      issued: 0,
      replayed: lines,
      customers: { created: 0, replayed: points.size, existing: 0 },
    })
    t.deepEqual(await snapshot(app, tenant), stored)
  },
})

test('a generated file', importedTwice, (t) => temporaryFile(t, generatedFile()))
const testWithRealFile = REAL_FILE ? test : test.skip
testWithRealFile('a real file', importedTwice, () => REAL_FILE!)

test('lines that are refused are named and fail the run; all others are booked', async (t) => {
  const app = await startApp(t)
  const tenant = await createTenant(app)
  await tenant.rest('POST /customers', { identifiers: [{ value: 'a;1' }] })
  const file = temporaryFile(
    t,
    [
      'paid;on;who',
      '12.50;2024-02-29;"a;1"',
      '1;2024-13-01;b',
      '',
      '1.999;2024-01-01;b',
      '3;2024-01-01T10:00:00Z;b',
      '-3;2024-01-01;b',
      '5;2999-01-01;b',
      '5;2024-01-01;018bcfe5-6800-7000-8000-000000000000',
    ].join('\r\n'),
  )
  const options = '--separator ; --customer who --date on --amount paid'.split(' ')
  const { exitCode, out, err } = await runImport({ url: app.url, key: tenant.key }, file, ...options)

  t.is(exitCode, 1)
  t.deepEqual(
    err
      .trim()
      .split('\n')
      .map((line) => line.slice(0, line.indexOf(':'))),
    ['line 3', 'line 5', 'line 7', 'line 8', 'line 9'],
  )
  t.regex(err, /line 3: "2024-13-01" is no date/)
  t.regex(err, /line 5: amount: /)
  t.regex(err, /line 8: occurred_at: /)
  t.deepEqual(summaryOf({ out }), {
    lines: 7,
    issued: 2,
    replayed: 0,
    failed: 5,
    total_amount: '15.50',
    total_points: 15,
    customers: { created: 1, replayed: 0, existing: 1 },
  })
})

test('a request that cannot be answered now is sent again, under its key, until it is', async (t) => {
  const keys: string[] = []
  const envelope = (message: string) => JSON.stringify({ success: false, error: { message } })
  const refusals = [
    { status: 429, body: envelope('Too many requests, please try again later') },
    { status: 503, body: envelope('Service temporarily unavailable') },
    { status: 409, body: envelope('IDEMPOTENCY_KEY_IN_USE') },
  ]
  const service = createServer((request, response) => {
    request.resume()
    if (request.url!.endsWith('/customers')) {
      response.writeHead(201).end('{"success":true,"data":{}}')
      return
    }
    keys.push(request.headers['idempotency-key'] as string)
    const refusal = refusals.shift()
    if (refusal) response.writeHead(refusal.status, { 'Retry-After': '1' }).end(refusal.body)
    else if (keys.length === 4) response.destroy()
    else response.writeHead(200).end('{"success":true,"data":{"transaction":{"points":7}}}')
  }).listen(0, '127.0.0.1')
  t.teardown(() => service.close())
  await once(service, 'listening')
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
  const file = temporaryFile(t, 'customer,date,amount\na,2024-01-01,7.25\n')

  const result = await runImport({ url, key: 'any' }, file, '--timezone', 'UTC')
  t.is(result.exitCode, 0)
  t.like(summaryOf(result), { lines: 1, issued: 1, failed: 0, total_amount: '7.25', total_points: 7 })
  t.is(keys.length, 5)
  t.is(new Set(keys).size, 1)
  t.regex(keys[0]!, /^[0-9a-f]{64}:2$/)
})

test('a key that is refused ends the run with its reason', async (t) => {
  const app = await startApp(t)
  const file = temporaryFile(t, 'customer,date,amount\na,2024-01-01,7.25\n')
  const target = { url: app.url, key: 'lby_live_wrong' }
  const { exitCode, out, err } = await runImport(target, file, '--timezone', 'UTC')
  t.deepEqual({ exitCode, out, err }, { exitCode: 1, out: '', err: 'error: Invalid API key\n' })
})
