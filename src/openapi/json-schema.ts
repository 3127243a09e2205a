import { isDeepStrictEqual } from 'node:util'
import type { GraphQLEnumType, GraphQLScalarType } from 'graphql'

/** JSON Schema 2020-12, the dialect of OpenAPI 3.1. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/** The schemas that have a name, each defined once however often it is used. */
export class NamedSchemas {
  readonly #schemas = new Map<string, JsonSchema | undefined>()

  /** A reference to the schema of this name; throws where the name stands for two different schemas. */
  define(name: string, build: () => JsonSchema): JsonSchema {
    const ref = { $ref: `#/components/schemas/${name}` }
    const known = this.#schemas.get(name)
    // Named before it is built: a type may contain itself.
    if (this.#schemas.has(name) && known === undefined) return ref
    if (known === undefined) this.#schemas.set(name, undefined)
    const schema = build()
    if (known !== undefined && !isDeepStrictEqual(known, schema))
      throw new Error(`OpenAPI: ${name} is the name of two different schemas`)
    this.#schemas.set(name, schema)
    return ref
  }

  /** All of them, in alphabetical order. */
  all(): Record<string, JsonSchema> {
    return Object.fromEntries(
      [...this.#schemas]
        .map(([name, schema]) => [name, schema!] as const)
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    )
  }
}

export const nullable = (schema: JsonSchema): JsonSchema =>
  typeof schema.type === 'string'
    ? { ...schema, type: [schema.type, 'null'] }
    : { anyOf: [schema, { type: 'null' }] }

/** An object of which every member is there, but for the optional ones. */
export const object = (
  properties: Readonly<Record<string, JsonSchema>>,
  optional: readonly string[] = [],
): JsonSchema => {
  const required = Object.keys(properties).filter((name) => !optional.includes(name))
  return { type: 'object', ...(required.length > 0 && { required }), properties }
}

export const enumSchema = (type: GraphQLEnumType, names: NamedSchemas): JsonSchema =>
  names.define(type.name, () => ({ type: 'string', enum: type.getValues().map(({ name }) => name) }))

const INT32 = { minimum: -(2 ** 31), maximum: 2 ** 31 - 1 }

const builtIn: Record<string, JsonSchema> = {
  Int: { type: 'integer', format: 'int32', ...INT32 },
  Float: { type: 'number' },
  String: { type: 'string' },
  Boolean: { type: 'boolean' },
  ID: { type: 'string' },
}

/** What a scalar is in JSON: known of GraphQL's own, said by those of src/graphql/scalars.ts. */
export function scalarSchema(type: GraphQLScalarType): JsonSchema {
  const schema = builtIn[type.name] ?? (type.extensions.jsonSchema as JsonSchema | undefined)
  if (!schema) throw new Error(`OpenAPI: the scalar ${type.name} does not say what it is in JSON`)
  return schema
}
