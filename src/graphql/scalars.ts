import { GraphQLError } from 'graphql'
import { isCalendarDate, isUuid, parseInstant } from './bounds.js'
import { builder } from './builder.js'

const refuse = (what: string): never => {
  throw new GraphQLError(`must be ${what}`)
}

/** What a scalar is in JSON, for the OpenAPI document; `{ ref }` = the same as an input type. */
const inJson = (jsonSchema: Readonly<Record<string, unknown>>) => ({ extensions: { jsonSchema } })

builder.scalarType('UUID', {
  ...inJson({ type: 'string', format: 'uuid' }),
  description: 'A UUID; read in any case, written in lower case.',
  serialize: (value) => value,
  parseValue: (value) => (isUuid(value) ? value.toLowerCase() : refuse('a UUID')),
})

builder.scalarType('DateTime', {
  ...inJson({ type: 'string', format: 'date-time' }),
  description: 'A moment: ISO 8601 with a time zone; written in UTC with milliseconds.',
  serialize: (value) => (value instanceof Date ? value.toISOString() : value),
  parseValue: (value) =>
    (typeof value === 'string' && parseInstant(value)) || refuse('an ISO 8601 timestamp with a time zone'),
})

builder.scalarType('Date', {
  ...inJson({ type: 'string', format: 'date' }),
  description: 'A day of the calendar, `YYYY-MM-DD`.',
  // A Date comes from Prisma, which reads a `date` column as midnight UTC.
  serialize: (value) => (value instanceof Date ? value.toISOString().slice(0, 10) : value),
  parseValue: (value) =>
    typeof value === 'string' && isCalendarDate(value) ? value : refuse('a date (YYYY-MM-DD)'),
})

builder.scalarType('Decimal', {
  ...inJson({ type: 'string', pattern: '^\\d+(\\.\\d+)?$' }),
  description: 'An exact decimal number, as a string.',
  serialize: (value) => value.toString(),
  parseValue: (value) =>
    typeof value === 'string' && /^\d+(\.\d+)?$/.test(value) ? value : refuse('a decimal string'),
})

builder.scalarType('SafeInt', {
  ...inJson({ type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
  description: 'A whole number up to 2^53 - 1: sums, counts and money in minor units.',
  serialize: (value) => Number(value),
  parseValue: (value) =>
    typeof value === 'number' && Number.isSafeInteger(value) ? value : refuse('a safe integer'),
})

builder.scalarType('WeekSchedule', {
  ...inJson({ ref: 'WeekScheduleInput' }),
  description:
    'Opening hours by weekday: `{"monday": {"active": true, "start": "09:00", "end": "17:00"}, …}`. A day left out is unrestricted.',
  serialize: (value) => value,
  parseValue: () => refuse('read only; see WeekScheduleInput'),
})

const count = { type: 'integer', minimum: 0 }

builder.scalarType('RatingDistribution', {
  ...inJson({
    type: 'object',
    required: ['1', '2', '3', '4', '5'],
    properties: { 1: count, 2: count, 3: count, 4: count, 5: count },
  }),
  description: 'How often each number of stars was given: `{"1": 0, "2": 0, "3": 1, "4": 5, "5": 9}`.',
  serialize: (value) => value,
  parseValue: () => refuse('read only'),
})

builder.scalarType('Upload', {
  ...inJson({ type: 'string', format: 'binary' }),
  description: 'The bytes of a file: REST alone takes them, as a part of a multipart form.',
  serialize: () => refuse('input only'),
  parseValue: (value) => (value instanceof Uint8Array ? value : refuse('a file of a multipart form')),
})
