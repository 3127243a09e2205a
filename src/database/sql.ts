import type pg from 'pg'

/**
 * SQL for the hot paths: each statement is written once, prepared once per connection (that is what its name
 * is for) and typed by the row it returns.
 */
export interface Statement<Row> {
  readonly name: string
  readonly text: string
  /** Only for the type: the shape of a row. */
  readonly row?: Row
}

const names = new Set<string>()

/** Declares a statement; two statements of one name would overwrite each other on the server, so that throws. */
export function statement<Row>(name: string, text: string): Statement<Row> {
  if (names.has(name)) throw new Error(`two SQL statements are named ${name}`)
  names.add(name)
  return { name, text }
}

/** Where statements run: the pool, or the one connection of a transaction. */
export interface Sql {
  rows<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]>
  /** The first row, if there is one. */
  row<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row | undefined>
  /** How many rows were affected. */
  run(statement: Statement<unknown>, values: readonly unknown[]): Promise<number>
}

export function sqlOn(client: pg.Pool | pg.ClientBase): Sql {
  const query = (statement: Statement<unknown>, values: readonly unknown[]) =>
    client.query({ name: statement.name, text: statement.text, values: values as unknown[] })
  return {
    rows: async <Row>(statement: Statement<Row>, values: readonly unknown[]) =>
      (await query(statement, values)).rows as Row[],
    row: async <Row>(statement: Statement<Row>, values: readonly unknown[]) =>
      (await query(statement, values)).rows[0] as Row | undefined,
    run: async (statement, values) => (await query(statement, values)).rowCount ?? 0,
  }
}
