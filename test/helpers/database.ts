import { randomBytes } from 'node:crypto'
import pg from 'pg'

export interface TestDatabase {
  readonly url: string
  /** Ends what is still connected and removes the database. */
  drop(): Promise<void>
}

interface TestDatabaseOptions {
  /** Without this version's schema, for tests of the migrations themselves. */
  empty?: boolean
  /** Connection string of another server; its user may create databases. Only with `empty`. */
  server?: string
}

/** A database of its own for a test file or a test: a copy of the run's migrated template (about 25 ms). */
export async function createDatabase({
  empty = false,
  server,
}: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const template = process.env.TEST_DATABASE_URL
  if (!template) throw new Error('no test server: run the tests by `npm test` or `npx ava`')
  const name = `loyalty_test_${randomBytes(6).toString('hex')}`
  const admin = new pg.Client({ connectionString: withDatabase(server ?? template, 'postgres') })
  admin.on('error', () => {})
  await admin.connect()
  await admin.query(`CREATE DATABASE ${name} TEMPLATE ${empty ? 'template0' : databaseOf(template)}`)
  return {
    url: withDatabase(server ?? template, name),
    async drop() {
      await admin.query(`DROP DATABASE ${name} WITH (FORCE)`)
      await admin.end()
    },
  }
}

/** The connection string of another database on the same server. */
export const withDatabase = (url: string, database: string): string =>
  url.replace(/\/[^/?]*(?=\?|$)/, `/${database}`)

const databaseOf = (url: string): string => /\/([^/?]*)(?=\?|$)/.exec(url)![1]!
