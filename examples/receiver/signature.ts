import { createHmac, timingSafeEqual } from 'node:crypto'

/** How old, or how far ahead of our clock, a signed request may be. */
const TOLERANCE_SECONDS = 300

/**
 * Whether `header`, `t=<unix seconds>,v1=<hex>`, signs the raw body with one of our secrets and was made just now: an old
 * request that somebody has recorded is refused.
 */
export function isSigned(
  header: string | undefined,
  rawBody: Buffer,
  secrets: readonly string[],
  nowMs: number,
): boolean {
  const [, seconds, hex] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(header ?? '') ?? []
  if (seconds === undefined || hex === undefined) return false
  if (Math.abs(nowMs / 1000 - Number(seconds)) > TOLERANCE_SECONDS) return false
  const given = Buffer.from(hex, 'hex')
  return secrets.some((secret) => {
    // The bytes as they came: parsed and written anew, they need not be the same.
    const expected = createHmac('sha256', secret).update(`${seconds}.`).update(rawBody).digest()
    return timingSafeEqual(given, expected)
  })
}
