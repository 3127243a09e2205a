import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { createBusiness } from '../src/businesses/accounts.js'
import { openDatabase } from '../src/database/database.js'
import { migrate } from '../src/database/migrations.js'
import { fillTenant } from './fill-tenant.js'
import { loosen } from './loosen.js'
import { BENCH_BUSINESS, OTHER_TENANTS, otherSizes, type Sizes } from './tenants.js'

export interface Filled {
  businessId: string
  /** False = it was there from an earlier run. */
  fresh: boolean
}

const silent = { info: () => {} }

/**
 * Brings the database to this version's schema with the wanted amount of data, unless an earlier run has. What
 * earlier runs have written on top stays: the numbers of rows matter, not the rows.
 *
 * Throws where the database holds anything that is not a benchmark's.
 */
export async function fill(url: string, sizes: Sizes, say: (message: string) => void): Promise<Filled> {
  const client = new pg.Client({ connectionString: url, options: '-c timezone=UTC' })
  await client.connect()
  try {
    const fingerprint = fingerprintOf(sizes)
    const known = await readMark(client)
    if (known?.fingerprint === fingerprint) return { businessId: known.businessId!, fresh: false }
    await reset(client, known !== undefined)
    await migrate(url, { log: silent })
    const [businessId, ...others] = await createTenants(url)

    const tighten = await loosen(client)
    await fillTenant(client, businessId!, sizes, say)
    for (const other of others) await fillTenant(client, other, otherSizes(sizes), () => {})
    say('indexes and foreign keys')
    await tighten()
    say('vacuum')
    await client.query('VACUUM ANALYZE')
    await client.query('CHECKPOINT').catch(() => {})
    await client.query('UPDATE bench.mark SET fingerprint = $1, business_id = $2', [fingerprint, businessId])
    return { businessId: businessId!, fresh: true }
  } finally {
    await client.end()
  }
}

/** Equal for equal sizes, migrations and generator. */
function fingerprintOf(sizes: Sizes): string {
  const hash = createHash('sha256').update(JSON.stringify(sizes))
  const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
  const migrations = readdirSync(here('../prisma/migrations'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => here(`../prisma/migrations/${name}`))
  for (const file of [...migrations, here('fill-tenant.ts'), here('tenants.ts')])
    hash.update(readFileSync(file))
  return hash.digest('hex')
}

async function readMark(client: pg.Client) {
  const { rows: found } = await client.query(`SELECT to_regclass('bench.mark') IS NOT NULL AS yes`)
  if (!found[0].yes) return undefined
  const { rows } = await client.query<{ fingerprint: string | null; businessId: string | null }>(
    'SELECT fingerprint, business_id AS "businessId" FROM bench.mark',
  )
  return rows[0]
}

/** An empty database that is marked as the benchmark's. */
async function reset(client: pg.Client, ours: boolean): Promise<void> {
  const { rows } = await client.query(
    `SELECT count(*)::int AS tables FROM pg_tables WHERE schemaname = 'public'`,
  )
  if (!ours && rows[0].tables > 0)
    throw new Error('the database is in use by something else: give the benchmark an empty one')
  await client.query(`
    DROP SCHEMA IF EXISTS public, bench, graphile_worker CASCADE;
    CREATE SCHEMA public;
    CREATE SCHEMA bench;
    CREATE TABLE bench.mark (fingerprint text, business_id uuid);
    INSERT INTO bench.mark DEFAULT VALUES`)
}

async function createTenants(url: string): Promise<string[]> {
  const database = openDatabase({ url, poolSize: 2, onError: () => {} })
  try {
    const ids: string[] = []
    for (let n = 0; n <= OTHER_TENANTS; n++)
      ids.push(await createBusiness(database, BENCH_BUSINESS, new Date()))
    return ids
  } finally {
    await database.close()
  }
}
