import {
  type DirectiveNode,
  type FragmentDefinitionNode,
  type GraphQLNullableType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isEnumType,
  isListType,
  isNonNullType,
  isScalarType,
  Kind,
  type SelectionSetNode,
} from 'graphql'
import { DEFAULT_PAGE_SIZE } from '../graphql/connection.js'
import type { CompiledRoute } from '../rest/compile.js'
import { type FileFormat, fileFormats } from '../rest/file.js'
import { snakeMessage } from '../rest/naming.js'
import { inputTypeSchema } from './input-schema.js'
import {
  enumSchema,
  type JsonSchema,
  type NamedSchemas,
  nullable,
  object,
  scalarSchema,
} from './json-schema.js'

/**
 * Schemas of what the service answers, read off the selection set of a route's operation: a fragment is a named schema,
 * its aliases are the members. They are open: a member that a later version adds breaks nobody.
 */
class OutputSchemas {
  readonly #schema: GraphQLSchema
  readonly #names: NamedSchemas
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>
  /** Members below which null is left out of the answer. */
  readonly #sparse: readonly string[]
  #isBelowSparse = false

  constructor(
    schema: GraphQLSchema,
    { document, sparse = [] }: Pick<CompiledRoute, 'document' | 'sparse'>,
    names: NamedSchemas,
  ) {
    this.#schema = schema
    this.#names = names
    this.#sparse = sparse
    this.#fragments = new Map(
      document.definitions
        .filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION)
        .map((fragment) => [fragment.name.value, fragment]),
    )
  }

  value(type: GraphQLOutputType, selected: SelectionSetNode | undefined): JsonSchema {
    if (isNonNullType(type)) return this.#present(type.ofType, selected)
    const present = this.#present(type, selected)
    return this.#isBelowSparse ? present : nullable(present)
  }

  #object(type: GraphQLObjectType, selected: SelectionSetNode): JsonSchema {
    const optional: string[] = []
    return object(this.members(type, selected, optional), optional)
  }

  #present(type: GraphQLNullableType, selected: SelectionSetNode | undefined): JsonSchema {
    if (isListType(type))
      return { type: 'array', items: this.value(type.ofType as GraphQLOutputType, selected) }
    if (isEnumType(type)) return enumSchema(type, this.#names)
    if (isScalarType(type)) {
      const { ref } = scalarSchema(type)
      return typeof ref === 'string' ? inputTypeSchema(this.#schema, ref, this.#names) : scalarSchema(type)
    }
    const [only, ...others] = selected!.selections
    if (only?.kind === Kind.FRAGMENT_SPREAD && others.length === 0) {
      const name = only.name.value
      const { selectionSet } = this.#fragments.get(name)!
      return this.#names.define(name, () => ({
        ...(type.description && { description: type.description }),
        ...this.#object(type as GraphQLObjectType, selectionSet),
      }))
    }
    return this.#object(type as GraphQLObjectType, selected!)
  }

  /** The members that a selection gives an object, by their names in the answer; notes those that may be left out. */
  members(
    type: GraphQLObjectType,
    { selections }: SelectionSetNode,
    optional: string[] = [],
  ): Record<string, JsonSchema> {
    const members: Record<string, JsonSchema> = {}
    for (const selection of selections) {
      if (isSkipped(selection.directives)) continue
      if (selection.kind === Kind.FIELD) {
        const name = (selection.alias ?? selection.name).value
        const field = type.getFields()[selection.name.value]!
        if (this.#isBelowSparse && !isNonNullType(field.type)) optional.push(name)
        members[name] = {
          ...this.#member(name, field.type, selection.selectionSet),
          ...(field.description && { description: snakeMessage(field.description) }),
        }
      } else {
        const inner =
          selection.kind === Kind.INLINE_FRAGMENT ? selection : this.#fragments.get(selection.name.value)!
        Object.assign(members, this.members(type, inner.selectionSet, optional))
      }
    }
    return members
  }

  #member(name: string, type: GraphQLOutputType, selected: SelectionSetNode | undefined): JsonSchema {
    const outside = this.#isBelowSparse
    this.#isBelowSparse ||= this.#sparse.includes(name)
    const schema = this.value(type, selected)
    this.#isBelowSparse = outside
    return schema
  }
}

/** `@skip(if: true)`: how an operation says that its answer is an empty object. */
const isSkipped = (directives: readonly DirectiveNode[] = []): boolean =>
  directives.some(
    ({ name, arguments: [condition] = [] }) =>
      name.value === 'skip' && condition?.value.kind === Kind.BOOLEAN && condition.value.value,
  )

/** Spec §4, code batches. */
const pagination = object({
  limit: { type: 'integer', minimum: 1, description: `As asked for, or ${DEFAULT_PAGE_SIZE}.` },
  offset: { type: 'integer', minimum: 0 },
  returned: { type: 'integer', minimum: 0 },
  total_count: { type: 'integer', minimum: 0 },
})

/** `data` of a route's answer: the counterpart of `dataOf` in src/rest/run.ts. */
export function dataSchema(schema: GraphQLSchema, route: CompiledRoute, names: NamedSchemas): JsonSchema {
  const { type, selected, outputs } = rootOf(schema, route, names)
  if (route.data === undefined) return object({ [route.rootKey]: outputs.value(type, selected) })
  if (route.data === 'page') {
    const { nodes } = outputs.members(objectType(type), selected!)
    const page = { [route.rootKey]: nodes!, pagination: names.define('Pagination', () => pagination) }
    return object(page)
  }
  const value = outputs.value(type, selected)
  if (route.optional === undefined) return value
  const members = outputs.members(objectType(type), selected!)
  return object(
    Object.fromEntries(
      Object.entries(members).map(([name, member]) => [
        name,
        route.optional!.includes(name) ? withoutNull(member) : member,
      ]),
    ),
    route.optional,
  )
}

/** The contents of a file: content types with their schemas. */
export function fileContent(
  schema: GraphQLSchema,
  route: CompiledRoute,
  names: NamedSchemas,
): [type: string, schema: JsonSchema][] {
  const { type, selected, outputs } = rootOf(schema, route, names)
  const { nodes } = outputs.members(objectType(type), selected!)
  const contents: Record<FileFormat, [string, JsonSchema]> = {
    csv: ['text/csv', { type: 'string', description: `Columns: ${route.columns.join(', ')}.` }],
    json: ['application/json', nodes!],
  }
  return fileFormats.map((format) => contents[format])
}

function rootOf(schema: GraphQLSchema, route: CompiledRoute, names: NamedSchemas) {
  const operation = route.document.definitions.find((each) => each.kind === Kind.OPERATION_DEFINITION)!
  const root = operation.selectionSet.selections.find((each) => each.kind === Kind.FIELD)!
  const { type } = schema.getRootType(operation.operation)!.getFields()[root.name.value]!
  return { type, selected: root.selectionSet, outputs: new OutputSchemas(schema, route, names) }
}

const objectType = (type: GraphQLOutputType): GraphQLObjectType =>
  (isNonNullType(type) ? type.ofType : type) as GraphQLObjectType

/** What is left of a nullable schema where null is left out of the answer. */
function withoutNull(schema: JsonSchema): JsonSchema {
  const { type, anyOf, ...rest } = schema
  if (Array.isArray(type)) return { type: type[0], ...rest }
  return Array.isArray(anyOf) ? { ...anyOf[0], ...rest } : schema
}
