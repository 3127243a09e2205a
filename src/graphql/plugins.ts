import {
  type ASTVisitor,
  GraphQLError,
  parse,
  TypeInfo,
  type ValidationContext,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { mayTerminalRead } from '../devices/terminal-rights.js'
import type { ServerContext } from './endpoint.js'
import { graphLimits } from './limits.js'
import { requestedOperation } from './operation.js'

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
        context.reportError(
          new GraphQLError(`At most ${graphLimits.aliases} aliases are allowed`, { nodes: node }),
        )
    },
  }
}

/** Without a key (possible in development only) a request may read the schema and nothing else. */
export const anonymousMayOnlyIntrospect = (): Plugin<ServerContext> => ({
  onExecute({ args }) {
    const { graph } = args.contextValue as unknown as ServerContext
    if (graph) return
    const { rootFields = [] } = requestedOperation(args.document, args.operationName) ?? {}
    if (rootFields.every(({ name }) => name.value.startsWith('__'))) return
    throw new GraphQLError('Invalid API key', {
      extensions: { code: 'INVALID_API_KEY', http: { status: 401 } },
    })
  },
})

/** A terminal reads what the counter needs, and nothing that lies behind it in the graph. */
export const terminalsReadLittle = (): Plugin<ServerContext> => ({
  onExecute({ args: { schema, document, contextValue } }) {
    const { graph } = contextValue as unknown as ServerContext
    if (graph?.actor.kind !== 'terminal') return
    const types = new TypeInfo(schema)
    const refuseOthers: ASTVisitor = {
      Field({ name }) {
        const type = types.getParentType()!.name
        if (mayTerminalRead(type)) return
        throw new GraphQLError(`Insufficient scope: ${type}.${name.value}`, {
          extensions: { code: 'INSUFFICIENT_SCOPE', http: { status: 403 } },
        })
      },
    }
    visit(document, visitWithTypeInfo(types, refuseOthers))
  },
})
