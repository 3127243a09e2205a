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
