import { wallClock } from '../time.js'
import type { CustomerAccount } from './customer.js'

/** The hours of a week, from Sunday 00:00: as many bits as a customer's visit hours have. */
export const HOURS_OF_WEEK = 7 * 24

/** Which of them `moment` is in, on the clock of `zone`. */
export function hourOfWeek(moment: Date, zone: string): number {
  const { dayOfWeek, time } = wallClock(moment, zone)
  return (dayOfWeek % 7) * 24 + Number(time.slice(0, 2))
}

/** What a visit adds to the hours that are kept of a customer, in their own zone; nulls where none are kept. */
export interface VisitHour {
  hour: number | null
  timezone: string | null
}

export const NO_VISIT_HOUR: VisitHour = { hour: null, timezone: null }

/**
 * The hour of a visit at `moment` on a locked account. The first visit decides for the business's zone; the hours stay
 * in it, whatever the settings come to be, so they are right at any time.
 */
export function visitHour(account: CustomerAccount, moment: Date): VisitHour {
  const timezone = account.visitHoursTimezone ?? (account.visitCount === 0 ? account.timezone : null)
  return timezone === null ? NO_VISIT_HOUR : { hour: hourOfWeek(moment, timezone), timezone }
}

/** What the update of an account sets, with the places of both values. */
export const setVisitHour = (hour: string, timezone: string): string => `
  visit_hours = coalesce(set_bit(coalesce(visit_hours, 0::bit(${HOURS_OF_WEEK})), ${hour}::int, 1), visit_hours),
  visit_hours_timezone = coalesce(${timezone}, visit_hours_timezone)`
