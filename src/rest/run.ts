import type { GraphQLError } from 'graphql'
import type { Context } from '../context.js'
import { AppError, InvalidInput } from '../errors.js'
import { DEFAULT_PAGE_SIZE } from '../graphql/connection.js'
import type { Answer } from '../idempotency.js'
import type { CompiledRoute } from './compile.js'
import { errorBody, successBody } from './envelope.js'
import type { FilePage } from './file.js'
import { refusalOfFields, refusalOfVariables, type Variables } from './variables.js'

/**
 * Runs a route's operation on the graph, in process. Refusals of the catalogue come back as answers; those that
 * say when to come again, variables that do not fit the operation's types, and anything else, are thrown.
 */
export async function runRoute(route: CompiledRoute, variables: Variables, ctx: Context): Promise<Answer> {
  const { data, errors } = await route.execute(variables.values, ctx)
  if (errors) return refusalAnswer(refusalOf(route, errors[0]!, variables))
  return {
    status: route.status,
    body: successBody(route.message, dataOf(route, data!, variables.values)),
    refused: false,
    storable: true,
  }
}

/** A page of the file that a route answers with; throws refusals as well. */
export async function runPage(
  route: CompiledRoute,
  variables: Variables,
  ctx: Context,
  after: string | null,
): Promise<FilePage> {
  const { data, errors } = await route.execute({ ...variables.values, after }, ctx)
  if (errors) throw refusalOf(route, errors[0]!, variables)
  return data![route.rootKey] as FilePage
}

function refusalAnswer(refusal: AppError): Answer {
  if (refusal.retryAfterSeconds !== undefined) throw refusal
  const { status, storable = false, keepsEffects = false } = refusal.kind
  return { status, body: errorBody(refusal), refused: !keepsEffects, storable }
}

function refusalOf(route: CompiledRoute, error: GraphQLError, variables: Variables): AppError {
  const { originalError } = error
  if (originalError instanceof InvalidInput) return refusalOfFields(route, originalError.issues)
  if (originalError instanceof AppError) return originalError
  // No path: the variables did not fit the operation's types. Validation says in full what is wrong with them.
  const refusal = error.path ? undefined : refusalOfVariables(route, variables)
  throw refusal ?? originalError ?? error
}

function withoutNulls(value: unknown, optional: readonly string[] = []): unknown {
  if (optional.length === 0) return value
  return Object.fromEntries(
    Object.entries(value as object).filter(([name, member]) => member !== null || !optional.includes(name)),
  )
}

/** The value without the nulls below members of these names. */
function sparsely(value: unknown, names: readonly string[], below = false): unknown {
  if (Array.isArray(value)) return value.map((item) => sparsely(item, names, below))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([, member]) => !below || member !== null)
  return Object.fromEntries(
    members.map(([name, member]) => [name, sparsely(member, names, below || names.includes(name))]),
  )
}

interface Connection {
  nodes: unknown[]
  totalCount: number
}

function dataOf(
  route: CompiledRoute,
  data: Record<string, unknown>,
  values: Record<string, unknown>,
): unknown {
  if (route.data === undefined) return route.sparse ? sparsely(data, route.sparse) : data
  const root = data[route.rootKey]
  if (route.data === 'unwrap') return withoutNulls(root, route.optional)
  const { nodes, totalCount } = root as Connection
  const limit = (values.first as number | undefined) ?? DEFAULT_PAGE_SIZE
  const offset = (values.offset as number | undefined) ?? 0
  return {
    [route.rootKey]: nodes,
    pagination: { limit, offset, returned: nodes.length, total_count: totalCount },
  }
}
