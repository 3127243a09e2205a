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

export interface DatabaseOptions {
  url: string
  poolSize: number
  /** How long a request may wait for a free connection before it is answered 503; default 5000. */
  connectionTimeoutMs?: number
  onError(error: Error): void
}

export function openDatabase({
  url,
  poolSize,
  connectionTimeoutMs = 5_000,
  onError,
}: DatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: connectionTimeoutMs,
    idleTimeoutMillis: 60_000,
    types: rowTypes,
    // A statement that waits longer than this has met a fault; the client gets a 503 and may retry.
    statement_timeout: 15_000,
    lock_timeout: 10_000,
    idle_in_transaction_session_timeout: 15_000,
    options: '-c timezone=UTC -c default_transaction_isolation=read\\ committed',
  })
  pool.on('error', onError)
  const db = prismaOnPool(pool)
  const clients = new WeakMap<pg.PoolClient, PrismaClient>()

  async function attempt<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const client = await pool.connect()
    let broken: Error | undefined
    try {
      await client.query('BEGIN')
      const result = await work({
        sql: sqlOn(client),
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
        try {
          return await attempt(work)
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
