import { once } from 'node:events'
import { connect } from 'node:net'
import test from 'ava'
import pg from 'pg'

/**
 * Servers that are not ours and that some tests use where they run: PostgreSQL (`TEST_EXTERNAL_DATABASE_URL`, else
 * 127.0.0.1:5432) and Redis (`TEST_EXTERNAL_REDIS_URL`, else 127.0.0.1:6379). Where none answers, those tests are
 * listed as skipped. With `CI` set, a server that answers but does not let us in fails the run instead.
 */
export interface ExternalServices {
  /** A user who may create databases; undefined where no PostgreSQL answers. */
  readonly postgresUrl: string | undefined
  readonly redisUrl: string | undefined
}

export const externalServices: ExternalServices = {
  postgresUrl: await findPostgres(),
  redisUrl: process.env.TEST_EXTERNAL_REDIS_URL ?? (await findRedis()),
}

/** Tests that need the server in question; listed as skipped where it is not there. */
export const testWithPostgres = externalServices.postgresUrl ? test : test.skip
export const testWithRedis = externalServices.redisUrl ? test : test.skip

async function findPostgres(): Promise<string | undefined> {
  if (process.env.TEST_EXTERNAL_DATABASE_URL) return process.env.TEST_EXTERNAL_DATABASE_URL
  if (!(await answers(5432))) return undefined
  for (const login of ['postgres', 'postgres:postgres']) {
    const url = `postgres://${login}@127.0.0.1:5432/postgres`
    if (await mayCreateDatabases(url)) return url
  }
  return notLetIn('PostgreSQL at 127.0.0.1:5432', 'TEST_EXTERNAL_DATABASE_URL')
}

async function findRedis(): Promise<string | undefined> {
  const answer = await answers(6379, 'PING\r\n')
  if (!answer) return undefined
  return answer.startsWith('+PONG')
    ? 'redis://127.0.0.1:6379'
    : notLetIn('Redis at 127.0.0.1:6379', 'TEST_EXTERNAL_REDIS_URL')
}

function notLetIn(server: string, variable: string): undefined {
  if (process.env.CI) throw new Error(`${server} answers but does not let the tests in: set ${variable}`)
  return undefined
}

async function mayCreateDatabases(connectionString: string): Promise<boolean> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 2_000 })
  try {
    await client.connect()
    const { rows } = await client.query(
      'SELECT rolcreatedb OR rolsuper AS yes FROM pg_roles WHERE rolname = current_user',
    )
    return rows[0].yes
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}

/** What a server at the port says to `greeting`, `connected` where nothing is to be said; undefined = nobody there. */
async function answers(port: number, greeting?: string): Promise<string | undefined> {
  const socket = connect({ port, host: '127.0.0.1' })
  const signal = AbortSignal.timeout(2_000)
  try {
    await once(socket, 'connect', { signal })
    if (!greeting) return 'connected'
    socket.write(greeting)
    const [answer] = (await once(socket, 'data', { signal })) as [Buffer]
    return answer.toString()
  } catch {
    return undefined
  } finally {
    socket.destroy()
  }
}
