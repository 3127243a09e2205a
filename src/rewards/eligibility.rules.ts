/** Who may have a reward (spec section 2: `tier_gate`, `tier_overrides`, `absence_*`, `birthday_*`). */
import { Temporal } from 'temporal-polyfill'
import { elapsesAt, localDate, type TimeUnit } from '../time.js'
import type { Cooldown, CooldownMode } from './cooldown.rules.js'
import { isOpen, type RewardSchedule } from './schedule.rules.js'

/** What a tier changes about a reward; null or absent inherits the reward's own. */
export interface TierOverride {
  readonly tierId: string
  readonly cooldownMode?: CooldownMode | null | undefined
  readonly cooldownCount?: number | null | undefined
  readonly cooldownAmount?: number | null | undefined
  readonly cooldownUnit?: TimeUnit | null | undefined
  readonly earlyAccessHours?: number | null | undefined
}

export interface RewardCooldown {
  readonly cooldownMode: CooldownMode
  readonly cooldownCount: number | null
  readonly cooldownAmount: number | null
  readonly cooldownUnit: TimeUnit | null
  readonly tierOverrides: readonly TierOverride[]
}

export interface TierGate {
  readonly tierGateMode: 'minimum' | 'only' | null
  readonly tierGateTierId: string | null
  readonly tierGateTier: { readonly rank: number } | null
}

export interface BirthdayRule {
  readonly birthday: boolean
  /** Null is `exact`. */
  readonly birthdayWindowMode: 'exact' | 'days' | 'month' | null
  readonly birthdayDaysBefore: number | null
  readonly birthdayDaysAfter: number | null
}

export interface AbsenceRule {
  readonly absenceAmount: number | null
  readonly absenceUnit: TimeUnit | null
}

export interface RewardEligibility extends RewardSchedule, TierGate, BirthdayRule, AbsenceRule {
  readonly tierOverrides: readonly TierOverride[]
}

export interface EligibilityCustomer {
  readonly tierId: string | null
  readonly tier: { readonly rank: number } | null
  /** `YYYY-MM-DD`, or `--MM-DD` where the year is not known. */
  readonly birthday: string | null
}

export interface EligibilityMoment {
  readonly now: Date
  readonly zone: string
  /** The last visit before the redemption was created: not the one in which it is being completed. */
  readonly priorVisitAt: Date | null
}

export type EligibilityFailure = 'schedule' | 'tier' | 'birthday' | 'absence'

/** The first rule that refuses the customer this reward at `now`, or null. */
export function eligibilityFailure(
  reward: RewardEligibility,
  customer: EligibilityCustomer,
  { now, zone, priorVisitAt }: EligibilityMoment,
): EligibilityFailure | null {
  if (!isOpen(reward, now, zone, earlyAccessHours(reward, customer.tierId))) return 'schedule'
  if (!passesTierGate(reward, customer)) return 'tier'
  if (!inBirthdayWindow(reward, customer.birthday, now, zone)) return 'birthday'
  if (!absentLongEnough(reward, priorVisitAt, now, zone)) return 'absence'
  return null
}

/** The cooldown that holds for a customer of tier `tierId`: the reward's, field by field under the tier's. */
export function effectiveCooldown(reward: RewardCooldown, tierId: string | null): Cooldown {
  const override = overrideFor(reward.tierOverrides, tierId)
  const mode = override?.cooldownMode ?? reward.cooldownMode
  if (mode !== 'limit') return { mode }

  const count = override?.cooldownCount ?? reward.cooldownCount
  const amount = override?.cooldownAmount ?? reward.cooldownAmount
  const unit = override?.cooldownUnit ?? reward.cooldownUnit
  // Refused when a reward is saved. Letting it pass here would silently lift the cooldown.
  if (count === null || amount === null || unit === null) throw new Error('A limit cooldown lacks a number.')
  return { mode, count, amount, unit }
}

/** Hours before the start of `start_date` from which a customer of tier `tierId` may have the reward. */
export function earlyAccessHours(
  reward: Pick<RewardCooldown, 'tierOverrides'>,
  tierId: string | null,
): number {
  return overrideFor(reward.tierOverrides, tierId)?.earlyAccessHours ?? 0
}

/** `minimum`: the gate's tier or a higher one. `only`: that tier. A customer without a tier fails both. */
export function passesTierGate(
  { tierGateMode, tierGateTierId, tierGateTier }: TierGate,
  { tierId, tier }: Pick<EligibilityCustomer, 'tierId' | 'tier'>,
): boolean {
  if (tierGateMode === null) return true
  if (tierGateMode === 'only') return tierId !== null && tierId === tierGateTierId
  return tier !== null && tierGateTier !== null && tier.rank >= tierGateTier.rank
}

/** Whether the last visit is long enough ago; somebody who never visited has been absent long enough. */
export function absentLongEnough(
  { absenceAmount, absenceUnit }: AbsenceRule,
  priorVisitAt: Date | null,
  now: Date,
  zone: string,
): boolean {
  if (absenceAmount === null || absenceUnit === null || priorVisitAt === null) return true
  return elapsesAt(priorVisitAt, absenceAmount, absenceUnit, zone).getTime() <= now.getTime()
}

/**
 * Whether the local day of `now` is in the reward's window around `birthday`. 29 February is kept on the 28th
 * in common years. The year of birth plays no part.
 */
export function inBirthdayWindow(
  reward: BirthdayRule,
  birthday: string | null,
  now: Date,
  zone: string,
): boolean {
  if (!reward.birthday) return true
  if (birthday === null) return false
  const today = Temporal.PlainDate.from(localDate(now, zone))
  const month = Number(birthday.slice(-5, -3))
  const day = Number(birthday.slice(-2))
  if (reward.birthdayWindowMode === 'month') return today.month === month

  const byDays = reward.birthdayWindowMode === 'days'
  const before = byDays ? (reward.birthdayDaysBefore ?? 0) : 0
  const after = byDays ? (reward.birthdayDaysAfter ?? 0) : 0
  // A window may reach over either end of the year: the birthdays next to today are in these three years.
  return [today.year - 1, today.year, today.year + 1].some((year) => {
    const daysUntil = today.until(Temporal.PlainDate.from({ year, month, day }), { largestUnit: 'days' }).days
    return -after <= daysUntil && daysUntil <= before
  })
}

function overrideFor(overrides: readonly TierOverride[], tierId: string | null): TierOverride | undefined {
  return tierId === null ? undefined : overrides.find((override) => override.tierId === tierId)
}
