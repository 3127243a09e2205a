import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { openCluster } from '../../src/database/embedded-cluster.js'
import { ensureRunning, urlOf } from '../../src/database/embedded-server.js'
import { migrate } from '../../src/database/migrations.js'
import { withDatabase } from './database.js'
import { clearUpLater } from './watchdog.js'

const silent = { info: () => {} }

/**
 * Starts what a run of the tests shares: one PostgreSQL of its own with a migrated template database that
 * `createDatabase` copies. Called by ava.config.js in AVA's main process; the result goes to the test processes
 * as environment variables.
 *
 * `TEST_SERVER_URL` runs the tests on another server instead (PostgreSQL 15+, a user who may create databases).
 */
export async function startTestServer(): Promise<{ TEST_DATABASE_URL: string }> {
  const server = process.env.TEST_SERVER_URL ?? (await startTemporaryServer())
  const template = `loyalty_template_${process.pid}`
  const admin = async (sql: string) => {
    const client = new pg.Client({ connectionString: server })
    await client.connect()
    await client.query(sql).finally(() => client.end())
  }
  await admin(`CREATE DATABASE ${template}`)
  if (process.env.TEST_SERVER_URL)
    process.once('beforeExit', () => admin(`DROP DATABASE ${template} WITH (FORCE)`))
  const url = withDatabase(server, template)
  await migrate(url, { log: silent })
  return { TEST_DATABASE_URL: url }
}

/** A PostgreSQL in a temporary folder that lives as long as this process. */
export async function startTemporaryServer(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'loyalty-test-'))
  clearUpLater(folder, folder)
  const cluster = openCluster(folder, () => {})
  const { address } = await ensureRunning(cluster, { durable: false })
  return urlOf(cluster, address, 'postgres')
}
