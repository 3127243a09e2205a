import Big from 'big.js'

/** How many decimals a currency's amounts have (ISO 4217): 2 for USD, 0 for JPY. */
export const currencyDecimals = (currency: string): number => {
  let decimals = known.get(currency)
  if (decimals === undefined) {
    const options = new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions()
    decimals = options.maximumFractionDigits ?? 2
    known.set(currency, decimals)
  }
  return decimals
}
const known = new Map<string, number>()

/** `12.5` → 1250 for a currency of two decimals; undefined where the amount has more decimals than the currency. */
export function minorUnits(amount: string, currency: string): number | undefined {
  const minor = new Big(amount).times(new Big(10).pow(currencyDecimals(currency)))
  return minor.eq(minor.round(0)) ? minor.toNumber() : undefined
}

/** 1250 → `12.50` for a currency of two decimals. */
export const majorUnits = (minor: number | bigint, currency: string): string => {
  const decimals = currencyDecimals(currency)
  const digits = minor.toString().padStart(decimals + 1, '0')
  return decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}

/** 1250 → 12: the whole units of an amount in minor ones. */
export const wholeUnits = (minor: number, currency: string): number => {
  const unit = 10 ** currencyDecimals(currency)
  // Exact up to 2^53, where a quotient would be rounded.
  return (minor - (minor % unit)) / unit
}

/** Several multipliers as one, exactly: `1.5`, `2` → `3`. */
export const product = (multipliers: readonly string[]): string =>
  multipliers.reduce((all, multiplier) => all.times(multiplier), new Big(1)).toFixed()

/** Points for an amount of money: exact decimals, floored once at the end. */
export const earnedPoints = (amount: string, pointsPerUnit: string, multiplier: string): number =>
  new Big(amount).times(pointsPerUnit).times(multiplier).round(0, Big.roundDown).toNumber()
