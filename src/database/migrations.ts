import { createHash, randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import type { Logger } from 'pino'
import { DatabaseStartError } from './start-error.js'

/**
 * Applies `prisma/migrations` without Prisma's schema engine, which is a download. Files and the table
 * `_prisma_migrations` are Prisma's own, so its CLI and this runner can take turns on one database.
 */

/** The same place seen from src/ and from dist/. */
const FOLDER = fileURLToPath(new URL('../../prisma/migrations', import.meta.url))
/** Prisma's own lock, so that its CLI and this runner exclude each other. */
const ADVISORY_LOCK = 72_707_369
const SERVER_VERSION_MIN = 150_000
/** A migration that waits for a table holds up everybody who comes after it. */
const LOCK_TIMEOUT_MS = 30_000

const HISTORY = `
  CREATE TABLE IF NOT EXISTS _prisma_migrations (
    id                  VARCHAR(36) PRIMARY KEY NOT NULL,
    checksum            VARCHAR(64) NOT NULL,
    finished_at         TIMESTAMPTZ,
    migration_name      VARCHAR(255) NOT NULL,
    logs                TEXT,
    rolled_back_at      TIMESTAMPTZ,
    started_at          TIMESTAMPTZ NOT NULL DEFAULT now(),
    applied_steps_count INTEGER NOT NULL DEFAULT 0
  )`

interface Migration {
  readonly name: string
  readonly script: string
}

interface Applied {
  readonly name: string
  readonly checksum: string
  readonly finished: boolean
}

export interface MigrateOptions {
  readonly log: Pick<Logger, 'info'>
  /** Another folder of Prisma's layout; for tests. */
  readonly folder?: string
}

/**
 * Brings the database to this version's schema and returns the names of the migrations that this call applied.
 *
 * Each migration is one transaction together with its row in `_prisma_migrations`: a failed one leaves nothing.
 * Instances that start at once take turns. Throws `DatabaseStartError`, and changes nothing more, if a migration
 * fails, if one that was applied has changed since, or if the database has migrations that this version lacks.
 */
export async function migrate(
  database: string | pg.ClientConfig,
  { log, folder = FOLDER }: MigrateOptions,
): Promise<{ applied: string[] }> {
  const migrations = readMigrations(folder)
  const client = new pg.Client(typeof database === 'string' ? { connectionString: database } : database)
  // A lost connection is told by the query that it fails.
  client.on('error', () => {})
  await client.connect()
  try {
    await checkServer(client)
    await client.query('SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0')
    const applied: string[] = []
    for (;;) {
      const name = await applyNext(client, migrations)
      if (!name) return { applied }
      log.info({ migration: name }, 'applied a migration')
      applied.push(name)
    }
  } finally {
    await client.end().catch(() => {})
  }
}

function readMigrations(folder: string): Migration[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => ({ name, script: readFileSync(join(folder, name, 'migration.sql'), 'utf8') }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

async function checkServer(client: pg.Client): Promise<void> {
  const { rows } = await client.query(
    `SELECT current_setting('server_version_num')::int AS number, current_setting('server_version') AS version`,
  )
  if (rows[0].number < SERVER_VERSION_MIN)
    throw new DatabaseStartError(`PostgreSQL 15 or newer is needed; DATABASE_URL leads to ${rows[0].version}`)
}

/** One transaction: takes the lock, looks for the first migration that is missing, applies it. */
async function applyNext(client: pg.Client, migrations: Migration[]): Promise<string | undefined> {
  let next: Migration | undefined
  await client.query('BEGIN')
  try {
    await client.query('SET LOCAL lock_timeout = 0')
    // Waits while another instance applies a migration; released by COMMIT.
    await client.query('SELECT pg_advisory_xact_lock($1)', [ADVISORY_LOCK])
    await client.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`)
    const history = await readHistory(client)
    checkHistory(history, migrations)
    next = migrations.find(({ name }) => !history.some((row) => row.name === name))
    if (next) await apply(client, next)
    await client.query('COMMIT')
    return next?.name
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    throw next && error instanceof pg.DatabaseError ? failure(next, reasonOf(next, error)) : error
  }
}

async function readHistory(client: pg.Client): Promise<Applied[]> {
  const { rows: found } = await client.query(`SELECT to_regclass('_prisma_migrations') IS NOT NULL AS yes`)
  if (!found[0].yes) await client.query(HISTORY)
  const { rows } = await client.query<Applied>(
    `SELECT migration_name AS name, checksum, finished_at IS NOT NULL AS finished
     FROM _prisma_migrations WHERE rolled_back_at IS NULL ORDER BY migration_name`,
  )
  return rows
}

function checkHistory(history: Applied[], migrations: Migration[]): void {
  const unknown = history.filter((row) => !migrations.some(({ name }) => name === row.name))
  if (unknown.length > 0)
    throw new DatabaseStartError(
      `the database has migrations that this version of the service does not know (${unknown.map((row) => row.name).join(', ')}): it was used by a newer version. Start that version, or restore a backup from before it`,
    )
  for (const row of history) {
    if (!row.finished)
      throw new DatabaseStartError(
        `the migration ${row.name} was begun by Prisma's CLI and never finished: repair the database, then mark it with \`npx prisma migrate resolve\``,
      )
    const migration = migrations.find(({ name }) => name === row.name)!
    if (!checksums(migration.script).includes(row.checksum))
      throw new DatabaseStartError(
        `the migration ${row.name} was changed after it had been applied to this database: restore prisma/migrations/${row.name}/migration.sql and put the change into a new migration`,
      )
  }
}

async function apply(client: pg.Client, migration: Migration): Promise<void> {
  const { name, script } = migration
  const outsideFunctions = script.replace(/\$(\w*)\$[\s\S]*?\$\1\$/g, '')
  if (/^\s*(COMMIT|ROLLBACK|END|ABORT)(\s+(WORK|TRANSACTION))?\s*;/im.test(outsideFunctions))
    throw failure(migration, 'it ends its own transaction; leave COMMIT and ROLLBACK out of migration.sql')
  const startedAt = new Date()
  await client.query(script)
  await client.query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
     VALUES ($1, $2, $3, $4, clock_timestamp(), 1)`,
    [randomUUID(), checksums(script)[0], name, startedAt],
  )
}

const failure = ({ name }: Migration, reason: string) =>
  new DatabaseStartError(
    `the migration ${name} failed and was rolled back, nothing of it is left: ${reason}. The service does not run on the old schema: mend the cause and start it again, or start the previous version`,
  )

function reasonOf({ script }: Migration, { message, detail, position }: pg.DatabaseError): string {
  const line = position && `line ${script.slice(0, Number(position)).split('\n').length}`
  return [line, message, detail].filter(Boolean).join(': ')
}

/** The checksum to store, then those that count as the same: git may have changed the line ends. */
function checksums(script: string): string[] {
  const unix = script.replaceAll('\r\n', '\n')
  return [script, unix, unix.replaceAll('\n', '\r\n')].map((each) =>
    createHash('sha256').update(each).digest('hex'),
  )
}
