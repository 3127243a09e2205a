import { type GraphQLInputObjectType, type GraphQLInputType, getNamedType, isInputObjectType } from 'graphql'
import { AppError, type FieldIssue } from '../errors.js'
import { snakeCase } from './naming.js'

/** The fields of an input type by their REST names. */
export interface BodyMapping {
  fields: ReadonlyMap<string, { name: string; nested: () => BodyMapping | undefined }>
}

const mappings = new Map<GraphQLInputObjectType, BodyMapping>()

/** The mapping of an input type, without the fields that the path fills. */
export function mappingOf(type: GraphQLInputObjectType, without: readonly string[] = []): BodyMapping {
  const known = without.length === 0 ? mappings.get(type) : undefined
  if (known) return known
  const mapping: BodyMapping = {
    fields: new Map(
      Object.values(type.getFields())
        .filter((field) => !without.includes(field.name))
        .map((field) => [snakeCase(field.name), { name: field.name, nested: () => nestedOf(field.type) }]),
    ),
  }
  if (without.length === 0) mappings.set(type, mapping)
  return mapping
}

const nestedOf = (type: GraphQLInputType): BodyMapping | undefined => {
  const named = getNamedType(type)
  return isInputObjectType(named) ? mappingOf(named) : undefined
}

/**
 * The body in the graph's spelling. Unknown keys are left out and named in `issues`, in the body's spelling;
 * values of a wrong kind pass, for validation to refuse.
 */
export function toInput(mapping: BodyMapping, body: unknown, issues: FieldIssue[], at = ''): unknown {
  if (Array.isArray(body)) return body.map((item, index) => toInput(mapping, item, issues, `${at}${index}.`))
  if (typeof body !== 'object' || body === null) return body
  const input: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(body)) {
    const field = mapping.fields.get(key)
    if (!field) {
      issues.push({ path: at + key, message: 'unknown field' })
      continue
    }
    const nested = typeof value === 'object' && value !== null ? field.nested() : undefined
    input[field.name] = nested ? toInput(nested, value, issues, `${at}${key}.`) : value
  }
  return input
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const MAX_DEPTH = 32

/** The JSON of a request body; throws INVALID_JSON for broken UTF-8, broken JSON, or nesting past any use. */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    const value: unknown = JSON.parse(decoder.decode(bytes))
    if (depthExceeds(value, MAX_DEPTH)) throw new SyntaxError('nested too deeply')
    return value
  } catch {
    throw new AppError('INVALID_JSON')
  }
}

const depthExceeds = (value: unknown, levels: number): boolean => {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  for (const key in value)
    if (depthExceeds((value as Record<string, unknown>)[key], levels - 1)) return true
  return false
}

/** JSON with sorted keys: equal bodies have equal texts, however they were written. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`)
    return `{${members.join(',')}}`
  }
  return JSON.stringify(value) ?? 'null'
}
