import { PothosValidationError } from '@pothos/core'
import { type ExecutionResult, GraphQLError } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { Logger } from 'pino'
import { type AppError, InvalidInput, MAX_NAMED_ISSUES } from '../errors.js'
import { logFault, refusalFor } from '../rest/faults.js'
import type { ServerContext } from './endpoint.js'

/**
 * An error as clients of the graph see it: refusals of the catalogue with `extensions.code` (and `fields` for bad
 * input), what GraphQL itself says about the request as it is, anything else masked.
 */
export function publicError(error: GraphQLError): GraphQLError {
  const cause = error.originalError ?? error
  if (cause instanceof PothosValidationError) return rewritten(error, cause.message, 'QUERY_TOO_COMPLEX')
  if (isAboutTheRequest(error))
    return error.extensions.code ? error : rewritten(error, error.message, 'INVALID_INPUT')
  const refusal = refusalFor(cause)
  return rewritten(error, refusal.message, refusal.code, extrasOf(refusal))
}

/** GraphQL found the request at fault, before a field ran or in the arguments of one; not a field's result. */
function isAboutTheRequest({ originalError, path }: GraphQLError): boolean {
  if (originalError === undefined) return true
  return originalError instanceof GraphQLError && (path === undefined || originalError.nodes !== undefined)
}

function extrasOf(refusal: AppError): Record<string, unknown> {
  return {
    ...(refusal.value !== undefined && { value: refusal.value }),
    ...(refusal instanceof InvalidInput && { fields: refusal.issues.slice(0, MAX_NAMED_ISSUES) }),
    ...(refusal.retryAfterSeconds !== undefined && { retryAfter: refusal.retryAfterSeconds }),
  }
}

const rewritten = (
  { nodes, source, positions, path, extensions }: GraphQLError,
  message: string,
  code: string,
  extras: object = {},
): GraphQLError =>
  new GraphQLError(message, {
    nodes: nodes ?? null,
    source: source ?? null,
    positions: positions ?? null,
    path: path ?? null,
    extensions: { ...extensions, code, ...extras },
  })

const asGraphQLError = (thrown: unknown): GraphQLError =>
  thrown instanceof GraphQLError
    ? thrown
    : new GraphQLError('', { originalError: thrown instanceof Error ? thrown : new Error(String(thrown)) })

/** Shows no fault of ours, and logs it with the id of its request. Comes after all other plugins that execute. */
export const maskFaults = (log: Logger): Plugin<ServerContext> => ({
  onExecute({ args, executeFn, setExecuteFn }) {
    const { requestId } = (args.contextValue as unknown as ServerContext).koa.state as { requestId: string }
    const shown = (error: GraphQLError): GraphQLError => {
      const seen = publicError(error)
      logFault(log, error.originalError ?? error, seen.extensions.code, requestId)
      return seen
    }
    setExecuteFn(async (given) => {
      try {
        const result = (await executeFn(given)) as ExecutionResult
        return result.errors ? { ...result, errors: result.errors.map(shown) } : result
      } catch (thrown) {
        return { data: null, errors: [shown(asGraphQLError(thrown))] }
      }
    })
  },
})

/** For what Yoga throws outside of execution. */
export const maskError = (thrown: unknown): Error => publicError(asGraphQLError(thrown))
