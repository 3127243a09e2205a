import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { PrismaClient } from './generated/prisma/client.js'
import { prismaOnConnection, prismaOnPool } from './prisma.js'
import { type Sql, sqlOn } from './sql.js'
import { rowTypes } from './types.js'

/** What a transaction lends to its owner: SQL and Prisma on the same connection, both inside it. */
export interface Transaction {
  readonly sql: Sql
  readonly db: PrismaClient
  /** Has `action` done once this is committed, and not if it is rolled back. It must not throw. */
  readonly afterCommit: (action: () => Promise<void>) => void
}

/** One PostgreSQL, by plain SQL and by Prisma. Helpers take the transaction they run in; nobody imports a client. */
export interface Database {
  /** Outside any transaction. */
  readonly sql: Sql
  readonly db: PrismaClient
  readonly pool: pg.Pool
  /**
   * Runs `work` in one READ COMMITTED transaction: all of it is committed, or none. A serialization failure
   * or a deadlock (40001, 40P01) rolls back and runs `work` again, three times at most, so `work` must have no
   * effect outside the database.
   */
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>
  close(): Promise<void>
}

const RETRIES = 3
const retryable = (error: unknown): boolean => {
  const { code } = error as { code?: string }
  if (code === '40001' || code === '40P01') return true
  // Prisma wraps the driver's error.
  return code === 'P2034'
}

/** How long is waited for what; past it something is at fault, and the client gets a 503 and may retry. */
const TIMEOUTS_MS = { connection: 5_000, statement: 15_000, lock: 10_000, idleInTransaction: 15_000 }

export interface DatabaseOptions {
  url: string
  poolSize: number
  timeoutsMs?: typeof TIMEOUTS_MS
  onError(error: Error): void
}

export function openDatabase({
  url,
  poolSize,
  timeoutsMs = TIMEOUTS_MS,
  onError,
}: DatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: timeoutsMs.connection,
    idleTimeoutMillis: 60_000,
    types: rowTypes,
    statement_timeout: timeoutsMs.statement,
    lock_timeout: timeoutsMs.lock,
    idle_in_transaction_session_timeout: timeoutsMs.idleInTransaction,
    // Compiling a plan whose cost was overestimated takes longer than any of our queries.
    options: '-c timezone=UTC -c jit=off -c default_transaction_isolation=read\\ committed',
  })
  pool.on('error', onError)
  // A connection that breaks while it is lent fails the query of its borrower; its event too must have a listener, or
  // it ends the process.
  pool.on('connect', (client) => client.on('error', () => {}))
  const db = prismaOnPool(pool)
  const clients = new WeakMap<pg.PoolClient, PrismaClient>()

  async function attempt<T>(
    work: (transaction: Transaction) => Promise<T>,
    afterCommit: Transaction['afterCommit'],
  ): Promise<T> {
    const client = await pool.connect()
    let broken: Error | undefined
    try {
      await client.query('BEGIN')
      const result = await work({
        sql: sqlOn(client),
        afterCommit,
        // Made when first asked for: the hot paths never do.
        get db() {
          const own = clients.get(client) ?? prismaOnConnection(client)
          clients.set(client, own)
          return own
        },
      })
      await client.query('COMMIT')
      return result
    } catch (error) {
      await client.query('ROLLBACK').catch((failure: Error) => {
        broken = failure
      })
      throw error
    } finally {
      client.release(broken)
    }
  }

  return {
    pool,
    db,
    sql: sqlOn(pool),
    async transaction(work) {
      for (let retry = 0; ; retry++) {
        const actions: (() => Promise<void>)[] = []
        try {
          const result = await attempt(work, (action) => actions.push(action))
          for (const action of actions) await action()
          return result
        } catch (error) {
          if (retry === RETRIES || !retryable(error)) throw error
          await sleep(Math.random() * 20 * 2 ** retry)
        }
      }
    },
    async close() {
      await db.$disconnect()
      await pool.end()
    },
  }
}
