import * as z from 'zod'

/**
 * The vocabulary of input: each kind of value with its bounds and the words that refuse it. An input type is
 * one zod object made of these (see input.ts); the graph's input types, the validation and later the OpenAPI
 * document are all derived from it.
 */

/** What a schema is in the graph, where zod's own type does not say it. */
interface FieldMeta {
  graphql?: string
  minLength?: number
  maxLength?: number
  [key: string]: unknown
}
const describe = <S extends z.ZodType>(schema: S, meta: FieldMeta): S => schema.meta(meta) as S

const codePoints = (text: string): number => {
  let count = 0
  for (const _ of text) count++
  return count
}

/**
 * Text of `min` to `max` characters (Unicode code points, as PostgreSQL counts), stored as sent. NUL, which
 * PostgreSQL cannot store, and lone surrogates, which are not text, are refused.
 */
export const text = (min: number, max: number) =>
  describe(
    z.string('must be a string').check((ctx) => {
      const length = ctx.value.length > max || ctx.value.length < min * 2 ? codePoints(ctx.value) : min
      const refuse = (message: string) =>
        ctx.issues.push({ code: 'custom', message, input: ctx.value, continue: true })
      if (length < min) refuse(min === 1 ? 'must not be empty' : `must have at least ${min} characters`)
      if (length > max) refuse(`must have at most ${max} characters`)
      if (ctx.value.includes('\0')) refuse('must not contain NUL characters')
      if (!ctx.value.isWellFormed()) refuse('must be well-formed Unicode')
    }),
    { graphql: 'String', minLength: min, maxLength: max },
  )

/** A whole number from `min` to `max`. */
export const int = (min: number, max: number) =>
  z
    .int({ error: 'must be an integer' })
    .min(min, `must be at least ${min}`)
    .max(max, `must be at most ${max}`)

export const boolean = () => z.boolean('must be true or false')

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** A UUID in any case, and nothing else. */
export const isUuid = (value: unknown): value is string => typeof value === 'string' && UUID.test(value)

/** A UUID, read in any case, kept in lower case. */
export const uuid = () =>
  describe(
    z
      .string('must be a UUID')
      .regex(UUID, 'must be a UUID')
      .transform((value) => value.toLowerCase()),
    { graphql: 'UUID' },
  )

const DATE = /^\d{4}-\d{2}-\d{2}$/

/** Whether `YYYY-MM-DD` names a day of the calendar (V8 would roll 31 February over). */
export function isCalendarDate(value: string): boolean {
  if (!DATE.test(value)) return false
  const date = new Date(`${value}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(value) && value >= '0001-01-01'
}

/** A day, `YYYY-MM-DD`. */
export const date = () =>
  describe(z.string('must be a date (YYYY-MM-DD)').refine(isCalendarDate, 'must be a date (YYYY-MM-DD)'), {
    graphql: 'Date',
  })

const INSTANT =
  /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/

const FIRST_INSTANT = new Date('0001-01-01T00:00:00Z')

/** Reads an ISO 8601 timestamp with a zone; undefined if it is none. */
export function parseInstant(value: string): Date | undefined {
  const match = INSTANT.exec(value)
  if (!match || !isCalendarDate(match[1]!)) return undefined
  const instant = new Date(value)
  // A zone may lead out of the years that a timestamp is written with.
  return Number.isNaN(instant.getTime()) || instant < FIRST_INSTANT ? undefined : instant
}

const TIMESTAMP = 'must be an ISO 8601 timestamp with a time zone'

/** A moment, ISO 8601 with a zone; a Date inside. */
export const instant = () =>
  describe(
    z.union([z.string(), z.date()], TIMESTAMP).transform((value, ctx) => {
      const parsed = typeof value === 'string' ? parseInstant(value) : value
      if (parsed) return parsed
      ctx.issues.push({ code: 'custom', message: TIMESTAMP, input: value })
      return z.NEVER
    }),
    { graphql: 'DateTime' },
  )

/** A decimal number sent as a string, at least `min`, with at most `digits` before and `decimals` after the point. */
export const decimal = (digits: number, decimals: number, { positive = false } = {}) =>
  describe(
    z
      .string('must be a decimal string')
      .regex(
        new RegExp(`^\\d{1,${digits}}(\\.\\d{1,${decimals}})?$`),
        `must be a decimal string with at most ${digits} digits before and ${decimals} after the point`,
      )
      .refine((value) => !positive || /[1-9]/.test(value), 'must be greater than 0'),
    { graphql: 'Decimal' },
  )

/** One of the values of an enum that schema.prisma declares, which the graph knows as `name`. */
export const oneOf = <const E extends Record<string, string>>(name: string, values: E) =>
  describe(z.enum(values, { error: `must be one of ${Object.values(values).join(', ')}` }), { graphql: name })

/** The bytes of a file. */
export const upload = () =>
  describe(z.instanceof(Uint8Array, { error: 'must be a file of a multipart form' }), { graphql: 'Upload' })
