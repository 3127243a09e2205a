import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  type GraphQLSchema,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import { compileQuery, isCompiledQuery } from 'graphql-jit'
import type { Context } from '../context.js'

/** Runs one operation of the facade, as often as it is asked for. */
export type Executor = (variables: Record<string, unknown>, ctx: Context) => Promise<ExecutionResult>

/**
 * The executor of an operation that never changes. One that touches no model of Prisma is compiled to JavaScript, which
 * takes a fifth of the time on a page of rows; one that does is interpreted, because Pothos' Prisma plugin plans its
 * statements for graphql-js (compiled, nested reads become more statements).
 */
export function executorOf(schema: GraphQLSchema, document: DocumentNode): Executor {
  if (!touchesModels(schema, document)) {
    const compiled = compileQuery(schema, document)
    if (!isCompiledQuery(compiled)) throw new Error(compiled.errors?.map(({ message }) => message).join('; '))
    return async (variables, ctx) => (await compiled.query(undefined, ctx, variables)) as ExecutionResult
  }
  return async (variableValues, contextValue) => execute({ schema, document, variableValues, contextValue })
}

function touchesModels(schema: GraphQLSchema, document: DocumentNode): boolean {
  const types = new TypeInfo(schema)
  let found = false
  visit(
    document,
    visitWithTypeInfo(types, {
      Field() {
        found ||= types.getParentType()?.extensions.pothosPrismaModel !== undefined
      },
    }),
  )
  return found
}
