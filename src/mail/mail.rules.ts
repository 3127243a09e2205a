/** How often, and when, an e-mail that could not be sent is tried again. Pure. */

export const MAX_ATTEMPTS = 10

const MINUTE_MS = 60 * 1000
const LONGEST_PAUSE_MS = 6 * 60 * MINUTE_MS

/** The pause after a failed attempt (from 1): 1, 3, 9, 27, 81, 243 minutes, then 6 hours; 24 hours over all attempts. */
export const pauseMsAfter = (attempt: number): number =>
  Math.min(MINUTE_MS * 3 ** (attempt - 1), LONGEST_PAUSE_MS)
