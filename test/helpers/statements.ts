import type { PoolClient } from 'pg'
import type { TestApp } from './app.js'

/**
 * The SQL that an app sends outside transactions while `work` runs, in order: how an N+1 shows. Without that of
 * authentication, which is sent every few seconds only. The app must serve nothing else meanwhile.
 */
export async function statementsDuring(app: TestApp, work: () => Promise<unknown>): Promise<string[]> {
  const { pool } = app.database
  const sent: string[] = []
  const query = pool.query
  pool.query = ((...args: unknown[]) => {
    sent.push((args[0] as { text: string }).text)
    return (query as (...args: unknown[]) => unknown).apply(pool, args)
  }) as typeof pool.query
  try {
    await work()
  } finally {
    pool.query = query
  }
  return sent.filter((text) => !text.includes('api_keys'))
}

/**
 * The statements that an app sends inside transactions while `work` runs, in order and by their names where they have
 * one: the round trips of a hot path. The app must serve nothing else meanwhile.
 */
export async function transactionStatementsDuring(
  app: TestApp,
  work: () => Promise<unknown>,
): Promise<string[]> {
  const { pool } = app.database
  const sent: string[] = []
  const { connect } = pool
  // With a callback it is the pool's own, for a statement outside transactions.
  pool.connect = (async (...callback: unknown[]) => {
    const lent = (await (connect as (...args: unknown[]) => unknown).apply(pool, callback)) as PoolClient
    if (callback.length > 0) return lent
    const { query, release } = lent
    lent.query = ((...args: unknown[]) => {
      const [first] = args as [string | { name: string }]
      sent.push(typeof first === 'string' ? first : first.name)
      return (query as (...args: unknown[]) => unknown).apply(lent, args)
    }) as typeof query
    lent.release = (broken) => {
      Object.assign(lent, { query, release })
      release.call(lent, broken)
    }
    return lent
  }) as typeof connect
  try {
    await work()
  } finally {
    pool.connect = connect
  }
  return sent
}
