import type { Filter, Range } from '../../src/segments/filter.js'
import { DAY, reading } from '../helpers/wall-clock.js'

/** What a filter means, said once more in plain code over the rows of a program, without any aggregate. */

export interface ProgramRows {
  timezone: string
  decimals: number
  /** Decimals of at most six places, as text. */
  earnPointsPerUnit: string
  pointSpendValue: string | null
  usdRate: string
  customers: CustomerRows[]
}

export interface CustomerRows {
  id: string
  joinedAt: Date
  birthday: string | null
  /** As the balance of now is answered. */
  balance: number
  transactions: {
    id: string
    type: 'earn' | 'redeem'
    status: string
    source: string
    points: number
    amountMinor: number | null
    reversesId: string | null
    occurredAt: Date
  }[]
  /** Moments of completed redemptions. */
  redeemedAt: Date[]
  /** Moments of marked interest. */
  interestedAt: Date[]
}

const VISITING = ['api', 'terminal', 'code', 'reward', 'import']
const PURCHASES = ['api', 'terminal', 'code', 'import']

/** The ids that a filter selects at a moment, sorted. */
export const select = (program: ProgramRows, filter: Filter, at: Date, past: boolean): string[] =>
  program.customers
    .filter((customer) => isThere(customer, at, past) && matches(program, customer, filter, at, past))
    .map(({ id }) => id)
    .sort()

const until = (customer: CustomerRows, at: Date) =>
  customer.transactions.filter(({ status, occurredAt }) => status === 'completed' && occurredAt <= at)

const isThere = (customer: CustomerRows, at: Date, past: boolean) =>
  !past || customer.joinedAt <= at || until(customer, at).length > 0

export function matches(
  program: ProgramRows,
  customer: CustomerRows,
  filter: Filter,
  at: Date,
  past: boolean,
): boolean {
  const rows = until(customer, at)
  const visits = rows.filter(({ source }) => VISITING.includes(source)).map(({ occurredAt }) => occurredAt)
  const dayOf = (moment: Date) => reading(moment.getTime(), program.timezone).slice(0, 10)
  const lastDay = visits.map(dayOf).sort().at(-1)
  const daysAgo = (days: number) => new Date(Date.parse(dayOf(at)) - days * DAY).toISOString().slice(0, 10)
  const balance = past
    ? rows.reduce((sum, { type, points }) => sum + (type === 'earn' ? points : -points), 0)
    : customer.balance
  const redemptions = customer.redeemedAt.filter((moment) => moment <= at).length
  const interested = customer.interestedAt.some((moment) => moment <= at)

  const checks: { [Field in keyof Filter]: (asked: never) => boolean } = {
    pointsBalance: (asked: Range) => within(asked, BigInt(balance)),
    visitCount: (asked: Range) => within(asked, BigInt(new Set(visits.map(dayOf)).size)),
    redemptionCount: (asked: Range) => within(asked, BigInt(redemptions)),
    spendUsdEstimated: (asked: Range) => {
      const { spent, dollar } = spendOf(program, customer, rows)
      return within(asked, spent, dollar)
    },
    lastVisitWithinDays: (days: number) => lastDay !== undefined && lastDay >= daysAgo(days),
    lastVisitNotWithinDays: (days: number) => lastDay === undefined || lastDay < daysAgo(days),
    joinedWithinDays: (days: number) => customer.joinedAt <= at && dayOf(customer.joinedAt) >= daysAgo(days),
    joinedBeforeDaysAgo: (days: number) => dayOf(customer.joinedAt) < daysAgo(days),
    hourOfDay: () => visits.some((moment) => inHours(moment, filter)),
    dayOfWeek: () => visits.some((moment) => inHours(moment, filter)),
    hasRedeemed: (asked: boolean) => redemptions > 0 === asked,
    promotionInterest: (asked: boolean) => interested === asked,
    birthdayInMonth: (month: number) => Number(customer.birthday?.slice(-5, -3)) === month,
  }
  return Object.entries(checks).every(([field, check]) => {
    const asked = filter[field as keyof Filter]
    return asked == null || check(asked as never)
  })
}

const within = ({ min, max }: Range, value: bigint, unit = 1n): boolean =>
  (min == null || value >= BigInt(min) * unit) && (max == null || value <= BigInt(max) * unit)

function inHours(moment: Date, { hourOfDay, dayOfWeek, timezone }: Filter): boolean {
  const text = reading(moment.getTime(), timezone!)
  const hour = Number(text.slice(11, 13))
  const { from, to } = hourOfDay ?? { from: 0, to: 23 }
  const hours: number[] = []
  for (let each = from; ; each = (each + 1) % 24) {
    hours.push(each)
    if (each === to) break
  }
  const day = new Date(`${text.slice(0, 10)}T00:00:00Z`).getUTCDay()
  return hours.includes(hour) && (dayOfWeek == null || dayOfWeek.includes(day))
}

const MICRO = 1_000_000n
const micros = (decimal: string): bigint => {
  const [whole, fraction = ''] = decimal.split('.') as [string, string?]
  return BigInt(whole) * MICRO + BigInt(fraction.padEnd(6, '0'))
}

/** What a customer spent, and what a dollar is, in one unit so small that both are whole. */
function spendOf(program: ProgramRows, { transactions }: CustomerRows, rows: CustomerRows['transactions']) {
  let minor = 0n
  let points = 0n
  for (const row of rows) {
    const sign = row.type === 'earn' ? 1n : -1n
    const purchase = row.reversesId === null ? row : transactions.find(({ id }) => id === row.reversesId)!
    if (row.reversesId === null && row.type === 'redeem') continue
    if (row.amountMinor !== null) minor += sign * BigInt(row.amountMinor)
    else if (PURCHASES.includes(purchase.source)) points += sign * BigInt(row.points)
  }
  const minorsPerUnit = 10n ** BigInt(program.decimals)
  const rate = micros(program.usdRate)
  // A point is worth value / divisor of the currency's unit.
  const [value, divisor] =
    program.pointSpendValue === null
      ? [MICRO, micros(program.earnPointsPerUnit)]
      : [micros(program.pointSpendValue), MICRO]
  return {
    spent: (minor * divisor + points * value * minorsPerUnit) * rate,
    dollar: minorsPerUnit * divisor * MICRO,
  }
}
