import { createHash } from 'node:crypto'
import {
  type GraphQLInputObjectType,
  type GraphQLInputType,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
} from 'graphql'
import { AppError, type FieldIssue } from '../errors.js'
import { snakeCase } from './naming.js'

/** The fields of an input type by their REST names. */
export type BodyMapping = ReadonlyMap<string, MappedField>

interface MappedField {
  /** In the graph. */
  name: string
  isList: boolean
  /** The mapping of the object, or of the list's objects, that stands here. */
  nested: BodyMapping | undefined
}

const mappings = new Map<GraphQLInputObjectType, BodyMapping>()

/** The mapping of an input type, without the fields that the path fills. */
export function mappingOf(type: GraphQLInputObjectType, without: readonly string[] = []): BodyMapping {
  const mapping = mappings.get(type) ?? buildMapping(type)
  if (without.length === 0) return mapping
  return new Map([...mapping].filter(([, field]) => !without.includes(field.name)))
}

function buildMapping(type: GraphQLInputObjectType): BodyMapping {
  const mapping = new Map<string, MappedField>()
  // Known before it is filled: an input type may contain itself.
  mappings.set(type, mapping)
  for (const { name, type: fieldType } of Object.values(type.getFields()))
    mapping.set(snakeCase(name), {
      name,
      isList: isListType(getNullableType(fieldType)),
      nested: nestedOf(fieldType),
    })
  return mapping
}

const nestedOf = (type: GraphQLInputType): BodyMapping | undefined => {
  const named = getNamedType(type)
  return isInputObjectType(named) ? mappingOf(named) : undefined
}

/**
 * The body in the graph's spelling. Unknown keys are left out and named in `issues`, in the body's spelling, and so
 * is a single value where a list belongs, which GraphQL would take for a list of one; other values of a wrong kind
 * pass, for validation to refuse.
 */
export function toInput(mapping: BodyMapping, body: unknown, issues: FieldIssue[], at = ''): unknown {
  if (Array.isArray(body)) return body.map((item, index) => toInput(mapping, item, issues, `${at}${index}.`))
  if (typeof body !== 'object' || body === null) return body
  const input: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(body)) {
    const field = mapping.get(key)
    const path = at + key
    if (!field) issues.push({ path, message: 'unknown field' })
    else if (field.isList && value !== null && !Array.isArray(value))
      issues.push({ path, message: 'must be an array' })
    else input[field.name] = field.nested ? toInput(field.nested, value, issues, `${path}.`) : value
  }
  return input
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const MAX_DEPTH = 32

/** The JSON of a request body; throws INVALID_JSON for broken UTF-8, broken JSON, or nesting past any use. */
export function parseJson(bytes: Uint8Array): unknown {
  const value = decoded(bytes)
  if (depthExceeds(value, MAX_DEPTH)) throw new AppError('INVALID_JSON')
  return value
}

function decoded(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(bytes))
  } catch {
    throw new AppError('INVALID_JSON')
  }
}

const depthExceeds = (value: unknown, levels: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((member) => depthExceeds(member, levels - 1)))

/**
 * JSON with sorted keys: equal bodies have equal texts, however they were written. For the bytes of a file stands their
 * hash, in a form that no JSON has.
 */
export function canonicalJson(value: unknown): string {
  if (value instanceof Uint8Array) return `sha256:${createHash('sha256').update(value).digest('hex')}`
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`)
    return `{${members.join(',')}}`
  }
  return JSON.stringify(value) ?? 'null'
}
