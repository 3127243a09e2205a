import type { Filter } from './filter.js'

/** A ready-made segment: asking for it is asking for its filter. */
export interface Preset {
  readonly id: PresetId
  readonly name: string
  readonly description: string
  readonly filter: Filter
}

export const PresetId = {
  champions: 'champions',
  loyal: 'loyal',
  at_risk: 'at_risk',
  lapsed: 'lapsed',
  new: 'new',
  one_time: 'one_time',
  big_spenders: 'big_spenders',
  birthday_this_month: 'birthday_this_month',
  unredeemed_balance: 'unredeemed_balance',
  frequent_redeemers: 'frequent_redeemers',
} as const
export type PresetId = (typeof PresetId)[keyof typeof PresetId]

/** The catalogue on a local day, `YYYY-MM-DD` (docs: decisions, Segments). */
export const presetsOn = (today: string): readonly Preset[] => [
  {
    id: 'champions',
    name: 'Champions',
    description: 'Come often and were here lately.',
    filter: { visitCount: { min: 10 }, lastVisitWithinDays: 30 },
  },
  {
    id: 'loyal',
    name: 'Loyal',
    description: 'Come regularly.',
    filter: { visitCount: { min: 5 }, lastVisitWithinDays: 60 },
  },
  {
    id: 'at_risk',
    name: 'At risk',
    description: 'Used to come and have stayed away for two months.',
    filter: { visitCount: { min: 3 }, lastVisitNotWithinDays: 60 },
  },
  {
    id: 'lapsed',
    name: 'Lapsed',
    description: 'Have not come for half a year.',
    filter: { visitCount: { min: 1 }, lastVisitNotWithinDays: 180 },
  },
  {
    id: 'new',
    name: 'New',
    description: 'Joined within the last 30 days.',
    filter: { joinedWithinDays: 30 },
  },
  {
    id: 'one_time',
    name: 'One-time visitors',
    description: 'Came on one day only.',
    filter: { visitCount: { min: 1, max: 1 } },
  },
  {
    id: 'big_spenders',
    name: 'Big spenders',
    description: 'Spent 500 US dollars or more.',
    filter: { spendUsdEstimated: { min: 500 } },
  },
  {
    id: 'birthday_this_month',
    name: 'Birthday this month',
    description: 'Have their birthday in the current month.',
    filter: { birthdayInMonth: Number(today.slice(5, 7)) },
  },
  {
    id: 'unredeemed_balance',
    name: 'Unredeemed balance',
    description: 'Have 1000 points or more and never redeemed any.',
    filter: { pointsBalance: { min: 1000 }, hasRedeemed: false },
  },
  {
    id: 'frequent_redeemers',
    name: 'Frequent redeemers',
    description: 'Completed three redemptions or more.',
    filter: { redemptionCount: { min: 3 } },
  },
]
