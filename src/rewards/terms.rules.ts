/**
 * What a business may say of a reward (spec section 2, Reward). Pure. Creating is changing a blank reward, so
 * that both obey the same rules; each rule is judged on the merged record.
 */
import type {
  BirthdayWindowMode,
  DeliveryMode,
  DigitalAssetSource,
  DigitalAssetType,
  RewardType,
  TierGateMode,
} from '../database/generated/prisma/client.js'
import { type FieldIssue, InvalidInput } from '../errors.js'
import type { TimeUnit } from '../time.js'
import type { CooldownMode } from './cooldown.rules.js'
import type { TierOverride } from './eligibility.rules.js'
import type { TimeActive } from './schedule.rules.js'

/** Every writable field but `active`. */
export interface RewardTerms {
  name: string
  description: string | null
  type: RewardType
  cashbackCents: number | null
  pointsCost: number
  /** First and last local day, `YYYY-MM-DD`, both included. */
  startDate: string | null
  endDate: string | null
  timeActive: TimeActive | null
  conditions: string | null
  cooldownMode: CooldownMode
  cooldownCount: number | null
  cooldownAmount: number | null
  cooldownUnit: TimeUnit | null
  absenceAmount: number | null
  absenceUnit: TimeUnit | null
  birthday: boolean
  birthdayWindowMode: BirthdayWindowMode | null
  birthdayDaysBefore: number | null
  birthdayDaysAfter: number | null
  tierGate: { readonly mode: TierGateMode; readonly tierId: string } | null
  tierOverrides: readonly StoredOverride[]
  maxRedemptions: number | null
  deliveryMode: DeliveryMode
  digitalAssetType: DigitalAssetType | null
  digitalAssetSource: DigitalAssetSource
  digitalAssetValue: string | null
  digitalWebhookUrl: string | null
  digitalEmailDelivery: boolean
}

/** Null inherits. */
type StoredOverride = { readonly [Field in keyof TierOverride]-?: Exclude<TierOverride[Field], undefined> }

/** The fields that a request gives, each within its own bounds. */
export interface RewardChange extends Partial<Omit<RewardTerms, 'tierOverrides' | 'digitalEmailDelivery'>> {
  /** Null = none. */
  tierOverrides?: readonly TierOverride[] | null
  /** Null = false. */
  digitalEmailDelivery?: boolean | null
}

/** What a new reward is made of; name and cost are always given. */
export const BLANK_TERMS: RewardTerms = {
  name: '',
  description: null,
  type: 'item',
  cashbackCents: null,
  pointsCost: 0,
  startDate: null,
  endDate: null,
  timeActive: null,
  conditions: null,
  cooldownMode: 'none',
  cooldownCount: null,
  cooldownAmount: null,
  cooldownUnit: null,
  absenceAmount: null,
  absenceUnit: null,
  birthday: false,
  birthdayWindowMode: null,
  birthdayDaysBefore: null,
  birthdayDaysAfter: null,
  tierGate: null,
  tierOverrides: [],
  maxRedemptions: null,
  deliveryMode: 'in_store',
  digitalAssetType: null,
  digitalAssetSource: 'static',
  digitalAssetValue: null,
  digitalWebhookUrl: null,
  digitalEmailDelivery: false,
}

type Refuse = (path: string, message: string) => void

/** The terms after a change. Throws InvalidInput that names every field which contradicts another. */
export function changeTerms(before: RewardTerms, change: RewardChange): RewardTerms {
  const {
    tierOverrides = before.tierOverrides,
    digitalEmailDelivery = before.digitalEmailDelivery,
    ...plain
  } = change
  const terms: RewardTerms = { ...before, ...plain, digitalEmailDelivery: digitalEmailDelivery ?? false }
  const issues: FieldIssue[] = []
  const refuse: Refuse = (path, message) => issues.push({ path, message })

  settleDelivery(terms, change, refuse)
  if (terms.birthday) terms.birthdayWindowMode ??= 'exact'
  settleDependents(terms, change, refuse)
  checkLink(terms, change, refuse)
  checkAbsence(terms, refuse)
  checkDates(terms, change, refuse)
  terms.tierOverrides = (tierOverrides ?? []).map((override, index) =>
    settleOverride(override, terms, change.tierOverrides !== undefined, (field, message) =>
      refuse(`tierOverrides.${index}.${field}`, message),
    ),
  )

  if (issues.length > 0) throw new InvalidInput(issues)
  return terms
}

/** Digital delivery alone knows sources other than `static`, and e-mail. */
function settleDelivery(terms: RewardTerms, change: RewardChange, refuse: Refuse): void {
  if (terms.deliveryMode === 'digital') return
  if ((change.digitalAssetSource ?? 'static') !== 'static')
    refuse('digitalAssetSource', 'must be static unless deliveryMode is digital')
  if (change.digitalEmailDelivery) refuse('digitalEmailDelivery', 'only allowed when deliveryMode is digital')
  terms.digitalAssetSource = 'static'
  terms.digitalEmailDelivery = false
}

const isLimit = ({ cooldownMode }: Pick<RewardTerms, 'cooldownMode'>): boolean => cooldownMode === 'limit'
const WHEN_LIMIT = 'cooldownMode is limit'
const LIMIT_FIELDS = ['cooldownCount', 'cooldownAmount', 'cooldownUnit'] as const

