import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Logger } from 'pino'
import { type Cluster, openCluster } from './embedded-cluster.js'
import { type Lease, OwnedError, type Role, takeLease } from './embedded-lease.js'
import {
  type Address,
  connectionTo,
  ensureRunning,
  type Server,
  stopServer,
  urlOf,
} from './embedded-server.js'
import { DatabaseStartError } from './start-error.js'

const DATABASE = 'loyalty'
/** A server that stops while we attach to it (its last user leaves) is started again; it does not happen twice. */
const ATTACH_TRIES = 5

export interface EmbeddedOptions {
  /** The service's data folder; the database lives in `postgres` below it. Created if missing. */
  readonly dataDir: string
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
}

export interface Embedded {
  /** Connection string with the generated password: not for logs. */
  readonly url: string
  /** The server was running already, e.g. left by a service that was killed. */
  readonly adopted: boolean
  /** To be called when nothing uses `url` any more. Stops the server, unless somebody else is using it. */
  stop(): Promise<void>
}

/**
 * Starts the embedded PostgreSQL for the service, or takes over the one that a killed service left, and starts it
 * again should it die. Throws `DatabaseStartError` if another service runs on the same folder.
 */
export const startEmbedded = (options: EmbeddedOptions): Promise<Embedded> => open(options, 'owner')

/**
 * The same database for an operator's command: beside the running service, or, where none runs, by starting the
 * server and stopping it at the end.
 */
export const attachEmbedded = (options: EmbeddedOptions): Promise<Embedded> => open(options, 'guest')

async function open({ dataDir, log }: EmbeddedOptions, role: Role): Promise<Embedded> {
  const cluster = openCluster(dataDir, (folder, outside) => {
    if (outside)
      log.warn({ folder, dataDir }, 'PostgreSQL may not enter the data folder; its database is elsewhere')
    else log.info({ folder }, 'created the embedded database')
  })
  const { server, lease } = await join(cluster, role, undefined)
  const { address, adopted } = server
  log.info({ folder: cluster.data, adopted }, 'the embedded PostgreSQL is running')

  let stopping = false
  let held = Promise.resolve<Lease | undefined>(lease)
  function supervise(current: Lease): void {
    void current.lost.then(() => {
      if (!stopping) held = rejoin()
    })
  }
  async function rejoin(): Promise<Lease | undefined> {
    log.warn('lost the embedded PostgreSQL; looking after it')
    while (!stopping) {
      try {
        // On the same address, which the connection pools know.
        const again = (await join(cluster, role, address)).lease
        supervise(again)
        return again
      } catch (error) {
        log.error({ err: error }, 'the embedded PostgreSQL does not come back')
        await sleep(1_000)
      }
    }
    return undefined
  }
  if (role === 'owner') supervise(lease)

  return {
    url: urlOf(cluster, address, DATABASE),
    adopted,
    async stop() {
      if (stopping) return
      stopping = true
      const last = await held
      await last?.leave(() => stopServer(cluster))
    },
  }
}

/** A running server with the service's database and our lock in it. */
async function join(
  cluster: Cluster,
  role: Role,
  address: Address | undefined,
): Promise<{ server: Server; lease: Lease }> {
  for (let tries = 1; ; tries++) {
    const server = await ensureRunning(cluster, { address, durable: true })
    try {
      await createDatabase(cluster, server.address)
      return { server, lease: await takeLease(connectionTo(cluster, server.address, 'postgres'), role) }
    } catch (error) {
      if (error instanceof OwnedError)
        throw new DatabaseStartError(
          `another service${error.holder ? ` (process ${error.holder})` : ''} is running on the database in ${cluster.data}: stop it first, or give this one its own DATA_DIR`,
        )
      if (tries === ATTACH_TRIES) throw error
    }
  }
}

async function createDatabase(cluster: Cluster, address: Address): Promise<void> {
  const client = new pg.Client(connectionTo(cluster, address, 'postgres'))
  await client.connect()
  try {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [DATABASE])
    if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`)
  } catch (error) {
    // Two that start at once both find it missing.
    if (!['42P04', '23505'].includes((error as { code?: string }).code ?? '')) throw error
  } finally {
    await client.end()
  }
}
