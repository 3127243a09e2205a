import type { Sql } from './database/sql.js'
import { statement } from './database/sql.js'

/** The service's one clock: the process's, corrected by what the database says, so that all instances agree. */
export interface Clock {
  now(): Date
  stop(): void
}

const databaseTime = statement<{ now: Date }>('database_time', 'SELECT clock_timestamp() AS now')
const MEASURE_EVERY_MS = 60_000

/** Measures the database's offset now and every minute. */
export async function createClock(sql: Sql): Promise<Clock> {
  let offsetMs = 0
  const measure = async () => {
    const sent = Date.now()
    const row = await sql.row(databaseTime, [])
    const received = Date.now()
    if (row) offsetMs = row.now.getTime() - (sent + received) / 2
  }
  await measure()
  // A database that is away has no say; the last offset stays good.
  const timer = setInterval(() => void measure().catch(() => {}), MEASURE_EVERY_MS)
  timer.unref()
  return {
    now: () => new Date(Date.now() + Math.round(offsetMs)),
    stop: () => clearInterval(timer),
  }
}
