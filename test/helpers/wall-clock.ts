/**
 * Oracles for local time that share nothing with the code under test: they read the clock with
 * Intl.DateTimeFormat and find moments by trying them, where the code computes with Temporal.
 */
import type { ExecutionContext } from 'ava'
import fc from 'fast-check'

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** Zones whose clocks change in unlike ways: by half an hour, at midnight, before midnight, never, southern. */
const ZONES = [
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'America/Havana',
  'America/Nuuk',
  'Africa/Casablanca',
  'Pacific/Chatham',
  'Asia/Kathmandu',
  'UTC',
] as const

const formats = new Map<string, Intl.DateTimeFormat>()

/** `YYYY-MM-DD HH:MM` on the clock of `zone`. */
export function reading(ms: number, zone: string): string {
  let format = formats.get(zone)
  if (!format) {
    const numeric = {
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
    } as const
    format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, ...numeric })
    formats.set(zone, format)
  }
  return format.format(ms)
}

/** Minutes since midnight and weekday (0 = Monday) on the clock of `zone`. */
export function weekMinute(ms: number, zone: string): { weekday: number; minute: number } {
  const text = reading(ms, zone)
  const [year, month, day, hour, minute] = text.split(/\D/).map(Number) as [
    number,
    number,
    number,
    number,
    number,
  ]
  return {
    weekday: (new Date(Date.UTC(year, month - 1, day)).getUTCDay() + 6) % 7,
    minute: hour * 60 + minute,
  }
}

/** The first moment from `from` on, in steps, at which `holds`. */
export function firstWhen(from: number, stepMs: number, holds: (ms: number) => boolean): number {
  let ms = from
  for (let steps = 0; !holds(ms); steps++, ms += stepMs) {
    if (steps > 200_000) throw new Error('never holds')
  }
  return ms
}

/**
 * When the clock of `zone` first shows `text` (`YYYY-MM-DD HH:MM`); where it skips that, the moment that a
 * clock not yet changed would show it. Tries every offset there is, in steps of a quarter of an hour.
 */
export function whenReads(text: string, zone: string): number {
  const asUtc = Date.parse(`${text.replace(' ', 'T')}Z`)
  for (let ms = asUtc - 15 * HOUR; ms <= asUtc + 15 * HOUR; ms += 15 * MINUTE) {
    if (reading(ms, zone) === text) return ms
  }
  const dayBefore = new Date(asUtc - DAY).toISOString().slice(0, 16).replace('T', ' ')
  return whenReads(dayBefore, zone) + DAY
}

/** All days from `first` to `last` (`YYYY-MM-DD`), by walking the calendar. */
export function daysBetween(first: string, last: string): string[] {
  const days: string[] = []
  for (let ms = Date.parse(first); ms <= Date.parse(last); ms += DAY)
    days.push(new Date(ms).toISOString().slice(0, 10))
  return days
}

/**
 * When the clock of `zone` shows the time of `ms` again on the same day of the month, `months` later, found by
 * walking the calendar. A month without that day gives null and the days it has.
 */
export function sameDayLater(
  ms: number,
  months: number,
  zone: string,
): { at: number | null; lastDay: string } {
  const [date, time] = reading(ms, zone).split(' ') as [string, string]
  let monthsLeft = months
  let day = Date.parse(date)
  const iso = () => new Date(day).toISOString().slice(0, 10)
  for (day += DAY; monthsLeft > 0; day += DAY) if (iso().endsWith('-01')) monthsLeft--
  day -= DAY
  const month = iso().slice(0, 7)
  let lastDay = iso()
  let at: number | null = null
  for (; iso().startsWith(month); day += DAY) {
    lastDay = iso()
    if (lastDay.slice(8) === date.slice(8)) at = whenReads(`${lastDay} ${time}`, zone)
  }
  return { at, lastDay }
}

const changes = new Map<string, number[]>()

/** The moments in 2024 to 2030 at which the clock of `zone` jumps: the quarter hours of the days when it does. */
function clockChanges(zone: string): number[] {
  let found = changes.get(zone)
  if (!found) {
    found = []
    const shown = (ms: number) => Date.parse(`${reading(ms, zone).replace(' ', 'T')}Z`)
    for (let day = Date.UTC(2024, 0, 1); day < Date.UTC(2031, 0, 1); day += DAY) {
      if (shown(day + DAY) - shown(day) === DAY) continue
      const offset = shown(day) - day
      found.push(firstWhen(day, 15 * MINUTE, (ms) => shown(ms) - ms !== offset))
    }
    changes.set(zone, found)
  }
  return found
}

/**
 * A zone and a moment in it on the given grid, 2024 to 2030: anywhere, around a change of the clocks, or at
 * the end of a month.
 */
export function zonedMoment(gridMs: number): fc.Arbitrary<{ zone: string; ms: number }> {
  const onGrid = (ms: number) => Math.floor(ms / gridMs) * gridMs
  const anywhere = fc.integer({ min: Date.UTC(2024, 0, 1), max: Date.UTC(2030, 11, 31) })
  return fc.constantFrom(...ZONES).chain((zone) => {
    const near = clockChanges(zone)
    const monthEnd = fc
      .tuple(fc.integer({ min: 0, max: 83 }), fc.integer({ min: -2 * DAY, max: 2 * DAY }))
      .map(([month, shift]) => Date.UTC(2024, month, 1) + shift)
    const kinds = [anywhere, monthEnd]
    if (near.length > 0) {
      const change = fc.tuple(fc.constantFrom(...near), fc.integer({ min: -30 * HOUR, max: 30 * HOUR }))
      kinds.push(change.map(([at, shift]) => at + shift))
    }
    return fc.oneof(...kinds).map((ms) => ({ zone, ms: onGrid(ms) }))
  })
}

/**
 * Checks a property `runs` times. Inside it use node:assert: what AVA's own assertions throw is reported before
 * fast-check can tell the seed and the smallest counterexample.
 */
export function holds<T>(t: ExecutionContext, property: fc.IProperty<T>, runs: number): void {
  t.notThrows(() => fc.assert(property, { numRuns: runs }))
}

/** The Date that an ISO text names; a shorthand for tables. */
export function at(iso: string): Date {
  return new Date(iso)
}
