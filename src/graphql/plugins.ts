import {
  type ASTVisitor,
  type DocumentNode,
  type ExecutionResult,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  parse,
  type ValidationContext,
} from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { Context } from '../context.js'
import { AppError } from '../errors.js'
import { type Answer, once, requireValidKey } from '../idempotency.js'
import { canonicalJson } from '../rest/body.js'
import type { Secrets } from '../secrets.js'
import type { ServerContext } from './endpoint.js'
import { graphLimits } from './limits.js'
import { publicError } from './masking.js'

/** Tokens and aliases of one document; depth and complexity are counted by the schema itself. */
export const documentLimits = (): Plugin<ServerContext> => ({
  onParse({ params, setParseFn }) {
    const maxTokens = String(params.source).includes('__schema')
      ? graphLimits.introspectionTokens
      : graphLimits.tokens
    setParseFn((source, options) => parse(source, { ...options, maxTokens }))
  },
  onValidate({ addValidationRule }) {
    addValidationRule(aliasLimit)
  },
})

function aliasLimit(context: ValidationContext): ASTVisitor {
  let aliases = 0
  return {
    Field(node) {
      if (node.alias && ++aliases === graphLimits.aliases + 1)
        context.reportError(new GraphQLError(`At most ${graphLimits.aliases} aliases are allowed`, { nodes: node }))
    },
  }
}

const operationOf = (document: DocumentNode, name: string | null | undefined) =>
  document.definitions.find(
    (definition): definition is OperationDefinitionNode =>
      definition.kind === Kind.OPERATION_DEFINITION && (!name || definition.name?.value === name),
  )

/** Without a key (possible in development only) a request may read the schema and nothing else. */
export const anonymousMayOnlyIntrospect = (): Plugin<ServerContext> => ({
  onExecute({ args }) {
    const { graph } = args.contextValue as unknown as ServerContext
    if (graph) return
    const roots = operationOf(args.document, args.operationName)?.selectionSet.selections ?? []
    const introspects = roots.every((root) => root.kind === Kind.FIELD && root.name.value.startsWith('__'))
    if (!introspects)
      throw new GraphQLError('Invalid API key', {
        extensions: { code: 'INVALID_API_KEY', http: { status: 401 } },
      })
  },
})

/** `Idempotency-Key` on a request of one mutation works as in REST: effect and answer commit together. */
export const idempotentMutations = (secrets: Secrets): Plugin<ServerContext> => ({
  onExecute({ args, executeFn, setExecuteFn }) {
    const context = args.contextValue as unknown as ServerContext & Context & { params: { query?: string } }
    const key = context.koa.headers['idempotency-key']
    const operation = operationOf(args.document, args.operationName)
    if (typeof key !== 'string' || operation?.operation !== 'mutation' || !context.graph) return
    setExecuteFn(async () => {
      try {
        requireValidKey(key)
        if (operation.selectionSet.selections.length > 1)
          throw new GraphQLError('Idempotency-Key needs a request of one mutation', {
            extensions: { code: 'INVALID_IDEMPOTENCY_KEY' },
          })
        const request = canonicalJson([context.params.query, args.variableValues ?? {}, args.operationName ?? null])
        const { answer, replayed } = await once(
          context,
          key,
          secrets.fingerprint(`graphql ${request}`),
          async (inside) => answerOf((await executeFn({ ...args, contextValue: inside })) as ExecutionResult),
        )
        if (replayed) context.koa.set('Idempotency-Replayed', 'true')
        return resultOf(answer)
      } catch (error) {
        if (error instanceof GraphQLError) return { errors: [error] }
        if (error instanceof AppError) return { errors: [new GraphQLError('', { originalError: error })] }
        throw error
      }
    })
  },
})

function answerOf(result: ExecutionResult): Answer {
  const [error] = result.errors ?? []
  if (!error) return { status: 200, body: JSON.stringify(result), refused: false, storable: true }
  const { originalError } = error
  // Not a refusal: a fault, for the masking to log.
  if (originalError && !(originalError instanceof AppError)) throw originalError
  const errors = result.errors!.map(publicError)
  return {
    status: originalError instanceof AppError ? originalError.kind.status : 400,
    body: JSON.stringify({ data: result.data, errors }),
    refused: true,
    storable: originalError instanceof AppError && originalError.kind.storable === true,
  }
}

function resultOf(answer: Answer): ExecutionResult {
  const { data, errors } = JSON.parse(answer.body) as {
    data?: Record<string, unknown> | null
    errors?: { message: string; path?: (string | number)[]; extensions?: Record<string, unknown> }[]
  }
  return {
    ...(data === undefined ? {} : { data }),
    ...(errors
      ? {
          errors: errors.map(
            ({ message, path, extensions }) =>
              new GraphQLError(message, { path: path ?? null, extensions: extensions ?? null }),
          ),
        }
      : {}),
  }
}

