import { AppError, type FieldIssue, InvalidInput } from '../errors.js'
import { issuesOf } from '../graphql/input.js'
import { toInput } from './body.js'
import { type CompiledRoute, fieldOf } from './compile.js'
import { type FileFormat, fileFormats } from './file.js'
import { snakeCase, snakeMessage } from './naming.js'

/** A REST request, as far as its route is concerned. */
export interface RestRequest {
  params: Readonly<Record<string, string>>
  query: Readonly<Record<string, string | string[] | undefined>>
  /** The JSON object that was sent; undefined = none. */
  body: object | undefined
}

/** The variables of a route's operation, and what of the request does not fit its shape. */
export interface Variables {
  values: Record<string, unknown>
  /** In the request's own spelling. */
  misfits: FieldIssue[]
  /** Of a route that answers with a file. */
  format: FileFormat
}

/** Turns path, query and body into the operation's variables. */
export function variablesOf(route: CompiledRoute, { params, query, body = {} }: RestRequest): Variables {
  const values: Record<string, unknown> = {}
  const misfits: FieldIssue[] = []
  if (route.body) values.input = toInput(route.body, body, misfits)
  else for (const key of Object.keys(body)) misfits.push({ path: key, message: 'unknown field' })

  for (const [name, target] of Object.entries(route.params ?? {})) set(values, target, params[name])
  const { format, ...others } = query
  for (const [name, value] of Object.entries(route.file === undefined ? query : others)) {
    const known = route.queryTargets.get(name)
    if (!known) misfits.push({ path: name, message: 'unknown query parameter' })
    else if (Array.isArray(value)) misfits.push({ path: name, message: 'given more than once' })
    else set(values, known.target, known.isInt ? asInt(value!) : value)
  }
  return { values, misfits, format: route.file === undefined ? 'csv' : formatOf(format, misfits) }
}

function formatOf(value: string | string[] | undefined, misfits: FieldIssue[]): FileFormat {
  const format = fileFormats.find((known) => known === (value ?? 'csv'))
  if (format) return format
  const message = Array.isArray(value) ? 'given more than once' : `must be one of ${fileFormats.join(', ')}`
  misfits.push({ path: 'format', message })
  return 'csv'
}

function set(values: Record<string, unknown>, target: string, value: unknown): void {
  const [variable, member] = target.split('.') as [string, string?]
  if (member === undefined) values[variable] = value
  else (values[variable] as Record<string, unknown>)[member] = value
}

/** A whole number as written; anything else stays text, for validation to refuse by name. */
const asInt = (text: string): number | string => (/^-?\d{1,15}$/.test(text) ? Number(text) : text)

/** The refusal of variables, with every reason; undefined where nothing is wrong with them. */
export function refusalOfVariables(
  route: CompiledRoute,
  { values, misfits }: Variables,
): AppError | undefined {
  const subject = route.body ? values.input : values
  const parsed = route.inputSchema?.safeParse(subject)
  const issues = parsed?.error ? issuesOf(parsed.error, subject) : []
  return issues.length + misfits.length > 0 ? refusalOfFields(route, issues, misfits) : undefined
}

/**
 * The refusal of fields that the graph names: every one in the spelling of the request, or the 404 of the route where
 * the path is refused, for what cannot be an id is the id of nothing.
 */
export function refusalOfFields(
  route: CompiledRoute,
  issues: readonly FieldIssue[],
  misfits: readonly FieldIssue[] = [],
): AppError {
  for (const { path } of issues) {
    const notFound = route.pathFields.get(path)
    if (notFound) return new AppError(notFound)
  }
  const parameters = new Map(
    Object.entries(route.query ?? {}).map(([name, target]) => [fieldOf(target), name]),
  )
  const spelled = issues.map(({ path, message }) => ({
    path: parameters.get(path) ?? snakeCase(fieldOf(path)),
    message: snakeMessage(message),
  }))
  // A misfit was left out of the variables; that it is missing there is our doing.
  const known = new Set(misfits.map(({ path }) => path))
  return new InvalidInput([...misfits, ...spelled.filter(({ path }) => !known.has(path))])
}
