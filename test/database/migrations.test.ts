import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import pg from 'pg'
import { migrationStatus } from '../../scripts/migrations/schema-engine.js'
import { migrate } from '../../src/database/migrations.js'
import { DatabaseStartError } from '../../src/database/start-error.js'
import { createDatabase } from '../helpers/database.js'
import { externalServices, testWithPostgres } from '../helpers/external-services.js'

const log = { info: () => {} }
const NAMES = readdirSync('prisma/migrations')
  .filter((name) => !name.endsWith('.toml'))
  .sort()

const FIRST = {
  '20260101000000_first': 'CREATE TABLE shops (id int PRIMARY KEY);\nINSERT INTO shops VALUES (1);\n',
}
const SECOND = { '20260102000000_second': 'ALTER TABLE shops ADD COLUMN name text;' }

test('an empty database gets the whole schema, a second call finds nothing to do', async (t) => {
  const { url } = await emptyDatabase(t)
  t.deepEqual(await migrate(url, { log }), { applied: NAMES })
  t.deepEqual(await migrate(url, { log }), { applied: [] })
})

testWithPostgres('the migrations apply to the PostgreSQL that runs on this machine', async (t) => {
  const { url } = await emptyDatabase(t, externalServices.postgresUrl)
  t.deepEqual(await migrate(url, { log }), { applied: NAMES })
})

test('_prisma_migrations is what Prisma itself would have written', async (t) => {
  const { url, folder } = await prepared(t, FIRST)
  await migrate(url, { log, folder })
  const [row, ...others] = await rows(url, 'SELECT * FROM _prisma_migrations')
  t.deepEqual(others, [])
  t.regex(String(row!.id), /^[0-9a-f-]{36}$/)
  t.is(row!.migration_name, '20260101000000_first')
  t.is(row!.checksum, sha256(Object.values(FIRST)[0]!))
  t.is(row!.applied_steps_count, 1)
  t.is(row!.rolled_back_at, null)
  t.is(row!.logs, null)
  t.true(row!.finished_at! >= row!.started_at!)
  const columns = await rows(
    url,
    `SELECT column_name, data_type, character_maximum_length AS length, is_nullable, column_default
     FROM information_schema.columns WHERE table_name = '_prisma_migrations' ORDER BY ordinal_position`,
  )
  // As in Prisma's schema engine 7.10.
  t.deepEqual(
    columns.map((column) => Object.values(column)),
    [
      ['id', 'character varying', 36, 'NO', null],
      ['checksum', 'character varying', 64, 'NO', null],
      ['finished_at', 'timestamp with time zone', null, 'YES', null],
      ['migration_name', 'character varying', 255, 'NO', null],
      ['logs', 'text', null, 'YES', null],
      ['rolled_back_at', 'timestamp with time zone', null, 'YES', null],
      ['started_at', 'timestamp with time zone', null, 'NO', 'now()'],
      ['applied_steps_count', 'integer', null, 'NO', '0'],
    ],
  )
})

test('`prisma migrate status` reads the history as it is', async (t) => {
  const { url, folder } = await prepared(t, FIRST)
  await migrate(url, { log, folder })
  const inOrder = {
    hasMigrationsTable: true,
    history: null,
    editedMigrationNames: [],
    failedMigrationNames: [],
  }
  t.deepEqual(await migrationStatus(url, folder), inOrder)

  add(folder, SECOND)
  writeFileSync(join(folder, '20260101000000_first/migration.sql'), 'SELECT 1;')
  t.like(await migrationStatus(url, folder), {
    history: { diagnostic: 'databaseIsBehind', unappliedMigrationNames: ['20260102000000_second'] },
    editedMigrationNames: ['20260101000000_first'],
  })
})

test('a failed migration leaves nothing half done, keeps those before it and says what to do', async (t) => {
  const script = 'CREATE TABLE half (id int);\nINSERT INTO half VALUES (1);\nINSERT INTO nowhere VALUES (1);'
  const { url, folder } = await prepared(t, {
    ...FIRST,
    '20260102000000_broken': script,
    '20260103000000_third': '',
  })
  const error = await t.throwsAsync(migrate(url, { log, folder }), { instanceOf: DatabaseStartError })
  t.regex(
    error!.message,
    /20260102000000_broken failed and was rolled back.*line 3: relation "nowhere" does not exist/,
  )
  t.regex(error!.message, /mend the cause and start it again, or start the previous version/)
  t.deepEqual(
    await rows(url, `SELECT to_regclass('half')::text AS half, to_regclass('shops')::text AS shops`),
    [{ half: null, shops: 'shops' }],
  )
  t.deepEqual(await history(url), ['20260101000000_first'])

  writeFileSync(join(folder, '20260102000000_broken/migration.sql'), script.replace('nowhere', 'half'))
  t.deepEqual((await migrate(url, { log, folder })).applied, [
    '20260102000000_broken',
    '20260103000000_third',
  ])
})

