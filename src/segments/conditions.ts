import * as z from 'zod'
import { boolean, int } from '../graphql/bounds.js'
import { inputType } from '../graphql/input.js'
import type { Ground } from './facts.js'
import type { Asked, FieldName, Filter, Range } from './filter.js'
import { cameAt, cameWithin } from './hours.js'
import { minorUnitsOf, weighed } from './spend.rules.js'

/**
 * The vocabulary of segments (spec §2, Segment filter): each field with its bounds, what it asks of a customer and the
 * value that it looks at. Inputs, filters, presets and explanations are made of this table.
 */
interface Condition<Value> {
  bounds: z.ZodType<Value>
  says: string
  /** Whether customer `c` meets it, in SQL. */
  sql(asked: Value, on: Ground, filter: Filter): string
  /** The value of customer `c` that it looks at, as text. */
  seen(on: Ground, filter: Filter): string
}

const NOT_AN_OBJECT = 'must be an object'
const MAX_INT = 2_147_483_647
const MAX_DAYS = 3650

const bound = () => int(0, MAX_INT).nullish()

const RangeInput = inputType(
  'RangeInput',
  z
    .strictObject({ min: bound(), max: bound() }, NOT_AN_OBJECT)
    .refine(({ min, max }) => min != null || max != null, 'give min, max or both')
    .refine(({ min, max }) => min == null || max == null || min <= max, {
      path: ['min'],
      message: 'must not be greater than max',
    }),
  'From min to max, both included; either may be left out.',
)

const HourRangeInput = inputType(
  'HourRangeInput',
  z.strictObject({ from: int(0, 23), to: int(0, 23) }, NOT_AN_OBJECT),
  'From one hour of the day to another, both included; past midnight where `to` is the smaller.',
)

const daysInput = () => int(1, MAX_DAYS)

/** Both ends of a range that are given. */
const ends = ({ min, max }: Range, compare: (operator: '>=' | '<=', bound: number) => string): string =>
  [...(min == null ? [] : [compare('>=', min)]), ...(max == null ? [] : [compare('<=', max)])].join(' AND ')

/** A range over a whole number of customer `c`. */
const range = (says: string, value: (on: Ground) => string): Condition<Range> => ({
  bounds: RangeInput,
  says,
  sql: (asked, on) => ends(asked, (operator, bound) => `${value(on)} ${operator} ${on.put(bound, 'int')}`),
  seen: (on) => `(${value(on)})::text`,
})

/** A moment of customer `c`, as answers write it. */
const moment = (column: string) => () =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

const startOfDayBefore = (days: number, on: Ground): string =>
  on.put(on.startOfDayBefore(days), 'timestamptz')

const interest = (on: Ground): string =>
  `EXISTS (SELECT FROM promotion_interests i WHERE i.business_id = c.business_id AND i.customer_id = c.id
     ${on.past ? `AND i.created_at <= ${on.put(on.at, 'timestamptz')}` : ''})`

/** Compares what customer `c` spent; decimals are reckoned with only for those who need them. */
function spent(operator: '>=' | '<=', dollars: number, on: Ground): string {
  const { fewest, most } = minorUnitsOf(dollars, on.spend)
  const minorUnits = on.put(operator === '>=' ? fewest : most, 'bigint')
  return `CASE WHEN c.unpriced_points = 0 THEN c.spend_minor ${operator} ${minorUnits}
               ELSE ${on.weighedSpend()} ${operator} ${on.put(weighed(dollars, on.spend), 'numeric')} END`
}

/** `MM`, of a birthday with or without a year. */
const BIRTHDAY_MONTH = 'substr(c.birthday, length(c.birthday) - 4, 2)'

export const conditions: { readonly [Field in FieldName]: Condition<Asked[Field]> } = {
  pointsBalance: range('Points that can be used.', (on) => on.points()),
  spendUsdEstimated: {
    bounds: RangeInput,
    says: 'Whole US dollars; what was spent is compared exactly, not rounded.',
    sql: (asked, on) => ends(asked, (operator, dollars) => spent(operator, dollars, on)),
    seen: (on) => `round(${on.weighedSpend()} / ${on.put(on.spend.perDollar, 'numeric')}, 2)::text`,
  },
  visitCount: range('Local days with a visit.', () => 'c.visit_count'),
  redemptionCount: range('Completed redemptions.', () => 'c.redemption_count'),
  lastVisitWithinDays: {
    bounds: daysInput(),
    says: 'The last visit was on the local day so many days ago, or later.',
    sql: (days, on) => `c.last_visit_at >= ${startOfDayBefore(days, on)}`,
    seen: moment('c.last_visit_at'),
  },
  lastVisitNotWithinDays: {
    bounds: daysInput(),
    says: 'The last visit was before the local day so many days ago, or there was none.',
    sql: (days, on) => `(c.last_visit_at < ${startOfDayBefore(days, on)} OR c.last_visit_at IS NULL)`,
    seen: moment('c.last_visit_at'),
  },
  joinedWithinDays: {
    bounds: daysInput(),
    says: 'Joined on the local day so many days ago, or later.',
    // Someone whose rows are older than the joining is a customer of the past, who had not joined yet.
    sql: (days, on) =>
      `c.joined_at BETWEEN ${startOfDayBefore(days, on)} AND ${on.put(on.at, 'timestamptz')}`,
    seen: moment('c.joined_at'),
  },
  joinedBeforeDaysAgo: {
    bounds: daysInput(),
    says: 'Joined before the local day so many days ago.',
    sql: (days, on) => `c.joined_at < ${startOfDayBefore(days, on)}`,
    seen: moment('c.joined_at'),
  },
  hourOfDay: {
    bounds: HourRangeInput,
    says: 'Came within these hours; together with dayOfWeek, in one visit that meets both.',
    sql: (_hours, on, filter) => cameWithin(on, filter),
    seen: cameAt,
  },
  dayOfWeek: {
    bounds: z
      .array(int(0, 6), 'must be an array')
      .min(1, 'must name at least one day')
      .max(7, 'must have at most 7 entries'),
    says: 'Came on one of these days, 0 = Sunday.',
    sql: (_days, on, filter) => cameWithin(on, filter),
    seen: cameAt,
  },
  hasRedeemed: {
    bounds: boolean(),
    says: 'Whether any redemption was completed.',
    sql: (asked) => `c.redemption_count ${asked ? '>' : '='} 0`,
    seen: () => '(c.redemption_count > 0)::text',
  },
  promotionInterest: {
    bounds: boolean(),
    says: 'Whether interest in any promotion was marked.',
    sql: (asked, on) => `${asked ? '' : 'NOT '}${interest(on)}`,
    seen: (on) => `(${interest(on)})::text`,
  },
  birthdayInMonth: {
    bounds: int(1, 12),
    says: 'The birthday is in this month.',
    sql: (month, on) => `${BIRTHDAY_MONTH} = ${on.put(String(month).padStart(2, '0'), 'text')}`,
    seen: () => 'c.birthday',
  },
}

export const fieldNames = Object.keys(conditions) as FieldName[]

/** A condition of a filter, as SQL about customer `c`. */
interface Applied {
  field: FieldName
  asked: unknown
  holds(): string
  seen(): string
}

/** The conditions that a filter consists of. */
export const conditionsOf = (filter: Filter, on: Ground): Applied[] =>
  fieldNames.flatMap((field) => {
    const asked = filter[field]
    if (asked == null) return []
    const { sql, seen } = conditions[field] as Condition<typeof asked>
    return { field, asked, holds: () => sql(asked, on, filter), seen: () => seen(on, filter) }
  })
