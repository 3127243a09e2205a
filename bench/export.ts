import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createApiKey, createBusiness } from '../src/businesses/accounts.js'
import { openDatabase } from '../src/database/database.js'
import { migrate } from '../src/database/migrations.js'
import { createSecrets } from '../src/secrets.js'
import { startTemporaryServer } from '../test/helpers/server.js'
import { newSecret, startService } from './processes.js'
import { BENCH_BUSINESS } from './tenants.js'

const HELP = `npm run bench:export -- [options]

Exports the values of a code pool, as CSV and as JSON: how long it takes, and how much memory the service has used at
most by then. A small pool goes before, which shows what of that is not the size.

  --values N  of the large pool (1000000)
  --json      one JSON object instead of the table

The pools are filled in a temporary database, past the 100,000 values that a pool can be given through the API.`

const SMALL = 10_000
const FORMATS = ['csv', 'json'] as const

interface Exported {
  format: (typeof FORMATS)[number]
  values: number
  seconds: number
  bytes: number
  /** Resident memory of the service at its highest, since it was started. */
  peakBytes: number
}

interface Pool {
  rewardId: string
  values: number
}

async function main(large: number): Promise<Exported[]> {
  const url = await startTemporaryServer()
  const secret = newSecret()
  const { apiKey, pools } = await prepare(url, secret, [SMALL, large])
  const folder = mkdtempSync(join(tmpdir(), 'loyalty-bench-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const results: Exported[] = []
  for (const format of FORMATS) {
    const service = await startService(url, secret, folder)
    try {
      for (const pool of pools) {
        const began = performance.now()
        const { bytes, rows } = await download(service.port, apiKey, pool, format)
        const seconds = (performance.now() - began) / 1000
        if (rows !== pool.values) throw new Error(`${format}: ${rows} values instead of ${pool.values}`)
        results.push({ format, values: rows, seconds, bytes, peakBytes: await service.peakMemoryBytes() })
      }
    } finally {
      await service.stop()
    }
  }
  return results
}

async function prepare(url: string, secret: string, sizes: readonly number[]) {
  await migrate(url, { log: { info: () => {} } })
  const timeoutsMs = { connection: 5_000, statement: 0, lock: 0, idleInTransaction: 0 }
  const database = openDatabase({ url, poolSize: 1, timeoutsMs, onError: () => {} })
  try {
    const now = new Date()
    const businessId = await createBusiness(database, BENCH_BUSINESS, now)
    const owner = { businessId, name: 'benchmark' }
    const { key: apiKey } = await createApiKey(database, createSecrets(secret), owner, now)
    const pools: Pool[] = []
    for (const values of sizes) {
      const { rows } = await database.pool.query<{ rewardId: string }>(INSERT_REWARD, [businessId, values])
      const { rewardId } = rows[0]!
      await database.pool.query(INSERT_VALUES, [businessId, rewardId, values])
      pools.push({ rewardId, values })
    }
    await database.pool.query('VACUUM ANALYZE pool_values')
    return { apiKey, pools }
  } finally {
    await database.close()
  }
}

const INSERT_REWARD = `
  INSERT INTO rewards (business_id, id, name, points_cost, delivery_mode, digital_asset_type, digital_asset_source,
                       pool_available, created_at, updated_at)
  VALUES ($1, gen_random_uuid(), 'Voucher', 1, 'digital', 'code', 'pool', $2, now(), now())
  RETURNING id AS "rewardId"`

/** As if 10,000 had been added at a time, each addition at a moment of its own. */
const INSERT_VALUES = `
  INSERT INTO pool_values (business_id, id, reward_id, value, created_at)
  SELECT $1, gen_random_uuid(), $2, gen_random_uuid(), now() + n / 10000 * interval '1 ms'
    FROM generate_series(0, $3::int - 1) AS n`

/** Takes the file as fast as it comes; keeps nothing of it but its size and the number of its rows. */
async function download(port: number, apiKey: string, { rewardId }: Pool, format: Exported['format']) {
  const request = get({
    host: '127.0.0.1',
    port,
    path: `/api/v1/rewards/${rewardId}/pool/export?format=${format}`,
    headers: { Authorization: `Bearer ${apiKey}` },
    agent: false,
  })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  if (response.statusCode !== 200) throw new Error(`${format}: ${response.statusCode}`)
  // Neither stands in a value: a line begins each row of CSV but the first, a brace each object of JSON.
  const mark = format === 'csv' ? '\n' : '{'
  let bytes = 0
  let rows = format === 'csv' ? -1 : 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length
    for (let at = chunk.indexOf(mark); at !== -1; at = chunk.indexOf(mark, at + 1)) rows++
  }
  return { bytes, rows }
}

const MEGABYTE = 1024 * 1024

const tableOf = (results: readonly Exported[]): string =>
  [
    ['', 'values', 'seconds', 'file MB', 'peak memory MB'],
    ...results.map(({ format, values, seconds, bytes, peakBytes }) => [
      format,
      String(values),
      seconds.toFixed(2),
      (bytes / MEGABYTE).toFixed(1),
      (peakBytes / MEGABYTE).toFixed(0),
    ]),
  ]
    .map(([format, ...cells]) => `${format!.padEnd(6)}${cells.map((cell) => cell.padStart(15)).join('')}`)
    .join('\n')

const { values: options } = parseArgs({
  options: {
    values: { type: 'string', default: '1000000' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

if (options.help) console.log(HELP)
else {
  const large = Number(options.values)
  if (!Number.isInteger(large) || large < 1) throw new Error(`--values cannot be ${options.values}`)
  const results = await main(large)
  console.log(options.json ? JSON.stringify(results, null, 2) : tableOf(results))
}
