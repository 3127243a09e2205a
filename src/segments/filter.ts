/** What a segment asks for (spec §2, Segment filter); a field that is null or left out asks for nothing. */
export type Filter = { readonly [Field in keyof Asked]?: Asked[Field] | null | undefined } & {
  /** IANA zone of hourOfDay and dayOfWeek. */
  readonly timezone?: string | null | undefined
}

export interface Asked {
  pointsBalance: Range
  spendUsdEstimated: Range
  visitCount: Range
  redemptionCount: Range
  /** Local days in the business's zone. */
  lastVisitWithinDays: number
  lastVisitNotWithinDays: number
  joinedWithinDays: number
  joinedBeforeDaysAgo: number
  hourOfDay: HourRange
  /** 0 = Sunday. */
  dayOfWeek: readonly number[]
  hasRedeemed: boolean
  promotionInterest: boolean
  /** 1 = January. */
  birthdayInMonth: number
}

/** Both included. */
export interface Range {
  readonly min?: number | null | undefined
  readonly max?: number | null | undefined
}

/** Both included, 0 to 23; past midnight where `to` is the smaller. */
export interface HourRange {
  readonly from: number
  readonly to: number
}

export type FieldName = keyof Asked
