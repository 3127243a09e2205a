/** What a command answers: one object, for machines as it is, for people in lines and columns. */
export type Answer = Readonly<Record<string, unknown>>

/** The object as people read it: a line for each member, a table for a list of objects. */
export function describeAnswer(answer: Answer): string {
  const entries = Object.entries(answer)
  const width = Math.max(...entries.map(([name]) => name.length))
  return entries
    .map(([name, value]) =>
      isTable(value) ? describeTable(name, value) : `${name.padEnd(width)}  ${describeValue(value)}`,
    )
    .join('\n')
}

type Row = Readonly<Record<string, unknown>>

const isTable = (value: unknown): value is Row[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'object')

function describeTable(name: string, rows: Row[]): string {
  if (rows.length === 0) return `no ${name}`
  const columns = Object.keys(rows[0]!)
  const lines = [columns, ...rows.map((row) => columns.map((column) => describeValue(row[column])))]
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => line[index]!.length)))
  return lines
    .map((line) =>
      line
        .map((cell, index) => cell.padEnd(widths[index]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function describeValue(value: unknown): string {
  if (value === null || value === undefined) return '-'
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.join(',')
  return value instanceof Date ? value.toISOString() : String(value)
}
