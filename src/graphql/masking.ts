import { PothosValidationError } from '@pothos/core'
import { GraphQLError } from 'graphql'
import type { Logger } from 'pino'
import { AppError, InvalidInput } from '../errors.js'
import { refusalFor } from '../rest/faults.js'

/**
 * An error as clients of the graph see it: refusals of the catalogue with `extensions.code` (and `fields` for bad
 * input), GraphQL's own errors as they are, anything else masked.
 */
export function publicError(error: GraphQLError): GraphQLError {
  const { originalError } = error
  if (originalError === undefined || originalError instanceof GraphQLError) return error
  if (originalError instanceof PothosValidationError) return rewritten(error, originalError.message, 'QUERY_TOO_COMPLEX')
  const refusal = refusalFor(originalError)
  return rewritten(error, refusal.message, refusal.code, extrasOf(refusal))
}

function extrasOf(refusal: AppError): Record<string, unknown> {
  return {
    ...(refusal.value === undefined ? {} : { value: refusal.value }),
    ...(refusal instanceof InvalidInput ? { fields: refusal.issues } : {}),
    ...(refusal.retryAfterSeconds === undefined ? {} : { retryAfter: refusal.retryAfterSeconds }),
  }
}

const rewritten = (error: GraphQLError, message: string, code: string, extras: object = {}): GraphQLError =>
  new GraphQLError(message, {
    nodes: error.nodes ?? null,
    source: error.source ?? null,
    positions: error.positions ?? null,
    path: error.path ?? null,
    extensions: { code, ...extras },
  })

/** Yoga's hook: masks, and logs what was masked. */
export const maskWith =
  (log: Logger) =>
  (error: unknown): Error => {
    const graphError = error instanceof GraphQLError ? error : new GraphQLError('', { originalError: error as Error })
    const shown = publicError(graphError)
    if (shown.extensions.code === 'INTERNAL') log.error({ err: graphError.originalError ?? error }, 'fault')
    return shown
  }
