import { type ExecutionResult, execute, GraphQLError, type GraphQLSchema } from 'graphql'
import type { Context } from '../context.js'
import { AppError, describeIssues, type FieldIssue, InvalidInput } from '../errors.js'
import { DEFAULT_PAGE_SIZE } from '../graphql/connection.js'
import { issuesOf } from '../graphql/input.js'
import type { Answer } from '../idempotency.js'
import { toInput } from './body.js'
import { type CompiledRoute, isIntVariable } from './compile.js'
import { errorBody, successBody } from './envelope.js'
import { snakeCase, snakePath } from './naming.js'

/** A REST request, as far as its route is concerned. */
export interface RestRequest {
  params: Readonly<Record<string, string>>
  query: Readonly<Record<string, string | string[] | undefined>>
  /** Parsed JSON; undefined = none was sent. */
  body: unknown
}

/** The variables of a route's operation, and what of the request fits none of them. */
interface Variables {
  values: Record<string, unknown>
  unknown: FieldIssue[]
}

/**
 * Runs a route's operation on the graph, in process. Refusals of the catalogue come back as answers; anything
 * else is thrown.
 */
export async function runRoute(
  schema: GraphQLSchema,
  route: CompiledRoute,
  variables: Variables,
  ctx: Context,
): Promise<Answer> {
  const result = (await execute({
    schema,
    document: route.document,
    variableValues: variables.values,
    contextValue: ctx,
  })) as ExecutionResult
  if (!result.errors) {
    return {
      status: route.status,
      body: successBody(route.message, dataOf(route, result.data!, variables.values)),
      refused: false,
      storable: true,
    }
  }
  const refusal = refusalOf(route, result.errors[0]!, variables)
  return {
    status: refusal.kind.status,
    body: errorBody(refusal),
    refused: true,
    storable: refusal.kind.storable === true,
  }
}

function refusalOf(route: CompiledRoute, error: GraphQLError, variables: Variables): AppError {
  const original = error.originalError
  if (original instanceof InvalidInput) return spelled(route, original.issues)
  if (original instanceof AppError) return original
  // No path: the variables did not fit the operation's types. Validation says in full what is wrong with them.
  if (!error.path) throw invalidVariables(route, variables, error)
  throw original ?? error
}

/** Every reason why the variables are refused, in the request's own spelling. */
export function invalidVariables(
  route: CompiledRoute,
  { values, unknown }: Variables,
  cause?: GraphQLError,
): Error {
  const subject = route.body ? values.input : values
  const parsed = route.inputSchema?.safeParse(subject)
  const issues = parsed?.error ? issuesOf(parsed.error, subject) : []
  if (issues.length === 0 && unknown.length === 0) return cause ?? new Error('nothing is wrong')
  return spelled(route, issues, unknown)
}

function spelled(
  route: CompiledRoute,
  issues: readonly FieldIssue[],
  unknown: readonly FieldIssue[] = [],
): InvalidInput {
  const names = new Map(
    [...Object.entries(route.query ?? {}), ...Object.entries(route.params ?? {})].map(([name, target]) => [
      target.replace(/^input\./, ''),
      name,
    ]),
  )
  const own = issues.map(({ path, message }) => ({
    path: names.get(path) ?? snakePath(path),
    message: snakeMessage(route, message),
  }))
  const refused = new InvalidInput([...unknown, ...own])
  refused.message = describeIssues(refused.issues)
  return refused
}

const camelWord = /\b[a-z]+(?:[A-Z][a-z]*)+\b/g

/** Messages may name other fields; the graph's spelling of them becomes the body's. */
const snakeMessage = (_route: CompiledRoute, message: string): string => message.replace(camelWord, snakeCase)

/** Turns path, query and body into the operation's variables. */
export function variablesOf(route: CompiledRoute, request: RestRequest): Variables {
  const values: Record<string, unknown> = {}
  const unknown: FieldIssue[] = []
  if (route.body) values.input = toInput(route.body, request.body ?? {}, unknown)
  else if (isNonEmpty(request.body))
    for (const key of Object.keys(request.body as object)) unknown.push({ path: key, message: 'unknown field' })

  for (const [name, target] of Object.entries(route.params ?? {})) set(values, target, request.params[name])
  for (const [name, value] of Object.entries(request.query)) {
    const target = route.query?.[name]
    if (target === undefined) unknown.push({ path: name, message: 'unknown query parameter' })
    else if (Array.isArray(value)) unknown.push({ path: name, message: 'given more than once' })
    else set(values, target, isIntVariable(route.variableTypes.get(target)) ? asInt(value!) : value)
  }
  return { values, unknown }
}

const isNonEmpty = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && Object.keys(body).length > 0

function set(values: Record<string, unknown>, target: string, value: unknown): void {
  const [variable, member] = target.split('.') as [string, string?]
  if (member === undefined) values[variable] = value
  else (values[variable] as Record<string, unknown>)[member] = value
}

/** A whole number as written; anything else stays text, for validation to refuse by name. */
const asInt = (text: string): number | string =>
  /^-?\d{1,15}$/.test(text) ? Number(text) : text

interface Connection {
  nodes: unknown[]
  totalCount: number
}

function dataOf(route: CompiledRoute, data: Record<string, unknown>, values: Record<string, unknown>): unknown {
  if (route.data === undefined) return data
  const root = data[route.rootKey]
  if (route.data === 'unwrap') return root
  const { nodes, totalCount } = root as Connection
  const limit = (values.first as number | undefined) ?? DEFAULT_PAGE_SIZE
  const offset = (values.offset as number | undefined) ?? 0
  return {
    [route.rootKey]: nodes,
    pagination: { limit, offset, returned: nodes.length, total_count: totalCount },
  }
}


