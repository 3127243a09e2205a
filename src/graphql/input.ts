import type { InputRef } from '@pothos/core'
import * as z from 'zod'
import { type FieldIssue, InvalidInput } from '../errors.js'
import { builder } from './builder.js'
import { enumRef } from './enums.js'

/**
 * Input types of the graph, derived from zod objects: fields, required-ness and nesting come from the schema,
 * so a shape and its bounds are written once. `null` passes where a field is `.nullish()`.
 */

interface Unwrapped {
  inner: z.ZodType
  required: boolean
  nullable: boolean
  defaultValue: unknown
}

/** A field's schema without what says that it may be absent or null. */
export function unwrap(schema: z.ZodType): Unwrapped {
  if (schema instanceof z.ZodOptional) return { ...unwrap(schema.unwrap() as z.ZodType), required: false }
  if (schema instanceof z.ZodNullable)
    return { ...unwrap(schema.unwrap() as z.ZodType), required: false, nullable: true }
  if (schema instanceof z.ZodDefault) {
    const inner = unwrap(schema.unwrap() as z.ZodType)
    return { ...inner, required: false, defaultValue: schema.def.defaultValue }
  }
  return { inner: schema, required: true, nullable: false, defaultValue: undefined }
}

const inputs = new WeakMap<z.ZodType, InputRef<unknown>>()

// biome-ignore lint/suspicious/noExplicitAny: Pothos infers input types from literals; these come from data
type AnyType = any

function graphqlType(schema: z.ZodType, where: string): AnyType {
  if (schema instanceof z.ZodArray) {
    const item = unwrap(schema.element as z.ZodType)
    return [graphqlType(item.inner, where)]
  }
  const meta = schema.meta() as { graphql?: string } | undefined
  if (schema instanceof z.ZodEnum) return enumRef(meta?.graphql ?? '', schema.options as string[])
  if (meta?.graphql) return meta.graphql
  if (schema instanceof z.ZodString) return 'String'
  if (schema instanceof z.ZodBoolean) return 'Boolean'
  if (schema instanceof z.ZodNumber) return 'Int'
  const ref = inputs.get(schema)
  if (ref) return ref
  throw new Error(`${where}: no type of the graph is known for this zod schema`)
}

type FieldBuilder = (options: object) => AnyType

/** Arguments or input fields for each key of a zod object. */
export function fieldsOf(name: string, schema: z.ZodObject, make: FieldBuilder): Record<string, AnyType> {
  return Object.fromEntries(
    Object.entries(schema.shape).map(([key, value]) => {
      const { inner, required, defaultValue } = unwrap(value as z.ZodType)
      const description = (value as z.ZodType).description ?? inner.description
      return [
        key,
        make({
          type: graphqlType(inner, `${name}.${key}`),
          required,
          ...(defaultValue === undefined ? {} : { defaultValue }),
          ...(description === undefined ? {} : { description }),
        }),
      ]
    }),
  )
}

/** Declares the input type `name`; the returned schema is the argument itself. */
export function inputType<S extends z.ZodObject>(name: string, schema: S, description?: string): S {
  const ref = builder.inputRef(name)
  inputs.set(schema, ref as InputRef<unknown>)
  ref.implement({
    ...(description === undefined ? {} : { description }),
    extensions: { zod: schema },
    fields: ((t: { field: FieldBuilder }) => fieldsOf(name, schema, (options) => t.field(options))) as never,
  })
  return schema
}

/** The graph's input type of a schema that `inputType` declared. */
export const inputRefOf = (schema: z.ZodObject): InputRef<unknown> => {
  const ref = inputs.get(schema)
  if (!ref) throw new Error('declare the input with inputType() first')
  return ref
}

const required = 'required'

/** zod's issues as refused fields, paths joined by dots; a missing value is always called required. */
export function issuesOf(error: z.ZodError, value: unknown): FieldIssue[] {
  const issues: FieldIssue[] = []
  for (const issue of error.issues) {
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys)
        issues.push({ path: [...issue.path, key].join('.'), message: 'unknown field' })
      continue
    }
    const missing = issue.code !== 'custom' && at(value, issue.path) === undefined && issue.path.length > 0
    issues.push({ path: issue.path.join('.'), message: missing ? required : issue.message })
  }
  return issues
}

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  let current = value
  for (const key of path) {
    if (typeof current !== 'object' || current === null) return undefined
    current = (current as Record<PropertyKey, unknown>)[key]
  }
  return current
}

/** The value as the schema reads it; throws InvalidInput that names every refused field. */
export function validated<S extends z.ZodObject>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw new InvalidInput(issuesOf(parsed.error, value))
}
