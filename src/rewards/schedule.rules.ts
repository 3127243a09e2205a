/** When a reward is open: its dates and its weekly hours (spec section 2, `start_date` … `time_active`). */
import { localDate, startOfLocalDay, wallClock } from '../time.js'

export const WEEKDAYS = [
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
  'sunday',
] as const

export type Weekday = (typeof WEEKDAYS)[number]

/** Hours of one weekday, `HH:MM` on the business's clock: `start` inclusive, `end` exclusive. */
export interface DayHours {
  readonly active: boolean
  readonly start?: string | null | undefined
  readonly end?: string | null | undefined
}

/** A weekday left out is unrestricted. */
export type TimeActive = { readonly [day in Weekday]?: DayHours | undefined }

/** The part of a reward that says when it is open. */
export interface RewardSchedule {
  /** First and last local day, both included. A `Date` is a `date` column as Prisma returns it, midnight UTC. */
  readonly startDate: string | Date | null
  readonly endDate: string | Date | null
  /** `TimeActive` or null. `unknown` because it is a JSON column; its shape is checked when it is written. */
  readonly timeActive: unknown
}

/**
 * Whether the reward is open at `now`. `earlyAccessHours` opens it that many hours before the first moment of
 * `startDate`. The dates bound the weekly hours: a window that runs past midnight ends with the last day.
 */
export function isOpen(reward: RewardSchedule, now: Date, zone: string, earlyAccessHours = 0): boolean {
  return (
    withinDates(reward, now, zone, earlyAccessHours) &&
    withinHours((reward.timeActive ?? null) as TimeActive | null, now, zone)
  )
}

function withinDates(reward: RewardSchedule, now: Date, zone: string, earlyAccessHours: number): boolean {
  const start = isoDate(reward.startDate)
  const end = isoDate(reward.endDate)
  if (start === null && end === null) return true
  const today = localDate(now, zone)
  if (end !== null && today > end) return false
  if (start === null || today >= start) return true
  return (
    earlyAccessHours > 0 &&
    now.getTime() >= startOfLocalDay(start, zone).getTime() - earlyAccessHours * 3_600_000
  )
}

// The comparison is on the clock's reading, so an hour that summer time repeats is open (or closed) twice.
function withinHours(timeActive: TimeActive | null, now: Date, zone: string): boolean {
  if (timeActive === null) return true
  const { dayOfWeek, time } = wallClock(now, zone)
  const today = timeActive[WEEKDAYS[dayOfWeek - 1]!]
  const yesterday = timeActive[WEEKDAYS[(dayOfWeek + 5) % 7]!]

  // The evening before runs into this day, whatever the day itself says.
  if (yesterday?.active && runsPastMidnight(yesterday) && time < yesterday.end) return true
  if (today === undefined) return true
  if (!today.active) return false
  if (!hasHours(today) || today.start === today.end) return true
  return time >= today.start && (time < today.end || runsPastMidnight(today))
}

type Hours = DayHours & { readonly start: string; readonly end: string }

function hasHours(day: DayHours): day is Hours {
  return typeof day.start === 'string' && typeof day.end === 'string'
}

function runsPastMidnight(day: DayHours): day is Hours {
  return hasHours(day) && day.end < day.start
}

function isoDate(day: string | Date | null): string | null {
  return day instanceof Date ? day.toISOString().slice(0, 10) : day
}
