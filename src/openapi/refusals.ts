import { errorAdvice } from '../errors.advice.js'
import { catalogue, type ErrorCode } from '../errors.js'
import type { CompiledRoute } from '../rest/compile.js'
import { type JsonSchema, object } from './json-schema.js'

/** Whatever is asked. */
const always: readonly ErrorCode[] = [
  'INVALID_INPUT',
  'BUSINESS_SUSPENDED',
  'RATE_LIMIT_EXCEEDED',
  'INTERNAL',
  'UNAVAILABLE',
]
/** Of whoever shows a key or a token. */
const ofHolders: readonly ErrorCode[] = ['INVALID_API_KEY', 'INSUFFICIENT_SCOPE']
/** Of a request that may have a body. */
const ofBodies: readonly ErrorCode[] = [
  'INVALID_JSON',
  'NOT_AN_OBJECT',
  'BODY_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
]
/** Of a write, which takes an Idempotency-Key. */
const ofWrites: readonly ErrorCode[] = [
  'INVALID_IDEMPOTENCY_KEY',
  'IDEMPOTENCY_KEY_IN_USE',
  'IDEMPOTENCY_KEY_REUSED',
  'CUSTOMER_ERASED',
]

/** Every refusal that a route may answer with, by status: its own, and those that its kind brings with it. */
export function refusalsOf(route: CompiledRoute): Map<number, ErrorCode[]> {
  const codes = new Set<ErrorCode>([
    ...always,
    ...(route.facts.alsoFor === 'strangers' ? [] : ofHolders),
    ...(route.method === 'get' ? [] : ofBodies),
    ...(route.csv ? (['INVALID_CSV'] as const) : []),
    ...(route.multipart ? (['INVALID_MULTIPART'] as const) : []),
    ...(route.isWrite ? ofWrites : []),
    ...route.pathFields.values(),
    ...route.facts.errors,
  ])
  const byStatus = new Map<number, ErrorCode[]>()
  // In the order of the catalogue.
  for (const code of Object.keys(catalogue) as ErrorCode[]) {
    if (!codes.has(code)) continue
    const { status } = catalogue[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  return byStatus
}

/** Which refusals say in `Retry-After` when to come again. */
const saysWhen: ReadonlySet<ErrorCode> = new Set([
  'RATE_LIMIT_EXCEEDED',
  'UNAVAILABLE',
  'IDEMPOTENCY_KEY_IN_USE',
])

const header = (name: string) => ({ $ref: `#/components/headers/${name}` })

/** The headers of every answer (spec §8; docs: decisions, HTTP). */
export const commonHeaders = Object.fromEntries(
  ['X-Request-Id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'].map((name) => [
    name,
    header(name),
  ]),
)

export const replayedHeader = { 'Idempotency-Replayed': header('Idempotency-Replayed') }

/** The answer of a status, with every message that it may bear. */
export function refusalResponse(codes: readonly ErrorCode[], isWrite: boolean): JsonSchema {
  return {
    description: codes.map((code) => `\`${code}\`: ${errorAdvice[code]?.when ?? code}`).join('\n\n'),
    headers: {
      ...commonHeaders,
      ...(codes.includes('METHOD_NOT_ALLOWED') && { Allow: header('Allow') }),
      ...(codes.some((code) => saysWhen.has(code)) && { 'Retry-After': header('Retry-After') }),
      ...(isWrite && codes.some((code) => 'storable' in catalogue[code]) && replayedHeader),
    },
    content: { 'application/json': { schema: errorSchema(codes) } },
    'x-error-codes': codes,
  }
}

/** The error envelope of spec §2. */
function errorSchema(codes: readonly ErrorCode[]): JsonSchema {
  const messages = codes.map(messageSchema)
  const message = messages.length === 1 ? messages[0]! : { type: 'string', anyOf: messages }
  const limited: Record<string, JsonSchema> = codes.includes('RATE_LIMIT_EXCEEDED')
    ? {
        type: { type: 'string', const: 'RATE_LIMIT_EXCEEDED' },
        retryAfter: { type: 'integer', minimum: 1, description: 'Seconds.' },
      }
    : {}
  return object({ success: { type: 'boolean', const: false }, error: object({ message, ...limited }) })
}

const PLACEHOLDER = '\u0000'

/** The text of a refusal: of one that carries a value, the pattern of it. */
function messageSchema(code: ErrorCode): JsonSchema {
  // It names the fields that were refused, in words; a message that is nothing but a code is another refusal's.
  if (code === 'INVALID_INPUT') return { type: 'string', pattern: '^(?![A-Z]+_[A-Z_]+(:|$))', title: code }
  const { message } = catalogue[code]
  if (typeof message === 'string') return { type: 'string', const: message, title: code }
  const pattern = message(PLACEHOLDER)
    .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replace(PLACEHOLDER, '.+')
  return { type: 'string', pattern: `^${pattern}$`, title: code }
}
