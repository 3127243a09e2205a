import Big from 'big.js'
import { currencyDecimals } from '../points/earning.rules.js'

/** Settings that turn what a customer spent into US dollars (docs: decisions, Settings); decimals as text. */
export interface SpendSettings {
  readonly currency: string
  readonly earnPointsPerUnit: string
  /** Null = the inverse of earnPointsPerUnit. */
  readonly pointSpendValue: string | null
  readonly usdRate: string
}

/**
 * Estimated spend in dollars = (minor units of amounts × perMinor + points without an amount × perPoint) ÷ perDollar.
 * The division is left to the end because the value of a point, an inverse, may have no decimal form: so that the
 * comparison with a bound is exact, both sides are multiplied instead.
 */
export interface SpendWeights {
  /** Decimals as text. */
  readonly perMinor: string
  readonly perPoint: string
  readonly perDollar: string
}

export function spendWeights(settings: SpendSettings): SpendWeights {
  const { currency, earnPointsPerUnit, pointSpendValue, usdRate } = settings
  const minorsPerUnit = new Big(10).pow(currencyDecimals(currency))
  const [units, points] = pointSpendValue === null ? [earnPointsPerUnit, '1'] : ['1', pointSpendValue]
  return {
    perMinor: new Big(usdRate).times(units).toFixed(),
    perPoint: new Big(usdRate).times(points).times(minorsPerUnit).toFixed(),
    perDollar: minorsPerUnit.times(units).toFixed(),
  }
}

/** A whole number of dollars on the side of the weights. */
export const weighed = (dollars: number, { perDollar }: SpendWeights): string =>
  new Big(dollars).times(perDollar).toFixed()

const MAX_BIGINT = '9223372036854775807'

/**
 * The most minor units that are no more than a number of dollars, and the fewest that are no less: what has to be asked
 * of customers all of whose purchases came with an amount. At most what a bigint holds, which nobody spends.
 */
export function minorUnitsOf(dollars: number, weights: SpendWeights): { most: string; fewest: string } {
  const bound = new Big(weighed(dollars, weights))
  const rest = bound.mod(weights.perMinor)
  const most = bound.minus(rest).div(weights.perMinor)
  const fewest = rest.eq(0) ? most : most.plus(1)
  const [mostText, fewestText] = [most, fewest].map((units) =>
    units.gt(MAX_BIGINT) ? MAX_BIGINT : units.toFixed(),
  )
  return { most: mostText!, fewest: fewestText! }
}
