/** How often a customer may guess (docs: decisions, Code batches). Pure. */
const MAX_FAILURES = 10
const WINDOW_MS = 10 * 60 * 1000

/** Seconds until a customer may claim again; 0 = now. `failures` are the latest, oldest first. */
export function secondsToWait(failures: readonly Date[], now: Date): number {
  const decisive = failures.at(-MAX_FAILURES)
  if (!decisive) return 0
  return Math.max(0, Math.ceil((decisive.getTime() + WINDOW_MS - now.getTime()) / 1000))
}

/** The failures to remember after one more: no more than decide. */
export const failuresAfter = (failures: readonly Date[], now: Date): Date[] =>
  [...failures, now].slice(-MAX_FAILURES)
