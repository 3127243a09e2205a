import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import { PrismaClient } from './generated/prisma/client.js'

const names = new Map<string, string>()

/** Prepared statements for Prisma too: its SQL is generated from a bounded set of shapes. */
const statementNameGenerator = ({ sql }: { sql: string }): string => {
  const name = names.get(sql) ?? `prisma_${names.size}`
  names.set(sql, name)
  return name
}

/** Prisma outside transactions, on the service's own pool. */
export const prismaOnPool = (pool: pg.Pool): PrismaClient =>
  new PrismaClient({ adapter: new PrismaPg(pool, { statementNameGenerator }) })

/**
 * Prisma on one connection whose transaction somebody else began: everything it does is part of that
 * transaction and only its owner commits. Prisma's own interactive transaction would do the same at several
 * times the price. Where Prisma wants a transaction of its own (a nested write), it gets a savepoint.
 */
export function prismaOnConnection(client: pg.PoolClient): PrismaClient {
  return new PrismaClient({
    adapter: new ConnectionAdapter(new OneConnection(client), { statementNameGenerator }),
  })
}

/** What the adapter takes for a pool: every query goes to the one connection. */
class OneConnection extends pg.Pool {
  readonly #client: pg.PoolClient

  constructor(client: pg.PoolClient) {
    super({ max: 1 })
    this.#client = client
  }

  // biome-ignore lint/suspicious/noExplicitAny: pg's overloads, passed through as they come
  override query(...args: any[]): any {
    return (this.#client.query as (...a: unknown[]) => unknown).apply(this.#client, args)
  }

  override connect(): never {
    throw new Error('a transaction has one connection')
  }
}

let savepoints = 0

class ConnectionAdapter extends PrismaPg {
  override async connect() {
    const adapter = await super.connect()
    adapter.startTransaction = async () => {
      const savepoint = `prisma_${++savepoints}`
      await adapter.executeScript(`SAVEPOINT ${savepoint}`)
      return {
        provider: adapter.provider,
        adapterName: adapter.adapterName,
        // Prisma must not send COMMIT or ROLLBACK itself.
        options: { usePhantomQuery: true },
        queryRaw: adapter.queryRaw.bind(adapter),
        executeRaw: adapter.executeRaw.bind(adapter),
        commit: () => adapter.executeScript(`RELEASE SAVEPOINT ${savepoint}`),
        rollback: () => adapter.executeScript(`ROLLBACK TO SAVEPOINT ${savepoint}`),
      } as Awaited<ReturnType<typeof adapter.startTransaction>>
    }
    return adapter
  }
}
