import * as z from 'zod'
import { timezone } from '../businesses/bounds.js'
import { int, oneOf } from '../graphql/bounds.js'
import { inputType } from '../graphql/input.js'
import { conditions, fieldNames } from './conditions.js'
import type { FieldName } from './filter.js'
import { PresetId } from './presets.js'

const MAX_PAGE_SIZE = 100

const Pagination = inputType(
  'SegmentPaginationInput',
  z.strictObject(
    { limit: int(1, MAX_PAGE_SIZE).nullish(), offset: int(0, 1_000_000_000).nullish() },
    'must be an object',
  ),
)

/** `bounds` of every condition, each of which may be left out. */
const conditionFields = Object.fromEntries(
  fieldNames.map((field) => [field, conditions[field].bounds.nullish().describe(conditions[field].says)]),
) as { [Field in FieldName]: z.ZodOptional<z.ZodNullable<(typeof conditions)[Field]['bounds']>> }

/** The body of spec §2, Segment filter: a preset, or any fields, all of which have to be met. */
export const SegmentInput = inputType(
  'SegmentInput',
  z
    .strictObject({
      presetId: oneOf('SegmentPresetId', PresetId).nullish().describe('Stands alone, beside pagination.'),
      ...conditionFields,
      timezone: timezone().nullish().describe('IANA zone of hourOfDay and dayOfWeek.'),
      pagination: Pagination.nullish(),
    })
    .check(({ value, issues }) => {
      const refuse = (path: string, message: string) =>
        issues.push({ code: 'custom', path: [path], message, input: value })
      if (value.presetId != null)
        for (const field of [...fieldNames, 'timezone'] as const)
          if (value[field] != null) refuse(field, 'must not be given together with presetId')
      if (value.lastVisitWithinDays != null && value.lastVisitNotWithinDays != null)
        refuse('lastVisitNotWithinDays', 'must not be given together with lastVisitWithinDays')
      if (value.timezone == null)
        for (const field of ['hourOfDay', 'dayOfWeek'] as const)
          if (value[field] != null) refuse('timezone', `required with ${field}`)
    }),
  'A segment: presetId, or any of the other fields, all of which a customer has to meet; without any, everyone.',
)
export type SegmentInput = z.output<typeof SegmentInput>
