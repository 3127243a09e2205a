import Big from 'big.js'
import { InvalidInput } from '../errors.js'

/** When promotions run and which one counts (docs: decisions, Promotions). Days are `YYYY-MM-DD`. */

/** The local days on which a promotion runs, both included; null = open on that side. */
export interface PromotionDays {
  readonly startDate: string | null
  readonly endDate: string | null
}

export type PromotionStatus = 'scheduled' | 'active' | 'ended'

/** What the calendar says of a promotion on a local day; the switch by hand is another matter. */
export function statusOn({ startDate, endDate }: PromotionDays, today: string): PromotionStatus {
  if (startDate !== null && today < startDate) return 'scheduled'
  return endDate !== null && endDate < today ? 'ended' : 'active'
}

/** A promotion that is switched on and multiplies points. */
export interface Multiplier extends PromotionDays {
  readonly id: string
  /** Decimal. */
  readonly pointsMultiplier: string
}

/** The highest multiplier that runs on a local day; of equal ones the earliest made (ids are in that order). */
export const bestMultiplier = (promotions: readonly Multiplier[], day: string): Multiplier | undefined =>
  promotions
    .filter((promotion) => statusOn(promotion, day) === 'active')
    .sort((a, b) => new Big(b.pointsMultiplier).cmp(a.pointsMultiplier) || (a.id < b.id ? -1 : 1))[0]

/** Refuses an end before the start, under the name of what was sent: `sent` is the request, `merged` its outcome. */
export function requireOrder(merged: PromotionDays, sent: Partial<PromotionDays>): void {
  const { startDate, endDate } = merged
  if (startDate === null || endDate === null || startDate <= endDate) return
  throw new InvalidInput([
    sent.endDate != null
      ? { path: 'endDate', message: 'must not be before startDate' }
      : { path: 'startDate', message: 'must not be after endDate' },
  ])
}