test('a migration and its row in the history are one transaction, up to the COMMIT', async (t) => {
  const { url, folder } = await prepared(t, {
    '20260101000000_no_row': `CREATE TABLE half (id int);
      ALTER TABLE _prisma_migrations ADD CONSTRAINT closed CHECK (false) NOT VALID;`,
  })
  await t.throwsAsync(migrate(url, { log, folder }), { message: /20260101000000_no_row failed.*closed/ })
  t.deepEqual(
    await rows(url, `SELECT to_regclass('half') AS half, to_regclass('_prisma_migrations') AS history`),
    [{ half: null, history: null }],
  )

  writeFileSync(
    join(folder, '20260101000000_no_row/migration.sql'),
    `CREATE TABLE half (id int UNIQUE DEFERRABLE INITIALLY DEFERRED);
     INSERT INTO half VALUES (1), (1);`,
  )
  await t.throwsAsync(migrate(url, { log, folder }), {
    message: /20260101000000_no_row failed.*duplicate key/,
  })
  t.deepEqual(await rows(url, `SELECT to_regclass('half') AS half`), [{ half: null }])
})

test('a migration that would end its own transaction is refused before it starts', async (t) => {
  const inFunction = 'DO $$ BEGIN\n PERFORM 1;\n END;\n $$;'
  const { url, folder } = await prepared(t, {
    '20260101000000_function': inFunction,
    '20260102000000_commit': 'CREATE TABLE half (id int);\nCOMMIT;\nINSERT INTO nowhere VALUES (1);',
  })
  await t.throwsAsync(migrate(url, { log, folder }), {
    message: /20260102000000_commit .*leave COMMIT and ROLLBACK out/,
  })
  t.deepEqual(await history(url), ['20260101000000_function'])
  t.deepEqual(await rows(url, `SELECT to_regclass('half') AS half`), [{ half: null }])
})

test('instances that start at once migrate once', async (t) => {
  const { url, folder } = await prepared(t, {
    '20260101000000_slow': 'SELECT pg_sleep(0.3); CREATE TABLE a (id int);',
    '20260102000000_slow': 'SELECT pg_sleep(0.3); CREATE TABLE b (id int);',
  })
  const results = await Promise.all(Array.from({ length: 5 }, () => migrate(url, { log, folder })))
  t.deepEqual(results.flatMap(({ applied }) => applied).sort(), [
    '20260101000000_slow',
    '20260102000000_slow',
  ])
  t.deepEqual(await history(url), ['20260101000000_slow', '20260102000000_slow'])
})

test('a migration that was changed after it had been applied is refused by name', async (t) => {
  const { url, folder } = await prepared(t, FIRST)
  await migrate(url, { log, folder })
  const file = join(folder, '20260101000000_first/migration.sql')
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll('\n', '\r\n'))
  t.deepEqual(
    await migrate(url, { log, folder }),
    { applied: [] },
    'but for its line ends, which git may change',
  )

  writeFileSync(file, 'CREATE TABLE shops (id bigint PRIMARY KEY);')
  add(folder, SECOND)
  await t.throwsAsync(migrate(url, { log, folder }), {
    instanceOf: DatabaseStartError,
    message: /20260101000000_first was changed after it had been applied/,
  })
  t.deepEqual(await history(url), ['20260101000000_first'], 'nothing more is applied')
})

test('an older version refuses a database that a newer one has migrated', async (t) => {
  const { url, folder } = await prepared(t, { ...FIRST, ...SECOND })
  await migrate(url, { log, folder })
  rmSync(join(folder, '20260102000000_second'), { recursive: true })
  await t.throwsAsync(migrate(url, { log, folder }), {
    instanceOf: DatabaseStartError,
    message: /does not know \(20260102000000_second\): it was used by a newer version/,
  })
})

test('what Prisma’s CLI left unfinished is not built upon, what it rolled back is applied', async (t) => {
  const { url, folder } = await prepared(t, FIRST)
  await migrate(url, { log, folder })
  add(folder, SECOND)
  await rows(
    url,
    `INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES ('x', 'y', '20260102000000_second')`,
  )
  await t.throwsAsync(migrate(url, { log, folder }), {
    message: /20260102000000_second was begun .*migrate resolve/,
  })
  await rows(url, `UPDATE _prisma_migrations SET rolled_back_at = now() WHERE id = 'x'`)
  t.deepEqual(await migrate(url, { log, folder }), { applied: ['20260102000000_second'] })
})

/** An empty database and a folder with the given migrations. */
async function prepared(t: ExecutionContext, migrations: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'loyalty-migrations-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  add(folder, migrations)
  return { ...(await emptyDatabase(t)), folder }
}

function add(folder: string, migrations: Record<string, string>): void {
  for (const [name, script] of Object.entries(migrations)) {
    mkdirSync(join(folder, name))
    writeFileSync(join(folder, name, 'migration.sql'), script)
  }
}

async function emptyDatabase(t: ExecutionContext, server?: string) {
  const database = await createDatabase({ empty: true, ...(server && { server }) })
  t.teardown(database.drop)
  return database
}

async function rows(connectionString: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  return client
    .query(sql)
    .then(({ rows }) => rows)
    .finally(() => client.end())
}

const history = async (url: string): Promise<unknown[]> =>
  (await rows(url, 'SELECT migration_name FROM _prisma_migrations ORDER BY migration_name')).map(
    (row) => row.migration_name,
  )

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
