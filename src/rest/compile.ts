import {
  type DocumentNode,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  parse,
  typeFromAST,
  validate,
} from 'graphql'
import type * as z from 'zod'
import type { OperationFacts } from '../graphql/fields.js'
import { type BodyMapping, mappingOf } from './body.js'
import type { Route } from './route.js'

/** A route whose operation was parsed and checked against the schema. */
export interface CompiledRoute extends Route {
  document: DocumentNode
  /** Response key of the one root field: the name under which its value stands in the result. */
  rootKey: string
  /** A mutation: takes an Idempotency-Key. */
  isWrite: boolean
  facts: OperationFacts
  variableTypes: ReadonlyMap<string, GraphQLInputType>
  /** How the body becomes `input`; undefined = the operation takes no body. */
  body: BodyMapping | undefined
  /** The zod object behind the operation's input or arguments, for naming what was refused. */
  inputSchema: z.ZodObject | undefined
  /** Path parameters that are UUIDs in the graph. */
  uuidParams: readonly string[]
}

/** Parses and checks a row; throws an Error that names the route where the row and the schema do not agree. */
export function compileRoute(schema: GraphQLSchema, route: Route): CompiledRoute {
  const fail = (problem: string): never => {
    throw new Error(`route ${route.method.toUpperCase()} ${route.path}: ${problem}`)
  }
  const document = parse(route.operation, { noLocation: true })
  const errors = validate(schema, document)
  if (errors.length > 0) fail(errors.map((error) => error.message).join('; '))

  const operation = document.definitions.find(
    (definition): definition is OperationDefinitionNode => definition.kind === Kind.OPERATION_DEFINITION,
  )!
  const [root, ...others] = operation.selectionSet.selections
  if (root?.kind !== Kind.FIELD || others.length > 0) fail('the operation must have one root field')
  const rootField = root as Extract<typeof root, { kind: Kind.FIELD }>
  const field = schema.getRootType(operation.operation)!.getFields()[rootField.name.value]!
  const facts = field.extensions.facts as OperationFacts | undefined
  if (!facts) fail(`${field.name} was not declared by query() or mutation()`)

  const variableTypes = new Map(
    operation.variableDefinitions?.map((definition) => [
      definition.variable.name.value,
      typeFromAST(schema, definition.type as never) as GraphQLInputType,
    ]),
  )
  const inputType = variableTypes.get('input')
  const fromPath = Object.values(route.params ?? {})
    .filter((target) => target.startsWith('input.'))
    .map((target) => target.slice('input.'.length))

  const typeAt = (target: string): GraphQLInputType => {
    const [variable, member] = target.split('.') as [string, string?]
    const type = variableTypes.get(variable)
    if (!type) return fail(`the operation has no variable $${variable}`)
    if (member === undefined) return type
    const object = getNamedType(type)
    const found = isInputObjectType(object) ? object.getFields()[member] : undefined
    return found ? found.type : fail(`$${variable} has no field ${member}`)
  }
  const uuidParams = Object.entries(route.params ?? {})
    .filter(([, target]) => getNamedType(typeAt(target)).name === 'UUID')
    .map(([name]) => name)
  if (uuidParams.length > 0 && !route.notFound) fail('a UUID in the path needs notFound')
  for (const target of Object.values(route.query ?? {})) typeAt(target)

  const inputObject = inputType && getNamedType(inputType)
  return {
    ...route,
    document,
    rootKey: rootField.alias?.value ?? rootField.name.value,
    isWrite: operation.operation === 'mutation',
    facts: facts!,
    variableTypes,
    body: inputObject && isInputObjectType(inputObject) ? mappingOf(inputObject, fromPath) : undefined,
    inputSchema: (isInputObjectType(inputObject) ? inputObject.extensions.zod : field.extensions.zod) as
      | z.ZodObject
      | undefined,
    uuidParams,
  }
}

/** Whether a query value stands for a number in the graph. */
export const isIntVariable = (type: GraphQLInputType | undefined): boolean =>
  type !== undefined && (isNonNullType(type) ? type.ofType : type).toString() === 'Int'
