import * as z from 'zod'
import {
  BirthdayWindowMode,
  CooldownMode,
  DeliveryMode,
  DigitalAssetSource,
  DigitalAssetType,
  RewardType,
  TierGateMode,
  TimeUnit,
} from '../database/generated/prisma/client.js'
import { boolean, date, int, oneOf, text, uuid } from '../graphql/bounds.js'
import { inputType } from '../graphql/input.js'
import { IMAGE_DESCRIPTION, imageFields, publicHttpsUrl } from '../images/image-input.js'

/**
 * The writable fields of a reward, each with its own bounds (spec §2, Reward; docs: decisions, HTTP). What holds
 * between fields stands in terms.rules.ts.
 */

const NOT_AN_OBJECT = 'must be an object'
const MAX_POINTS_COST = 1_000_000_000
const MAX_CASHBACK_CENTS = 1_000_000_000
const MAX_REDEMPTIONS = 1_000_000
const MAX_TIER_OVERRIDES = 50
const MAX_EARLY_ACCESS_HOURS = 8760

/** A number of cooldowns and absences. */
const amount = () => int(1, 1000)
const birthdayDays = () => int(0, 366)

const TIME_OF_DAY = 'must be a time of day from 00:00 to 23:59 (HH:MM)'
const timeOfDay = () =>
  z
    .string(TIME_OF_DAY)
    .regex(/^([01]\d|2[0-3]):[0-5]\d$/, TIME_OF_DAY)
    .meta({ graphql: 'String' })

const DayHoursInput = inputType(
  'DayHoursInput',
  z
    .strictObject(
      { active: boolean(), start: timeOfDay().nullish(), end: timeOfDay().nullish() },
      NOT_AN_OBJECT,
    )
    .check(({ value, issues }) => {
      if (!value.active) return
      for (const field of ['start', 'end'] as const)
        if (value[field] == null)
          issues.push({
            code: 'custom',
            path: [field],
            message: 'required when active is true',
            input: value,
          })
    }),
  'Hours of one weekday: start inclusive, end exclusive; an end before the start runs past midnight.',
)

const day = () => DayHoursInput.optional()
const WeekScheduleInput = inputType(
  'WeekScheduleInput',
  z.strictObject(
    {
      monday: day(),
      tuesday: day(),
      wednesday: day(),
      thursday: day(),
      friday: day(),
      saturday: day(),
      sunday: day(),
    },
    NOT_AN_OBJECT,
  ),
  'Opening hours by weekday; a day left out is unrestricted.',
)

const TierGateInput = inputType(
  'TierGateInput',
  z.strictObject({ mode: oneOf('TierGateMode', TierGateMode), tierId: uuid() }, NOT_AN_OBJECT),
  'Restricts a reward to a tier: from it upwards by rank, or to it alone.',
)

const cooldownNumbers = {
  cooldownCount: amount().nullish().describe('At most so many completed redemptions by one customer …'),
  cooldownAmount: amount().nullish().describe('… within so many …'),
  cooldownUnit: oneOf('TimeUnit', TimeUnit).nullish().describe('… of these.'),
}

const TierOverrideInput = inputType(
  'TierOverrideInput',
  z.strictObject(
    {
      tierId: uuid(),
      cooldownMode: oneOf('CooldownMode', CooldownMode).nullish(),
      ...cooldownNumbers,
      earlyAccessHours: int(0, MAX_EARLY_ACCESS_HOURS)
        .nullish()
        .describe('Opens the reward that many hours before startDate.'),
    },
    NOT_AN_OBJECT,
  ),
  'What a reward does differently for customers of one tier; an absent field inherits from the reward.',
)

const tierOverrides = z
  .array(TierOverrideInput, 'must be an array')
  .max(MAX_TIER_OVERRIDES, `must have at most ${MAX_TIER_OVERRIDES} elements`)
  .check(({ value, issues }) => {
    const seen = new Set<string>()
    for (const [index, { tierId }] of value.entries()) {
      if (seen.has(tierId))
        issues.push({
          code: 'custom',
          path: [index, 'tierId'],
          message: 'given more than once',
          input: value,
        })
      seen.add(tierId)
    }
  })

const name = text(1, 200)
const pointsCost = int(0, MAX_POINTS_COST)

/** All but name and cost, which a new reward needs; `nullish` fields are cleared by null. */
const optionalFields = {
  description: text(0, 5000).nullish(),
  active: boolean().optional(),
  type: oneOf('RewardType', RewardType).optional().describe('Default item.'),
  cashbackCents: int(0, MAX_CASHBACK_CENTS).nullish().describe('Required for type cashback, else refused.'),
  startDate: date().nullish().describe("First day, in the business's zone."),
  endDate: date().nullish().describe('Last day, included.'),
  timeActive: WeekScheduleInput.nullish().describe('Null = at any time. Replaced whole.'),
  conditions: text(0, 1000).nullish().describe('Shown to customers and returned on validation.'),
  cooldownMode: oneOf('CooldownMode', CooldownMode).optional().describe('Default none.'),
  ...cooldownNumbers,
  absenceAmount: amount().nullish().describe('Only for customers absent this long; with absenceUnit.'),
  absenceUnit: oneOf('TimeUnit', TimeUnit).nullish(),
  birthday: boolean().optional().describe('Only around the birthday of the customer.'),
  birthdayWindowMode: oneOf('BirthdayWindowMode', BirthdayWindowMode).nullish().describe('Default exact.'),
  birthdayDaysBefore: birthdayDays().nullish(),
  birthdayDaysAfter: birthdayDays().nullish(),
  tierGate: TierGateInput.nullish(),
  tierOverrides: tierOverrides.nullish().describe('Replaced whole; one per tier.'),
  maxRedemptions: int(1, MAX_REDEMPTIONS)
    .nullish()
    .describe('Cap on completed redemptions of all customers; null = none.'),
  deliveryMode: oneOf('DeliveryMode', DeliveryMode).optional().describe('Default in_store.'),
  digitalAssetType: oneOf('DigitalAssetType', DigitalAssetType).nullish(),
  digitalAssetSource: oneOf('DigitalAssetSource', DigitalAssetSource).optional().describe('Default static.'),
  digitalAssetValue: text(1, 500).nullish().describe('The value that every customer gets (source static).'),
  digitalWebhookUrl: publicHttpsUrl.nullish().describe('Public https address (source external).'),
  digitalEmailDelivery: boolean().nullish().describe('Also e-mail the code or link.'),
}

export const CreateReward = inputType(
  'CreateRewardInput',
  z.strictObject({ name, pointsCost, ...optionalFields }),
)

export const UpdateReward = inputType(
  'UpdateRewardInput',
  z.strictObject({ id: uuid(), name: name.optional(), pointsCost: pointsCost.optional(), ...optionalFields }),
  'An absent field stays as it is, null clears; rules are judged on the merged reward.',
)

export const DeleteReward = inputType('DeleteRewardInput', z.strictObject({ id: uuid() }))

export const SetRewardImage = inputType(
  'SetRewardImageInput',
  z.strictObject({ id: uuid(), ...imageFields }),
  IMAGE_DESCRIPTION,
)

export const DeleteRewardImage = inputType('DeleteRewardImageInput', z.strictObject({ id: uuid() }))
