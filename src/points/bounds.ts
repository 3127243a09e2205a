import { decimal, int, text } from '../graphql/bounds.js'

/** What one entry of points may say (docs: decisions, Points and transactions). */

const MAX_POINTS = 1_000_000

export const points = () => int(1, MAX_POINTS)

/** Money spent. 11 digits: in minor units even a currency of four decimals stays below 2^53. */
export const purchaseAmount = () => decimal(11, 4)

export const description = () => text(0, 5000)
