import { localDate, startOfLocalDay } from '../time.js'

/** The longest stretch that an overview looks back on. */
export const MAX_OVERVIEW_DAYS = 90

/** A local day of the business and the moments that it lies between; the second is not part of it. */
export interface LocalDay {
  date: string
  start: Date
  until: Date
}

const DAY_MS = 24 * 60 * 60 * 1000

/** The last `count` local days, oldest first, today included. Days of 23 and 25 hours are what they are. */
export function lastLocalDays(now: Date, count: number, timezone: string): LocalDay[] {
  // Dates are counted in UTC, where every day has 24 hours.
  const today = Date.parse(`${localDate(now, timezone)}T00:00:00Z`)
  const dates = Array.from({ length: count + 1 }, (_, index) =>
    new Date(today - (count - 1 - index) * DAY_MS).toISOString().slice(0, 10),
  )
  const starts = dates.map((date) => startOfLocalDay(date, timezone))
  return dates
    .slice(0, count)
    .map((date, index) => ({ date, start: starts[index]!, until: starts[index + 1]! }))
}

/** What happened to points in some time; earned − redeemed − expired − written off is what the balances changed by. */
export interface PointFigures {
  /** Less what was reversed. */
  pointsEarned: number
  /** Less what was refunded. */
  pointsRedeemed: number
  pointsExpired: number
  /** Of customers who were erased. */
  pointsWrittenOff: number
  /** Rewards that were redeemed. */
  redemptions: number
  /** Customers who came, counted once a day. */
  visits: number
}

export const sumOf = (days: readonly PointFigures[]): PointFigures => {
  const sum = (of: keyof PointFigures) => days.reduce((total, day) => total + day[of], 0)
  return {
    pointsEarned: sum('pointsEarned'),
    pointsRedeemed: sum('pointsRedeemed'),
    pointsExpired: sum('pointsExpired'),
    pointsWrittenOff: sum('pointsWrittenOff'),
    redemptions: sum('redemptions'),
    visits: sum('visits'),
  }
}
