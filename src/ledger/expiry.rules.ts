import { localDate, startOfLocalDay } from '../time.js'

/** What decides when a customer's points expire (docs: decisions, Points and transactions). */
export interface ExpirySettings {
  readonly timezone: string
  /** Null = points never expire. */
  readonly pointsExpireAfterDays: number | null
  /** When expiry was switched on. */
  readonly pointsExpireSince: Date | null
}

export interface Expirable {
  readonly balance: number
  /** Held points are spoken for; they do not expire. */
  readonly held: number
  readonly lastVisitAt: Date | null
  readonly createdAt: Date
}

const DAY_MS = 24 * 60 * 60 * 1000

/**
 * When the whole balance expires: at the end of the local day that lies the set number of days after the later of
 * the last visit and the day on which expiry was switched on. A customer who never visited counts from the day of
 * creation. Null while it is off or there is nothing to expire.
 */
export function pointsExpireAt(customer: Expirable, settings: ExpirySettings): Date | null {
  const { timezone, pointsExpireAfterDays, pointsExpireSince } = settings
  if (pointsExpireAfterDays === null || customer.balance - customer.held <= 0) return null
  const active = customer.lastVisitAt ?? customer.createdAt
  const from = pointsExpireSince && pointsExpireSince > active ? pointsExpireSince : active
  // Calendar days, so that a day of 23 hours counts as one: dates are added in UTC, where every day has 24.
  const day = Date.parse(`${localDate(from, timezone)}T00:00:00Z`) + (pointsExpireAfterDays + 1) * DAY_MS
  return startOfLocalDay(new Date(day).toISOString().slice(0, 10), timezone)
}

/** The balance that can be used at a moment: expired points that no sweep has booked yet are gone already. */
export function usableBalance(customer: Expirable, settings: ExpirySettings, now: Date): number {
  const expireAt = pointsExpireAt(customer, settings)
  return expireAt !== null && expireAt <= now ? customer.held : customer.balance
}

/**
 * Customers whose last visit (or creation, without one) is before this moment have points whose day is over;
 * undefined = nobody yet. The same rule as `pointsExpireAt`, for all customers at once.
 */
export function inactiveSince(settings: ExpirySettings, now: Date): Date | undefined {
  const { timezone, pointsExpireAfterDays, pointsExpireSince } = settings
  if (pointsExpireAfterDays === null) return undefined
  const today = Date.parse(`${localDate(now, timezone)}T00:00:00Z`)
  const day = new Date(today - pointsExpireAfterDays * DAY_MS).toISOString().slice(0, 10)
  const cutoff = startOfLocalDay(day, timezone)
  return pointsExpireSince !== null && pointsExpireSince < cutoff ? cutoff : undefined
}
