import test from 'ava'
import fc from 'fast-check'
import { v7 as uuidv7 } from 'uuid'
import { MAX_IMPORT_ROWS, readPointsCsv } from '../../src/points-imports/points-csv.rules.js'

const issuesOf = (csv: string) =>
  readPointsCsv(csv).issues.map(({ line, column, message }) => `${line} ${column}: ${message}`)

const ID = '0190a000-0000-7000-8000-000000000001'

const refusals: Record<string, [csv: string, issues: string[]]> = {
  'an unknown column': [
    'identifier,points,colour\na,1,red\n',
    ['1 colour: must be one of user_id, identifier, points, amount, description'],
  ],
  'a column twice': ['identifier,points,points\na,1,1\n', ['1 points: must be there once']],
  'no customer column': ['points\n1\n', ['1 null: must name user_id or identifier']],
  'nothing to give': ['identifier\na\n', ['1 null: must name points or amount']],
  'a header alone': ['identifier,points\n', ['2 null: must follow the header: there is no row']],
  'a row without a customer': [
    'identifier,points\n,1\n',
    ['2 identifier: give exactly one of user_id and identifier'],
  ],
  'a row with both ways to name one': [
    `user_id,identifier,points\n${ID},a,1\n`,
    ['2 user_id: give exactly one of user_id and identifier'],
  ],
  'a row with points and amount': [
    'identifier,points,amount\na,1,1.00\n',
    ['2 points: give exactly one of points and amount'],
  ],
  'values out of bounds, each by line and column': [
    `identifier,points,amount\na,0,\nb,1000001,\nc,1.5,\nd,,-1\n${'e'.repeat(201)},1,\n`,
    [
      '2 points: must be at least 1',
      '3 points: must be at most 1000000',
      '4 points: must be an integer',
      '5 amount: must be a decimal string with at most 11 digits before and 4 after the point',
      '6 identifier: must have at most 200 characters',
    ],
  ],
  'a user id that is none': ['user_id,points\nx,1\n', ['2 user_id: must be a UUID']],
  'a row that is too long or too short': [
    'identifier,points\na,1,2\nb\n',
    [
      '2 null: must have 2 fields as the header has, not 3',
      '3 null: must have 2 fields as the header has, not 1',
      '3 points: give exactly one of points and amount',
    ],
  ],
  'quotes that do not match': ['identifier,points\n"a,1\n', ['2 null: must be CSV: its quotes do not match']],
  'one row too many': [
    `identifier,points\n${'a,1\n'.repeat(MAX_IMPORT_ROWS + 1)}`,
    ['1002 null: must not be: a file has at most 1000 rows'],
  ],
}

for (const [what, [csv, issues]] of Object.entries(refusals))
  test(`${what} is refused by line and column`, (t) => {
    t.deepEqual(issuesOf(csv), issues)
    t.deepEqual(readPointsCsv(csv).lines.length === 0 || issues.length > 0, true)
  })

test('1000 rows are taken', (t) => {
  const { lines, issues } = readPointsCsv(`identifier,points\n${'a,1\n'.repeat(MAX_IMPORT_ROWS)}`)
  t.deepEqual([lines.length, issues.length], [1000, 0])
})

/** Texts that CSV has to quote, now and then. */
const field = fc
  .array(fc.constantFrom('a', 'ß', '😀', ' ', ',', '"', '\n', '\r\n', ';', '=', "'"), {
    minLength: 1,
    maxLength: 12,
  })
  .map((parts) => parts.join(''))
const row = fc.record({
  who: fc.oneof(
    fc.constant(0).map(() => ({ userId: uuidv7(), identifier: null })),
    field.map((identifier) => ({ userId: null, identifier })),
  ),
  what: fc.oneof(
    fc.integer({ min: 1, max: 1_000_000 }).map((points) => ({ points, amount: null })),
    fc
      .integer({ min: 0, max: 99_999_999 })
      .map((cents) => ({ points: null, amount: (cents / 100).toFixed(2) })),
  ),
  description: fc.option(field),
})

test('whatever its line ends, quotes and order of columns, a file reads as the rows it was written from', (t) => {
  fc.assert(
    fc.property(
      fc.array(row, { minLength: 1, maxLength: 20 }),
      fc.shuffledSubarray(['user_id', 'identifier', 'points', 'amount', 'description'] as const, {
        minLength: 5,
      }),
      fc.constantFrom('\n', '\r\n', '\r'),
      fc.boolean(),
      (rows, columns, lineEnd, bom) => {
        const quoted = (value: unknown) => `"${String(value ?? '').replaceAll('"', '""')}"`
        const written = rows.map(({ who, what, description }) => {
          const fields = { user_id: who.userId, identifier: who.identifier, ...what, description }
          return columns.map((column) => quoted(fields[column])).join()
        })
        const csv = [...(bom ? [`\uFEFF${columns.join()}`] : [columns.join()]), ...written, ''].join(lineEnd)
        const { lines, issues } = readPointsCsv(csv)
        t.deepEqual(issues, [])
        t.deepEqual(
          lines.map(({ line, ...read }) => read),
          rows.map(({ who, what, description }) => ({ ...who, ...what, description })),
        )
      },
    ),
    { numRuns: 500 },
  )
})
