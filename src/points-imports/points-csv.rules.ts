/** What holds for a CSV of points (spec section 8, Bulk points CSV upload). Pure. */
import { CsvError, parse } from 'csv-parse/sync'
import type * as z from 'zod'
import { text, uuid } from '../graphql/bounds.js'
import { description, points, purchaseAmount } from '../points/bounds.js'

/** Lines beside the header (spec section 8). */
export const MAX_IMPORT_ROWS = 1000

/** One thing that is wrong with a file. */
export interface CsvIssue {
  /** Of the file, the header being 1; of a row that runs over several lines, the last. */
  line: number
  /** Null where the line is wrong as a whole. */
  column: string | null
  message: string
}

/** A line of which exactly one of each pair (user id and identifier, points and amount) is given. */
export interface PointsLine {
  line: number
  userId: string | null
  identifier: string | null
  points: number | null
  /** Decimal, in the business's currency. */
  amount: string | null
  description: string | null
}

const columns = {
  user_id: uuid(),
  identifier: text(1, 200),
  points: points(),
  amount: purchaseAmount(),
  description: description(),
}
type Column = keyof typeof columns
const COLUMNS = Object.keys(columns) as Column[]

interface CsvRecord {
  record: string[]
  info: { lines: number }
}

/** Reads a file whole: its lines where nothing is wrong with it, else everything that is. */
export function readPointsCsv(csv: string): { lines: PointsLine[]; issues: CsvIssue[] } {
  const issues: CsvIssue[] = []
  const [header, ...records] = recordsOf(csv, issues)
  if (issues.length > 0) return { lines: [], issues }
  const names = header?.record ?? []
  issues.push(...issuesOfHeader(names))
  if (records.length === 0)
    issues.push({ line: 2, column: null, message: 'must follow the header: there is no row' })
  const excess = records[MAX_IMPORT_ROWS]
  if (excess)
    issues.push({
      line: excess.info.lines,
      column: null,
      message: `must not be: a file has at most ${MAX_IMPORT_ROWS} rows`,
    })
  if (issues.length > 0) return { lines: [], issues }
  const lines = records.map((record) => readRow(names as Column[], record, issues))
  return { lines, issues }
}

function recordsOf(csv: string, issues: CsvIssue[]): CsvRecord[] {
  try {
    return parse(csv, {
      info: true,
      bom: true,
      // Lines may end in any way, also each in its own.
      record_delimiter: ['\r\n', '\n', '\r'],
      skip_empty_lines: true,
      relax_column_count: true,
      // The header, and one more than may be, which tells.
      to: MAX_IMPORT_ROWS + 2,
    }) as never
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    issues.push({ line: Number(error.lines), column: null, message: 'must be CSV: its quotes do not match' })
    return []
  }
}

function issuesOfHeader(names: readonly string[]): CsvIssue[] {
  const issue = (column: string | null, message: string) => ({ line: 1, column, message })
  const has = (column: Column) => names.includes(column)
  return [
    ...names
      .filter((name) => !(COLUMNS as string[]).includes(name))
      .map((name) => issue(name.slice(0, 100), `must be one of ${COLUMNS.join(', ')}`)),
    ...COLUMNS.filter((column) => names.indexOf(column) !== names.lastIndexOf(column)).map((column) =>
      issue(column, 'must be there once'),
    ),
    ...(has('user_id') || has('identifier') ? [] : [issue(null, 'must name user_id or identifier')]),
    ...(has('points') || has('amount') ? [] : [issue(null, 'must name points or amount')]),
  ]
}

function readRow(names: readonly Column[], { record, info }: CsvRecord, issues: CsvIssue[]): PointsLine {
  const refuse = (column: Column | null, message: string) =>
    issues.push({ line: info.lines, column, message })
  if (record.length !== names.length)
    refuse(null, `must have ${names.length} fields as the header has, not ${record.length}`)

  const field = (column: Column): string | null => record[names.indexOf(column)] || null
  const read = <C extends Column>(column: C): z.output<(typeof columns)[C]> | null => {
    const written = field(column)
    if (written === null) return null
    const value = column === 'points' && /^-?\d{1,15}$/.test(written) ? Number(written) : written
    const parsed = columns[column].safeParse(value)
    for (const { message } of parsed.error?.issues ?? []) refuse(column, message)
    return (parsed.data ?? null) as never
  }
  const requireOne = (one: Column, other: Column) => {
    if ((field(one) === null) === (field(other) === null))
      refuse(names.includes(one) ? one : other, `give exactly one of ${one} and ${other}`)
  }
  requireOne('user_id', 'identifier')
  requireOne('points', 'amount')
  return {
    line: info.lines,
    userId: read('user_id'),
    identifier: read('identifier'),
    points: read('points'),
    amount: read('amount'),
    description: read('description'),
  }
}
