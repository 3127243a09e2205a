import {
  type DocumentNode,
  type FieldNode,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isInputObjectType,
  Kind,
  type OperationDefinitionNode,
  parse,
  typeFromAST,
  validate,
} from 'graphql'
import type * as z from 'zod'
import { catalogue, type ErrorCode, type PlainCode } from '../errors.js'
import type { OperationFacts } from '../graphql/fields.js'
import { type BodyMapping, mappingOf } from './body.js'
import { type Executor, executorOf } from './executor.js'
import { columnsOf } from './file.js'
import type { Route } from './route.js'

/** A route whose operation was parsed and checked against the schema. */
export interface CompiledRoute extends Route {
  /** `GET /rewards/:id`: in logs and refusals to start. */
  name: string
  /** What its operation does, in a sentence. */
  description: string
  document: DocumentNode
  /** Types of the operation's variables by their names. */
  variables: VariableTypes
  execute: Executor
  /** Response key of the one root field: the name under which its value stands in the result. */
  rootKey: string
  /** A mutation: takes an Idempotency-Key, which is kept for a business. */
  isWrite: boolean
  facts: OperationFacts
  /** Query parameters by name: the variable each fills, and whether that is a number. */
  queryTargets: ReadonlyMap<string, { target: string; isInt: boolean }>
  /** How the body becomes `input`; undefined = the operation takes no body. */
  body: BodyMapping | undefined
  /** The zod object behind the operation's input or arguments, for naming what was refused. */
  inputSchema: z.ZodObject | undefined
  /** The fields that the path fills, each with what a value answers that cannot be one: the same as nothing there. */
  pathFields: ReadonlyMap<string, PlainCode>
  /** Of the file that is the answer. */
  columns: readonly string[]
}

/** Parses and checks a row; throws an Error that names the route where the row and the schema do not agree. */
export function compileRoute(schema: GraphQLSchema, route: Route): CompiledRoute {
  const name = `${route.method.toUpperCase()} ${route.path}`
  try {
    return { ...route, name, ...compiled(schema, route) }
  } catch (error) {
    throw new Error(`route ${name}: ${(error as Error).message}`, { cause: error })
  }
}

const compiledTables = new WeakMap<readonly Route[], readonly CompiledRoute[]>()

/** The table compiled for the one schema of the process, once for all apps in it. */
export function compileRoutes(schema: GraphQLSchema, routes: readonly Route[]): readonly CompiledRoute[] {
  const compiled = compiledTables.get(routes) ?? compileTable(schema, routes)
  compiledTables.set(routes, compiled)
  return compiled
}

/** Literal paths before those with parameters, whatever the order of the rows: `/customers/lookup` is no user id. */
function compileTable(schema: GraphQLSchema, routes: readonly Route[]): readonly CompiledRoute[] {
  const compiled = routes.map((row) => compileRoute(schema, row))
  const twice = compiled.find(({ name }, index) => compiled.findIndex((other) => other.name === name) < index)
  if (twice) throw new Error(`route ${twice.name}: stands in the table twice`)
  return compiled.sort((a, b) => Object.keys(a.params ?? {}).length - Object.keys(b.params ?? {}).length)
}

