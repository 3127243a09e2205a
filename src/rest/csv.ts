import { parse } from 'csv-parse/sync'
import { AppError, invalid } from '../errors.js'

/** CSV as in RFC 4180, UTF-8, with a header row. */

/** More than any list of the API takes; parsing millions would hold up everybody else. */
const MAX_RECORDS = 20_000

const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * The fields of a file of one column, in order; empty lines are left out. Throws INVALID_CSV for what is no CSV in
 * UTF-8, BODY_TOO_LARGE for more than 20,000 records, InvalidInput where the header is not `column` alone.
 */
export function parseCsvColumn(bytes: Uint8Array, column: string): string[] {
  const [header, ...records] = recordsOf(bytes)
  if (header?.length !== 1 || header[0] !== column)
    throw invalid('', `the CSV must have one column, and its name in the first line: ${column}`)
  if (records.length > MAX_RECORDS) throw new AppError('BODY_TOO_LARGE')
  return records.map(([field]) => field!)
}

function recordsOf(bytes: Uint8Array): string[][] {
  try {
    // Lines may end in any way, also each in its own; a byte order mark is dropped by the decoder.
    return parse(decoder.decode(bytes), {
      record_delimiter: ['\r\n', '\n', '\r'],
      skip_empty_lines: true,
      // The header, and one more than may be, which tells.
      to: MAX_RECORDS + 2,
    })
  } catch {
    throw new AppError('INVALID_CSV')
  }
}

/** One line of a file, every field in double quotes, null as an empty one. */
export const csvLine = (fields: readonly unknown[]): string =>
  `${fields.map((field) => `"${String(field ?? '').replaceAll('"', '""')}"`).join(',')}\r\n`
