/**
 * How often one customer may redeem one reward (spec section 2, `cooldown_*`).
 *
 * A completed redemption counts until it lies `amount` units back and no longer: a customer who redeemed
 * exactly that long ago is free. A month is a calendar month in the business's zone and follows `elapsesAt`;
 * so each redemption leaves the window at one moment and never comes back into it, which a window start
 * clamped anew every day would bring about (29 to 31 March would all begin on 28 February).
 */
import { elapsesAt, subtractTime, type TimeUnit } from '../time.js'

export type CooldownMode = 'none' | 'limit' | 'once'

/** At most `count` completed redemptions in any `amount` `unit`s; all at least 1. */
export interface CooldownLimit {
  readonly mode: 'limit'
  readonly count: number
  readonly amount: number
  readonly unit: TimeUnit
}

export type Cooldown = { readonly mode: 'none' } | { readonly mode: 'once' } | CooldownLimit

const DAY_MS = 86_400_000

/**
 * Every completion that still counts at `now` lies after this moment: the lower bound of the query that reads
 * them. Null: all of them, ever (`once`). It is a bound, not the rule: for months it is a day early, because a
 * change of the clocks shifts what a month is by up to hours.
 */
export function windowStart(cooldown: Cooldown, now: Date, zone: string): Date | null {
  if (cooldown.mode !== 'limit') return null
  const start = subtractTime(now, cooldown.amount, cooldown.unit, zone)
  return cooldown.unit === 'month' ? new Date(start.getTime() - DAY_MS) : start
}

/**
 * How long the customer has to wait, given when they completed this reward before (any order; those that
 * `windowStart` leaves out make no difference). Null: free. 0: never again (`once`). Else whole seconds,
 * rounded up, at least 1.
 */
export function cooldownSecondsLeft(
  cooldown: Cooldown,
  completedAt: readonly Date[],
  now: Date,
  zone: string,
): number | null {
  if (cooldown.mode === 'none') return null
  if (cooldown.mode === 'once') return completedAt.length > 0 ? 0 : null

  const { count, amount, unit } = cooldown
  const leaving = completedAt
    .map((completed) => elapsesAt(completed, amount, unit, zone).getTime())
    .filter((leaves) => leaves > now.getTime())
    .sort((a, b) => a - b)
  // Free as soon as no more than count − 1 are left: when the count-th from the end leaves.
  const freeAt = leaving.at(-count)
  return freeAt === undefined ? null : Math.ceil((freeAt - now.getTime()) / 1000)
}