function compiled(schema: GraphQLSchema, route: Route): Omit<CompiledRoute, keyof Route | 'name'> {
  const document = parse(route.operation, { noLocation: true })
  const errors = validate(schema, document)
  if (errors.length > 0) throw new Error(errors.map((error) => error.message).join('; '))

  const operation = operationOf(document)
  const root = rootOf(operation)
  const field = schema.getRootType(operation.operation)!.getFields()[root.name.value]
  const facts = field?.extensions.facts as OperationFacts | undefined
  if (!field || !facts) throw new Error(`${root.name.value} was not declared by query() or mutation()`)

  const variables = variablesOf(schema, operation)
  const { params = {}, query = {} } = route
  checkSources(route, variables)
  const input = getNamedType(variables.get('input'))
  return {
    description: field.description ?? '',
    document,
    variables,
    execute: executorOf(schema, document, facts),
    rootKey: root.alias?.value ?? root.name.value,
    isWrite: operation.operation === 'mutation' && !facts.storesNothing && facts.alsoFor !== 'strangers',
    facts,
    queryTargets: new Map(
      Object.entries(query).map(([name, target]) => [
        name,
        { target, isInt: getNullableType(typeAt(variables, target)).toString() === 'Int' },
      ]),
    ),
    body: isInputObjectType(input) ? mappingOf(input, Object.values(params).map(fieldOf)) : undefined,
    inputSchema: (isInputObjectType(input) ? input : field).extensions.zod as z.ZodObject | undefined,
    pathFields: pathFieldsOf(route, facts, variables),
    columns: route.file === undefined ? [] : columnsOf(root),
  }
}

function operationOf({ definitions }: DocumentNode): OperationDefinitionNode {
  const [operation, ...others] = definitions.filter(
    (definition) => definition.kind === Kind.OPERATION_DEFINITION,
  )
  if (!operation || others.length > 0) throw new Error('there must be one operation')
  return operation
}

function rootOf({ selectionSet }: OperationDefinitionNode): FieldNode {
  const [root, ...others] = selectionSet.selections
  if (root?.kind !== Kind.FIELD || others.length > 0)
    throw new Error('the operation must have one root field')
  return root
}

type VariableTypes = ReadonlyMap<string, GraphQLInputType>

const variablesOf = (schema: GraphQLSchema, operation: OperationDefinitionNode): VariableTypes =>
  new Map(
    operation.variableDefinitions?.map((definition) => [
      definition.variable.name.value,
      typeFromAST(schema, definition.type as never) as GraphQLInputType,
    ]),
  )

/** The field of the input, or the argument, that a target names. */
export const fieldOf = (target: string): string => target.replace(/^input\./, '')

const isNotFound = (code: ErrorCode): code is PlainCode => catalogue[code].status === 404

function pathFieldsOf(
  { params = {}, notFound }: Route,
  { errors }: OperationFacts,
  variables: VariableTypes,
) {
  return new Map(
    Object.entries(params).map(([name, target]) => {
      const isUuid = getNamedType(typeAt(variables, target)).name === 'UUID'
      const code = isUuid ? notFound : errors.find(isNotFound)
      if (!code)
        throw new Error(`:${name} needs ${isUuid ? 'notFound' : 'a 404 among the errors of its operation'}`)
      return [fieldOf(target), code]
    }),
  )
}

/** Each parameter of the path fills a variable, and each variable is filled by path, query or body, or with a file's position. */
function checkSources({ path, params = {}, query = {}, file, csv }: Route, variables: VariableTypes): void {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!)
  for (const name of inPath) if (!params[name]) throw new Error(`:${name} fills no variable`)
  for (const name of Object.keys(params))
    if (!inPath.includes(name)) throw new Error(`:${name} is not in the path`)
  const filled = new Set(['input'])
  const further = [...(file === undefined ? [] : ['after']), ...(csv ? [`input.${csv.fills}`] : [])]
  for (const target of [...Object.values(params), ...Object.values(query), ...further]) {
    typeAt(variables, target)
    filled.add(target.split('.')[0]!)
  }
  for (const variable of variables.keys())
    if (!filled.has(variable)) throw new Error(`nothing fills $${variable}`)
}

/** The type of a variable or, behind a dot, of a field of one. */
export function typeAt(variables: VariableTypes, target: string): GraphQLInputType {
  const [variable, member] = target.split('.') as [string, string?]
  const type = variables.get(variable)
  if (!type) throw new Error(`the operation has no variable $${variable}`)
  if (member === undefined) return type
  const object = getNamedType(type)
  const field = isInputObjectType(object) ? object.getFields()[member] : undefined
  if (!field) throw new Error(`$${variable} has no field ${member}`)
  return field.type
}
