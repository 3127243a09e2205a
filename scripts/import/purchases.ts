import { parse } from 'csv-parse/sync'
import { isCalendarDate, parseInstant } from '../../src/graphql/bounds.js'
import { OperatorError } from '../../src/operator-error.js'
import { startOfLocalDay } from '../../src/time.js'

/** How a file of purchases is to be read. */
export interface Format {
  /** A column each: its name in the header, or its number from 1. */
  readonly customer: string
  readonly date: string
  readonly amount: string
  /** One character, or `whitespace` for columns that are padded with it. */
  readonly separator: string
  /** Whether the first line names the columns. */
  readonly header: boolean
  /** `iso`: `YYYY-MM-DD`, or a timestamp with its zone. */
  readonly dateFormat: 'iso' | 'yyyymmdd'
  /** IANA zone of the days. */
  readonly timezone: string
}

export interface Purchase {
  /** In the file, from 1; of a quoted value that spans several, the last. */
  readonly line: number
  readonly customer: string
  /** Decimal, as the file has it. */
  readonly amount: string
  /** A day without a time counts from its first moment: that is never in the future, and the same in every run. */
  readonly occurredAt: Date
}

/** A line that was not booked, and why. */
export interface Refusal {
  readonly line: number
  readonly reason: string
}

interface Record {
  readonly line: number
  readonly fields: readonly string[]
}

/** Reads the purchases of a file; lines that cannot be one are named. Throws OperatorError where a column is missing. */
export function readPurchases(text: string, format: Format): { purchases: Purchase[]; refused: Refusal[] } {
  const records =
    format.separator === 'whitespace' ? splitAtWhitespace(text) : splitCsv(text, format.separator)
  const names = format.header ? (records.shift()?.fields ?? []) : undefined
  const columns = {
    customer: columnOf('customer', format.customer, names),
    date: columnOf('date', format.date, names),
    amount: columnOf('amount', format.amount, names),
  }
  const purchases: Purchase[] = []
  const refused: Refusal[] = []
  for (const { line, fields } of records) {
    const field = (name: keyof typeof columns) => fields[columns[name]]?.trim() ?? ''
    const [customer, date, amount] = [field('customer'), field('date'), field('amount')]
    const occurredAt = momentOf(date, format)
    if (customer === '') refused.push({ line, reason: 'has no customer' })
    else if (!occurredAt)
      refused.push({ line, reason: `"${date}" is no date of the form ${format.dateFormat}` })
    else if (!/^\d+(\.\d+)?$/.test(amount)) refused.push({ line, reason: `"${amount}" is no amount` })
    else purchases.push({ line, customer, amount, occurredAt })
  }
  return { purchases, refused }
}

const splitAtWhitespace = (text: string): Record[] =>
  text
    .split('\n')
    .map((row, index) => ({ line: index + 1, fields: row.trim().split(/\s+/) }))
    .filter(({ fields }) => fields[0] !== '')

function splitCsv(text: string, delimiter: string): Record[] {
  const options = { delimiter, bom: true, info: true, relax_column_count: true, skip_empty_lines: true }
  const rows = parse(text, options) as unknown as { info: { lines: number }; record: string[] }[]
  return rows.map(({ info, record }) => ({ line: info.lines, fields: record }))
}

/** The place of a column, from 0. */
function columnOf(what: string, column: string, names: readonly string[] | undefined): number {
  const named = names?.findIndex((name) => name.trim() === column) ?? -1
  if (named >= 0) return named
  if (/^[1-9]\d*$/.test(column)) return Number(column) - 1
  const known = names ? `the columns are ${names.join(', ')}` : 'without a header give its number, from 1'
  throw new OperatorError(`there is no column "${column}" for the ${what}: ${known}`)
}

function momentOf(date: string, { dateFormat, timezone }: Format): Date | undefined {
  const day =
    dateFormat === 'yyyymmdd' && /^\d{8}$/.test(date)
      ? `${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}`
      : date
  if (isCalendarDate(day)) return startOfLocalDay(day, timezone)
  return dateFormat === 'iso' ? parseInstant(date) : undefined
}
