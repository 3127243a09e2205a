import { setTimeout as sleep } from 'node:timers/promises'
import type { TestApp } from './app.js'

const PATIENCE_MS = 10_000

/** Returns when `count` statements in the app's database wait for locks of others. */
export async function untilWaiting(app: TestApp, count: number): Promise<void> {
  const giveUp = Date.now() + PATIENCE_MS
  while (Date.now() < giveUp) {
    const { rows } = await app.database.pool.query(
      `SELECT count(*)::int AS waiting FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    )
    if (rows[0].waiting >= count) return
    await sleep(10)
  }
  throw new Error(`no ${count} statements came to wait for a lock`)
}
