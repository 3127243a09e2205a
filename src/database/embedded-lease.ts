import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

/**
 * Who uses the embedded database, told by advisory locks of sessions: the server gives a lock back the moment its
 * process dies, however it dies.
 *
 * - the one service on a folder is the *owner* and holds the owner lock alone;
 * - operator commands beside it are *guests* and share the guest lock;
 * - whoever leaves last, seen by getting both locks alone, stops the server.
 */
export type Role = 'owner' | 'guest'

export interface Lease {
  /** Resolves when the connection, and with it the lock, is gone, by `leave` or not. */
  readonly lost: Promise<void>
  /** Gives the lock back and runs `stopServer` if nobody else is using the database. */
  leave(stopServer: () => Promise<void>): Promise<void>
}

/** First half of the advisory locks' keys; any number that nobody else uses in the database `postgres`. */
const LOCKS = 1_280_266_316
const OWNER = 1
const GUEST = 2
/** A service that was killed a moment ago may still be seen by its server. */
const OWNER_SECONDS_MAX = 3

/** Somebody else is the owner; `holder` is the process that is, if it is known. */
export class OwnedError extends Error {
  constructor(readonly holder: string | undefined) {
    super('the embedded database has an owner')
  }
}

/** Connects and takes the role's lock; throws `OwnedError` where there is an owner already. */
export async function takeLease(connection: pg.ClientConfig, role: Role): Promise<Lease> {
  const client = new pg.Client({
    ...connection,
    application_name: `${role} pid ${process.pid}`,
    keepAlive: true,
    connectionTimeoutMillis: 10_000,
  })
  const lost = new Promise<void>((resolve) => client.once('end', resolve))
  client.on('error', () => {})
  const ask = async (sql: string): Promise<boolean> =>
    (await client.query(`SELECT ${sql} AS yes`)).rows[0].yes

  await client.connect()
  try {
    if (role === 'guest') await client.query(`SELECT pg_advisory_lock_shared(${LOCKS}, ${GUEST})`)
    else await takeOwnership()
  } catch (error) {
    await client.end().catch(() => {})
    throw error
  }

  async function takeOwnership(): Promise<void> {
    const deadline = Date.now() + OWNER_SECONDS_MAX * 1000
    while (!(await ask(`pg_try_advisory_lock(${LOCKS}, ${OWNER})`))) {
      if (Date.now() > deadline) throw new OwnedError(await holder())
      await sleep(100)
    }
  }

  async function holder(): Promise<string | undefined> {
    const { rows } = await client.query(
      `SELECT a.application_name FROM pg_locks l JOIN pg_stat_activity a USING (pid)
       WHERE l.locktype = 'advisory' AND l.classid = ${LOCKS} AND l.objid = ${OWNER} AND l.granted`,
    )
    return /pid (\d+)/.exec(rows[0]?.application_name)?.[1]
  }

  return {
    lost,
    async leave(stopServer) {
      try {
        // A connection that is gone by now took the lock with it, and the server with the connection.
        if (await isLast().catch(() => false)) await stopServer()
      } finally {
        await client.end().catch(() => {})
      }
    },
  }

  async function isLast(): Promise<boolean> {
    await client.query('SELECT pg_advisory_unlock_all()')
    // The guest lock first: two that leave at once then agree on who is the last.
    return (
      (await ask(`pg_try_advisory_lock(${LOCKS}, ${GUEST})`)) &&
      (await ask(`pg_try_advisory_lock(${LOCKS}, ${OWNER})`))
    )
  }
}
