import pg from 'pg'
import type { Logger } from 'pino'
import { createClock } from './clock.js'
import type { Config } from './config.js'
import type { Services } from './context.js'
import { openDatabase } from './database/database.js'
import { attachEmbedded, startEmbedded } from './database/embedded.js'
import { migrate } from './database/migrations.js'
import { openImageStore } from './images/image-store.js'
import { OperatorError } from './operator-error.js'
import { internet } from './outbound/network.js'
import { loadSecrets } from './secrets.js'

/** What the service and the operator's commands work on: one database, its secrets and its clock. */
export interface Installation extends Services {
  readonly databaseUrl: string
  /** Names of the migrations that opening it applied. */
  readonly migrated: readonly string[]
  /** Has `action` done by `close`, before what was there earlier. */
  onClose(action: () => unknown): void
  close(): Promise<void>
}

/** One service runs on an embedded database; any number of commands may run beside it, or alone. */
export type InstallationUser = 'service' | 'command'

/**
 * Brings up the database (the embedded one without a DATABASE_URL) with this version's schema. Throws OperatorError
 * or DatabaseStartError where the operator has to act; nothing is left running then.
 */
export async function openInstallation(
  config: Config,
  log: Logger,
  user: InstallationUser,
): Promise<Installation> {
  const closers: (() => unknown)[] = []
  let closing = false
  const close = async (): Promise<void> => {
    closing = true
    const last = closers.pop()
    if (!last) return
    try {
      await last()
    } finally {
      await close()
    }
  }
  try {
    const databaseUrl = config.databaseUrl ?? (await bringUpEmbedded())
    if (config.databaseUrl) await requireConnection(config.databaseUrl)
    const { applied } = await migrate(databaseUrl, { log })
    const secrets = loadSecrets(config)
    const database = openDatabase({
      url: databaseUrl,
      poolSize: config.databasePoolSize,
      onError: (error) => {
        // A server that stops may be quicker than the end of our own connections.
        if (!closing) log.warn({ err: error }, 'a database connection was lost')
      },
    })
    closers.push(() => database.close())
    const clock = await createClock(database.sql)
    closers.push(() => clock.stop())
    const images = await openImageStore(config)
    const onClose = (action: () => unknown) => void closers.push(action)
    return {
      database,
      databaseUrl,
      secrets,
      clock,
      network: internet,
      images,
      migrated: applied,
      onClose,
      close,
    }
  } catch (error) {
    await close()
    throw error
  }

  async function bringUpEmbedded(): Promise<string> {
    const bringUp = user === 'service' ? startEmbedded : attachEmbedded
    const embedded = await bringUp({ dataDir: config.dataDir, log })
    closers.push(() => embedded.stop())
    return embedded.url
  }
}

/** Whatever keeps us from DATABASE_URL's database is the operator's to mend: its driver says what it is. */
async function requireConnection(connectionString: string): Promise<void> {
  try {
    const client = new pg.Client({ connectionString, connectionTimeoutMillis: 10_000 })
    client.on('error', () => {})
    await client.connect()
    await client.end()
  } catch (error) {
    const { message, errors } = error as AggregateError
    throw new OperatorError(
      `the database of DATABASE_URL cannot be reached: ${message || (errors[0] as Error).message}`,
    )
  }
}
