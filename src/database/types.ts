import pg from 'pg'

/**
 * How PostgreSQL's values become JavaScript's in hand-written SQL: the same as in Prisma's rows where the
 * graph reads both, so that a hand-made row can stand for a model.
 */
const { builtins } = pg.types

const parsers: Record<number, (text: string) => unknown> = {
  // pg would read a date in the process's own zone; a date has none.
  [builtins.DATE]: (text) => text,
  // Sums and counts stay below 2^53 (docs/decisions.md, HTTP).
  [builtins.INT8]: Number,
  // The session's zone is UTC, so the text ends in +00: several times faster than pg's general parser.
  [builtins.TIMESTAMPTZ]: (text) => new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`),
}

/** For `pg.PoolConfig.types`. */
export const rowTypes = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    format !== 'binary' && parsers[oid]
      ? parsers[oid]
      : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
}