interface Dependents {
  readonly fields: readonly (
    | 'cashbackCents'
    | (typeof LIMIT_FIELDS)[number]
    | 'birthdayWindowMode'
    | 'birthdayDaysBefore'
    | 'birthdayDaysAfter'
    | 'digitalAssetType'
    | 'digitalAssetValue'
    | 'digitalWebhookUrl'
  )[]
  readonly when: string
  readonly holds: (terms: RewardTerms) => boolean
}

const isDigitalFrom =
  (source: DigitalAssetSource) =>
  ({ deliveryMode, digitalAssetSource }: RewardTerms): boolean =>
    deliveryMode === 'digital' && digitalAssetSource === source

/**
 * Fields that go with a mode: required with it, refused without it, and cleared where a change of mode leaves
 * them without meaning. In the order in which one decides about the next.
 */
const DEPENDENTS: readonly Dependents[] = [
  { fields: ['cashbackCents'], when: 'type is cashback', holds: ({ type }) => type === 'cashback' },
  { fields: LIMIT_FIELDS, when: WHEN_LIMIT, holds: isLimit },
  { fields: ['birthdayWindowMode'], when: 'birthday is true', holds: ({ birthday }) => birthday },
  {
    fields: ['birthdayDaysBefore', 'birthdayDaysAfter'],
    when: 'birthdayWindowMode is days',
    holds: ({ birthdayWindowMode }) => birthdayWindowMode === 'days',
  },
  {
    fields: ['digitalAssetType'],
    when: 'deliveryMode is digital',
    holds: ({ deliveryMode }) => deliveryMode === 'digital',
  },
  {
    fields: ['digitalAssetValue'],
    when: 'deliveryMode is digital and digitalAssetSource is static',
    holds: isDigitalFrom('static'),
  },
  {
    fields: ['digitalWebhookUrl'],
    when: 'deliveryMode is digital and digitalAssetSource is external',
    holds: isDigitalFrom('external'),
  },
]

function settleDependents(terms: RewardTerms, change: RewardChange, refuse: Refuse): void {
  for (const { fields, when, holds } of DEPENDENTS) {
    const meaningful = holds(terms)
    for (const field of fields) {
      if (meaningful) {
        if (terms[field] === null) refuse(field, `required when ${when}`)
        continue
      }
      if (change[field] != null) refuse(field, `only allowed when ${when}`)
      terms[field] = null
    }
  }
}

const HTTP_URL = /^https?:\/\/[^\s\p{Cc}]+$/iu

/** Whether a customer can follow `value`. */
export const isHttpUrl = (value: string): boolean => HTTP_URL.test(value) && URL.canParse(value)

function checkLink(terms: RewardTerms, change: RewardChange, refuse: Refuse): void {
  const { digitalAssetType, digitalAssetValue } = terms
  if (digitalAssetType !== 'link' || digitalAssetValue === null || isHttpUrl(digitalAssetValue)) return
  if (change.digitalAssetValue != null)
    refuse('digitalAssetValue', 'must be an http or https URL when digitalAssetType is link')
  else refuse('digitalAssetType', 'must not be link: digitalAssetValue is not an http or https URL')
}

function checkAbsence({ absenceAmount, absenceUnit }: RewardTerms, refuse: Refuse): void {
  if (absenceAmount === null && absenceUnit !== null) refuse('absenceAmount', 'required with absenceUnit')
  if (absenceUnit === null && absenceAmount !== null) refuse('absenceUnit', 'required with absenceAmount')
}

function checkDates({ startDate, endDate }: RewardTerms, change: RewardChange, refuse: Refuse): void {
  if (startDate === null || endDate === null || startDate <= endDate) return
  if (change.endDate != null) refuse('endDate', 'must not be before startDate')
  else refuse('startDate', 'must not be after endDate')
}

/**
 * An override under which the tier's cooldown is a limit, inherited or not, needs the three numbers, its own or the
 * reward's. Any other may give none; where the reward's mode changed under a stored one, they are cleared.
 */
function settleOverride(
  override: TierOverride,
  terms: RewardTerms,
  sent: boolean,
  refuse: Refuse,
): StoredOverride {
  const { tierId, cooldownMode = null, earlyAccessHours = null } = override
  const numbers = {
    cooldownCount: override.cooldownCount ?? null,
    cooldownAmount: override.cooldownAmount ?? null,
    cooldownUnit: override.cooldownUnit ?? null,
  }
  const limited = isLimit({ cooldownMode: cooldownMode ?? terms.cooldownMode })
  for (const field of LIMIT_FIELDS) {
    if (limited) {
      // What an inherited limit lacks was refused by the reward's own field.
      const lacks = cooldownMode === 'limit' && numbers[field] === null && terms[field] === null
      if (lacks) refuse(field, `required when ${WHEN_LIMIT}`)
      continue
    }
    if (sent && numbers[field] !== null) refuse(field, `only allowed when ${WHEN_LIMIT}`)
    numbers[field] = null
  }
  return { tierId, cooldownMode, ...numbers, earlyAccessHours }
}
