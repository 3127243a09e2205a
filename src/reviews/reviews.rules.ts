/** The stars that can be given. */
export const STARS = [1, 2, 3, 4, 5] as const

/** How often each number of stars was given; every number is there. */
export type Distribution = Record<(typeof STARS)[number], number>

/** One kept counter. */
export interface RatingCount {
  rating: number
  count: number
}

/** The distribution that kept counters tell; one that is missing is 0. */
export const distributionOf = (counts: readonly RatingCount[]): Distribution =>
  Object.fromEntries(
    STARS.map((stars) => [stars, counts.find(({ rating }) => rating === stars)?.count ?? 0]),
  ) as Distribution

/** How many ratings a distribution has. */
export const totalOf = (distribution: Distribution): number =>
  STARS.reduce((total, stars) => total + distribution[stars], 0)

/** The mean of a distribution, to two decimals; null where there is none. */
export function averageOf(distribution: Distribution): number | null {
  const total = totalOf(distribution)
  if (total === 0) return null
  const sum = STARS.reduce((stars, each) => stars + each * distribution[each], 0)
  return Math.round((sum * 100) / total) / 100
}
