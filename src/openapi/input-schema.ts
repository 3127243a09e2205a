import {
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
} from 'graphql'
import * as z from 'zod'
import { unwrap } from '../graphql/input.js'
import { snakeCase, snakeMessage } from '../rest/naming.js'
import { enumSchema, type JsonSchema, type NamedSchemas, nullable, scalarSchema } from './json-schema.js'

/**
 * Schemas of what a client sends. The zod object behind an input type or a field's arguments says everything: bounds,
 * what may be absent or null, descriptions; the graph's type adds the names.
 */

/** What a body may be sent as: a file goes into a form alone. */
export type BodyKind = 'json' | 'form'

/** Keywords that are bounds of a value; what zod writes beside them is said by the scalar. */
const BOUNDS = ['minimum', 'maximum', 'minLength', 'maxLength', 'pattern', 'minItems', 'maxItems']

function boundsOf(schema: z.ZodType): JsonSchema {
  const written = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema
  return Object.fromEntries(
    BOUNDS.filter(
      (keyword) => written[keyword] !== undefined && !(keyword === 'minLength' && !written[keyword]),
    )
      // A UUID's form is said by its format.
      .filter((keyword) => keyword !== 'pattern' || written.format === undefined)
      .map((keyword) => [keyword, written[keyword]]),
  )
}

/** A value of a type of the graph, within the bounds that its zod schema sets. */
function valueSchema(type: GraphQLInputType, zod: z.ZodType, names: NamedSchemas): JsonSchema {
  const { inner, nullable: mayBeNull } = unwrap(zod)
  const schema =
    inner instanceof z.ZodArray
      ? {
          type: 'array',
          items: valueSchema(type, inner.element as z.ZodType, names),
          ...boundsOf(inner),
        }
      : namedSchema(type, inner, names)
  return mayBeNull ? nullable(schema) : schema
}

function namedSchema(type: GraphQLInputType, zod: z.ZodType, names: NamedSchemas): JsonSchema {
  const named = getNamedType(type)
  if (isInputObjectType(named)) return names.define(named.name, () => objectSchema(named, names))
  if (isEnumType(named)) return enumSchema(named, names)
  const scalar = scalarSchema(named)
  // A format says what a value is made of; the pattern behind it would say it again.
  const { pattern, ...bounds } = boundsOf(zod)
  return { ...scalar, ...bounds, ...(pattern !== undefined && !scalar.format && { pattern }) }
}

/** A parameter of the path or the query; `type` and `zod` are those of the variable that it fills. */
export const parameterSchema = (type: GraphQLInputType, zod: z.ZodType, names: NamedSchemas): JsonSchema =>
  namedSchema(type, unwrap(zod).inner, names)

export const descriptionOf = (zod: z.ZodType): string | undefined => {
  const description = zod.description ?? unwrap(zod).inner.description
  return description === undefined ? undefined : snakeMessage(description)
}

const zodOf = (type: GraphQLInputObjectType): z.ZodObject => type.extensions.zod as z.ZodObject

/** The object of an input type in the body's spelling, without the fields that the path fills. */
export function objectSchema(
  type: GraphQLInputObjectType,
  names: NamedSchemas,
  without: readonly string[] = [],
  kind: BodyKind = 'json',
): JsonSchema {
  const { shape } = zodOf(type)
  const fields = Object.values(type.getFields()).filter(
    ({ name, type: of }) =>
      !without.includes(name) && (kind === 'form' || getNamedType(of).name !== 'Upload'),
  )
  const required = fields.filter(({ name }) => unwrap(shape[name] as z.ZodType).required)
  return {
    type: 'object',
    ...(type.description && without.length === 0 && { description: snakeMessage(type.description) }),
    ...(required.length > 0 && { required: required.map(({ name }) => snakeCase(name)) }),
    properties: Object.fromEntries(
      fields.map(({ name, type: of }) => [snakeCase(name), fieldSchema(of, shape[name] as z.ZodType, names)]),
    ),
    additionalProperties: false,
  }
}

function fieldSchema(type: GraphQLInputType, zod: z.ZodType, names: NamedSchemas): JsonSchema {
  const { defaultValue } = unwrap(zod)
  const description = descriptionOf(zod)
  return {
    ...valueSchema(type, zod, names),
    ...(description !== undefined && { description }),
    ...(defaultValue !== undefined && { default: defaultValue }),
  }
}

/** The schema of an input type by its name in the graph. */
export function inputTypeSchema(schema: GraphQLSchema, name: string, names: NamedSchemas): JsonSchema {
  const type = schema.getType(name)
  if (!isInputObjectType(type)) throw new Error(`OpenAPI: ${name} is no input type`)
  return names.define(name, () => objectSchema(type, names))
}
