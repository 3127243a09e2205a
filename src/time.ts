/**
 * Business-local time. Instants are `Date`s (milliseconds), local days are `YYYY-MM-DD` strings, zones are
 * IANA names; nothing here reads the clock. Serves the rules of spec section 2 (schedules, cooldowns,
 * absence, birthdays).
 */
import { Temporal } from 'temporal-polyfill'

/** The units of cooldowns and absences (spec section 2). */
export type TimeUnit = 'minute' | 'hour' | 'day' | 'month'

/** What a clock and a calendar on the business's wall show. */
export interface WallClock {
  /** `YYYY-MM-DD` */
  readonly date: string
  /** 1 = Monday … 7 = Sunday */
  readonly dayOfWeek: number
  /** `HH:MM`, 00:00 to 23:59 */
  readonly time: string
}

const FIXED_UNIT_MS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }

// A slash keeps out the short names (CET, EST, IST, PST …): this runtime takes some of them for regions with
// summer time or for other countries than PostgreSQL does, which reads them as fixed abbreviations.
// SystemV/* are names of ICU that no IANA release has.
const ZONE_NAME = /^(?:UTC|GMT|(?!SystemV\/)[A-Z]\w*\/.+)$/i

/** Whether `name` is a region of the IANA database (`Europe/Berlin`), or UTC; offsets (`+02:00`) are not. */
export function isTimeZone(name: string): boolean {
  if (!ZONE_NAME.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/** What the clock in `zone` shows at `instant`. */
export function wallClock(instant: Date, zone: string): WallClock {
  const local = zoned(instant, zone)
  const text = local.toPlainDateTime().toString({ smallestUnit: 'minute' })
  return { date: text.slice(0, -6), dayOfWeek: local.dayOfWeek, time: text.slice(-5) }
}

/** The local day of `instant`, `YYYY-MM-DD`. */
export function localDate(instant: Date, zone: string): string {
  return zoned(instant, zone).toPlainDate().toString()
}

/** The first moment of the local day `date` (`YYYY-MM-DD`); 01:00 where the clock skips midnight. */
export function startOfLocalDay(date: string, zone: string): Date {
  return toDate(Temporal.PlainDate.from(date).toZonedDateTime(zone))
}

/** The end, exclusive, of the local day of `instant`: the first moment of the next one. */
export function endOfLocalDay(instant: Date, zone: string): Date {
  return toDate(zoned(instant, zone).toPlainDate().add({ days: 1 }).toZonedDateTime(zone))
}

/**
 * `amount` units after `instant`. Minutes, hours and days (of 24 hours) are exact durations. Months are
 * calendar months in `zone`: the local time is kept, a day that the month lacks becomes its last one, a time
 * that the clock skips moves on by the skip, and of one that it shows twice the first counts.
 */
export function addTime(instant: Date, amount: number, unit: TimeUnit, zone: string): Date {
  if (unit === 'month') return toDate(zoned(instant, zone).add({ months: amount }))
  return new Date(instant.getTime() + amount * FIXED_UNIT_MS[unit])
}

/** `amount` units before `instant`, by the rules of `addTime`. */
export function subtractTime(instant: Date, amount: number, unit: TimeUnit, zone: string): Date {
  return addTime(instant, -amount, unit, zone)
}

/**
 * The moment at which `instant` has come to lie `amount` units back: when `subtractTime(now)` first reaches it.
 * For months it differs from `addTime` where the day is missing. A month before any moment of 28 February is a
 * moment of 28 January, so what happened on the 31st is a month back when February is over, not on its 28th.
 */
export function elapsesAt(instant: Date, amount: number, unit: TimeUnit, zone: string): Date {
  if (unit === 'month') {
    const day = zoned(instant, zone).toPlainDate()
    const sameDay = day.add({ months: amount })
    if (sameDay.day !== day.day) return toDate(sameDay.add({ days: 1 }).toZonedDateTime(zone))
  }
  return addTime(instant, amount, unit, zone)
}

function zoned(instant: Date, zone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(instant.getTime()).toZonedDateTimeISO(zone)
}

function toDate(local: Temporal.ZonedDateTime): Date {
  return new Date(local.epochMilliseconds)
}
