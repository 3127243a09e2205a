import { HOURS_OF_WEEK } from '../ledger/visit-hours.js'
import { type Ground, VISITING } from './facts.js'
import type { Filter } from './filter.js'

/** When customers came, by the clock and the calendar on the wall of any zone. */

/** The hours of a week, from Sunday 00:00, that a filter asks for: one bit each. */
function hoursOfWeek({ hourOfDay, dayOfWeek }: Pick<Filter, 'hourOfDay' | 'dayOfWeek'>): string {
  const { from, to } = hourOfDay ?? { from: 0, to: 23 }
  const asksHour = (hour: number) => (from <= to ? hour >= from && hour <= to : hour >= from || hour <= to)
  const asksDay = (day: number) => dayOfWeek?.includes(day) ?? true
  return Array.from({ length: HOURS_OF_WEEK }, (_, hour) =>
    asksDay(Math.floor(hour / 24)) && asksHour(hour % 24) ? '1' : '0',
  ).join('')
}

const visitsOf = (on: Ground): string =>
  `transactions t WHERE t.business_id = c.business_id AND t.customer_id = c.id AND ${VISITING}
     ${on.past ? `AND t.occurred_at <= ${on.put(on.at, 'timestamptz')}` : ''}`

const localTime = (on: Ground, { timezone }: Filter): string =>
  `t.occurred_at AT TIME ZONE ${on.put(timezone, 'text')}`

/** 1970 began on a Thursday. */
const FIRST_HOUR = 4 * 24

/**
 * Whether customer `c` came within the hours and on the days, in one visit that meets both. In the business's own zone
 * the kept hours say so; in others, in the past, and while hours are brought to another zone, the rows do.
 */
export function cameWithin(on: Ground, filter: Filter): string {
  const asked = on.put(hoursOfWeek(filter), `bit(${HOURS_OF_WEEK})`)
  const timezone = on.put(filter.timezone, 'text')
  // Whole numbers, which are several times faster than extracting day and hour.
  const hours = `floor(date_part('epoch', ${localTime(on, filter)}) / 3600)::bigint + ${FIRST_HOUR}`
  const hourOfWeek = `(((${hours}) % ${HOURS_OF_WEEK} + ${HOURS_OF_WEEK}) % ${HOURS_OF_WEEK})::int`
  const byRows = `EXISTS (SELECT FROM ${visitsOf(on)} AND get_bit(${asked}, ${hourOfWeek}) = 1)`
  if (on.past || filter.timezone !== on.business.timezone || on.business.visitHoursDueAfter !== null) {
    on.readsLedger = true
    return byRows
  }
  return `CASE WHEN c.visit_hours_timezone = ${timezone} THEN c.visit_hours & ${asked} <> 0::bit(${HOURS_OF_WEEK})
               ELSE c.visit_count > 0 AND ${byRows} END`
}

/** When customer `c` came: `Mon 09, Sat 17`. */
export function cameAt(on: Ground, filter: Filter): string {
  const time = localTime(on, filter)
  return `(SELECT string_agg(hour, ', ' ORDER BY day, hour) FROM (
      SELECT DISTINCT extract(dow FROM ${time}) AS day, to_char(${time}, 'Dy HH24') AS hour FROM ${visitsOf(on)}
    ) came)`
}
