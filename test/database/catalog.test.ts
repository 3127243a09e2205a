import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import pg from 'pg'
import { diffToSchema } from '../../scripts/migrations/schema-engine.js'
import { createDatabase } from '../helpers/database.js'

/**
 * Tables that belong to no business. Whatever is added here is reachable without naming a business: every look-up
 * in it must be one that happens before the business is known, or a setting of the whole installation.
 */
const GLOBAL_TABLES = ['_prisma_migrations', 'api_keys', 'businesses', 'device_logins']

/** What Prisma's schema language cannot say, as PostgreSQL spells it; `npm run catalog:update` writes it anew. */
const CATALOG = fileURLToPath(new URL('catalog.txt', import.meta.url))

test('every table, unique index and foreign key starts with the business', async (t) => {
  const { query } = await openDatabase(t)
  t.deepEqual(await tenantViolations(query), [])
})

test('a table, unique index or foreign key that forgets the business is found', async (t) => {
  const { query } = await openDatabase(t)
  await query(`
    CREATE TABLE bad_key (id uuid PRIMARY KEY, business_id uuid);
    CREATE TABLE no_key (business_id uuid);
    CREATE TABLE bad_unique (business_id uuid, id uuid, code text UNIQUE, PRIMARY KEY (business_id, id));
    CREATE TABLE bad_reference (
      business_id uuid, id uuid, customer_id uuid, other_business_id uuid, api_key_id uuid REFERENCES api_keys (id),
      PRIMARY KEY (business_id, id),
      CONSTRAINT crosses FOREIGN KEY (other_business_id, customer_id) REFERENCES customers (business_id, id)
    );
    CREATE UNIQUE INDEX bad_partial ON bad_unique (id) WHERE code IS NOT NULL`)
  t.deepEqual(await tenantViolations(query), [
    'bad_key: the primary key does not start with business_id',
    'bad_reference: the foreign key bad_reference_api_key_id_fkey leads to a global table other than businesses',
    'bad_reference: the foreign key crosses does not carry business_id',
    'bad_unique: the unique index bad_partial does not start with business_id',
    'bad_unique: the unique index bad_unique_code_key does not start with business_id',
    'no_key: the primary key does not start with business_id',
  ])
})

test('schema.prisma and the migrations say the same', async (t) => {
  const { url } = await openDatabase(t)
  t.is(await diffToSchema(url, readFileSync('prisma/schema.prisma', 'utf8')), '')
})

test('CHECKs, partial indexes and all else that Prisma does not see are those of catalog.txt', async (t) => {
  const { query } = await openDatabase(t)
  const found = await unseenByPrisma(query)
  if (process.env.UPDATE_CATALOG && !process.env.CI) writeFileSync(CATALOG, `${found.join('\n')}\n`)
  const expected = readFileSync(CATALOG, 'utf8').split('\n').filter(Boolean)
  t.deepEqual(found, expected, 'if that is meant: `npm run catalog:update`, and read the difference')
})

type Query = (sql: string, values?: unknown[]) => Promise<pg.QueryResult>

async function openDatabase(t: { teardown(fn: () => Promise<void>): void }) {
  const { url, drop } = await createDatabase()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  t.teardown(async () => {
    await client.end()
    await drop()
  })
  const query: Query = (sql, values) => client.query(sql, values)
  return { url, query }
}

/** One line per breach of the rule that a tenant's rows are found, kept unique and referenced by business only. */
async function tenantViolations(query: Query): Promise<string[]> {
  const { rows } = await query(
    `
    WITH tables AS (
      SELECT c.oid, c.relname AS name, c.relname = ANY ($1) AS global
      FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
    ),
    first_columns AS (
      SELECT i.indrelid, i.indexrelid, i.indisprimary, a.attname AS name
      FROM pg_index i
      LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
      WHERE i.indisunique
    ),
    -- How business_id is paired: a foreign key that maps it to anything else could cross over to another tenant.
    foreign_keys AS (
      SELECT f.conname AS name, f.conrelid, f.confrelid, bool_or(a.attname = 'business_id' AND b.attname = 'business_id') AS carries
      FROM pg_constraint f
      CROSS JOIN LATERAL unnest(f.conkey, f.confkey) AS pair (own, other)
      JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = pair.own
      JOIN pg_attribute b ON b.attrelid = f.confrelid AND b.attnum = pair.other
      WHERE f.contype = 'f'
      GROUP BY f.oid
    )
    SELECT t.name || ': the primary key does not start with business_id' AS line
    FROM tables t
    LEFT JOIN first_columns k ON k.indrelid = t.oid AND k.indisprimary
    WHERE NOT t.global AND k.name IS DISTINCT FROM 'business_id'
    UNION ALL
    SELECT t.name || ': the unique index ' || k.indexrelid::regclass || ' does not start with business_id'
    FROM tables t
    JOIN first_columns k ON k.indrelid = t.oid AND NOT k.indisprimary
    WHERE NOT t.global AND k.name IS DISTINCT FROM 'business_id'
    UNION ALL
    SELECT t.name || ': the foreign key ' || f.name || ' does not carry business_id'
    FROM foreign_keys f JOIN tables t ON t.oid = f.conrelid JOIN tables other ON other.oid = f.confrelid
    WHERE NOT other.global AND NOT f.carries
    UNION ALL
    SELECT t.name || ': the foreign key ' || f.name || ' leads to a global table other than businesses'
    FROM foreign_keys f JOIN tables t ON t.oid = f.conrelid JOIN tables other ON other.oid = f.confrelid
    WHERE NOT t.global AND other.global AND other.name <> 'businesses'`,
    [GLOBAL_TABLES],
  )
  return rows.map(({ line }) => line as string).sort()
}

async function unseenByPrisma(query: Query): Promise<string[]> {
  const { rows } = await query(`
    SELECT r.relname || ': ' || c.conname || ' ' || pg_get_constraintdef(c.oid) AS line
    FROM pg_constraint c JOIN pg_class r ON r.oid = c.conrelid
    WHERE c.connamespace = 'public'::regnamespace AND c.contype IN ('c', 'x')
    UNION ALL
    -- Partial, over expressions, or with columns that are only carried along.
    SELECT r.relname || ': ' || pg_get_indexdef(i.indexrelid)
    FROM pg_index i JOIN pg_class r ON r.oid = i.indrelid
    WHERE r.relnamespace = 'public'::regnamespace
      AND (i.indpred IS NOT NULL OR i.indexprs IS NOT NULL OR i.indnkeyatts < i.indnatts)
    UNION ALL
    SELECT r.relname || ': ' || pg_get_triggerdef(g.oid)
    FROM pg_trigger g JOIN pg_class r ON r.oid = g.tgrelid
    WHERE r.relnamespace = 'public'::regnamespace AND NOT g.tgisinternal
    UNION ALL
    SELECT r.relname || ': WITH (' || array_to_string(r.reloptions, ', ') || ')'
    FROM pg_class r WHERE r.relnamespace = 'public'::regnamespace AND r.reloptions IS NOT NULL
    UNION ALL
    SELECT 'function ' || p.proname || ': ' || regexp_replace(pg_get_functiondef(p.oid), '\\s+', ' ', 'g')
    FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace AND p.prokind IN ('f', 'p')`)
  return rows.map(({ line }) => line as string).sort()
}
