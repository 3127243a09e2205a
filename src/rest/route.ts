import type { PlainCode } from '../errors.js'

/**
 * One documented route as data. The engine (engine.ts) mounts it; nothing of a route is code. Its rate scope,
 * whether it is a write, its refusals and the shapes of body and answer are read from the schema of the graph.
 */
export interface Route {
  method: 'get' | 'post' | 'patch' | 'delete'
  /** Below `/api/v1`, parameters as `:name`. */
  path: string
  /** The GraphQL operation; one root field, its alias or the selection's aliases spell the answer. */
  operation: string
  /** Path parameter → variable, dots leading into the input (`id: 'input.id'`). */
  params?: Readonly<Record<string, string>>
  /** What a path parameter that is not even a UUID answers: the same as for nothing there. */
  notFound?: PlainCode
  /** Query name → variable. */
  query?: Readonly<Record<string, string>>
  /** How `data` is made of the operation's result. */
  data?: DataShape
  /** Members of `data` that are left out where they are null. */
  optional?: readonly string[]
  /** Members, at any depth, whose values leave out what is null in them. */
  sparse?: readonly string[]
  /**
   * The answer is a file of this name, CSV or JSON as the query's `format` says: all nodes of the root field, a
   * connection, page after page. The operation takes the position as `$after`.
   */
  file?: string
  /** The body may also be CSV of one column, which fills a list of the input. */
  csv?: { readonly column: string; readonly fills: string }
  /** The body may also be a form (multipart/form-data), whose file parts fill fields of the type Upload. */
  multipart?: true
  status: 200 | 201
  message: string
  /** Not in the documented table (spec §4), added by docs/decisions.md. */
  addition?: true
}

/**
 * Default: the operation's data as it is. `unwrap`: the value of the one root field. `page`: the root field is a
 * connection; its nodes under the field's name, beside `pagination` (spec §4, code batches).
 */
export type DataShape = 'unwrap' | 'page'

/** The query of every paged list, over a connection's arguments. */
export const pageQuery = { limit: 'first', offset: 'offset' } as const
