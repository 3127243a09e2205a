import type { MaxEntriesMode } from '../database/generated/prisma/client.js'
import { type FieldIssue, InvalidInput } from '../errors.js'
import type { Given } from '../patch.js'

/** The rules of a raffle's life and terms (spec §2, §3, Raffle; docs: decisions, Raffles). */

export const RaffleStatus = {
  scheduled: 'scheduled',
  active: 'active',
  drawn: 'drawn',
  completed: 'completed',
  cancelled: 'cancelled',
} as const
export type RaffleStatus = keyof typeof RaffleStatus

export const RaffleAvailability = {
  upcoming: 'upcoming',
  open: 'open',
  full: 'full',
  closed: 'closed',
} as const
export type RaffleAvailability = keyof typeof RaffleAvailability

/** The moments that a raffle's status follows from. */
export interface RaffleMoments {
  startsAt: Date
  drawnAt: Date | null
  completedAt: Date | null
  cancelledAt: Date | null
}

/** What a raffle has been brought to; until it is drawn, the clock decides. */
export function statusOf(raffle: RaffleMoments, now: Date): RaffleStatus {
  if (raffle.cancelledAt) return 'cancelled'
  if (raffle.completedAt) return 'completed'
  if (raffle.drawnAt) return 'drawn'
  return now < raffle.startsAt ? 'scheduled' : 'active'
}

/** How many entries a raffle takes, and has. */
export interface RaffleCeiling {
  maxEntries: number | null
  maxEntriesMode: MaxEntriesMode
  totalEntries: number | bigint
  uniqueEntrants: number
}

/** How many more entries, or people, there is room for; null without a ceiling. */
export function roomLeft({
  maxEntries,
  maxEntriesMode,
  totalEntries,
  uniqueEntrants,
}: RaffleCeiling): number | null {
  if (maxEntries === null) return null
  return maxEntries - (maxEntriesMode === 'total' ? Number(totalEntries) : uniqueEntrants)
}

export const isFull = (raffle: RaffleCeiling): boolean => roomLeft(raffle) === 0

/** Whether entries are taken. From `endsAt` on none are, drawn or not. */
export function availabilityOf(
  raffle: RaffleMoments & RaffleCeiling & { endsAt: Date },
  now: Date,
): RaffleAvailability {
  const status = statusOf(raffle, now)
  if (status === 'scheduled') return 'upcoming'
  if (status !== 'active' || now >= raffle.endsAt) return 'closed'
  return isFull(raffle) ? 'full' : 'open'
}

/** What can always be changed. */
interface RaffleTexts {
  name: string
  description: string | null
  termsConditions: string | null
}

/** What people have agreed to once they have entered. */
export interface RaffleTerms {
  startsAt: Date
  endsAt: Date
  /** Points for one entry. */
  pointsCost: number
  entriesPerUser: number
  winnersCount: number
  maxEntries: number | null
  maxEntriesMode: MaxEntriesMode
}

export type RaffleFields = RaffleTexts & RaffleTerms
export type RaffleChange = Given<Partial<RaffleFields>>

const TERMS = [
  'startsAt',
  'endsAt',
  'pointsCost',
  'entriesPerUser',
  'winnersCount',
  'maxEntries',
  'maxEntriesMode',
] as const satisfies readonly (keyof RaffleTerms)[]

/** Whether a change alters the terms, and not just restates them. */
export const altersTerms = (before: RaffleTerms, change: RaffleChange): boolean =>
  TERMS.some((term) => change[term] !== undefined && change[term]?.valueOf() !== before[term]?.valueOf())

/** Throws InvalidInput where the dates lie the wrong way round, or a new end lies in the past. */
export function requireSoundDates(merged: RaffleTerms, change: RaffleChange, now: Date): void {
  const issues: FieldIssue[] = []
  if (change.endsAt && merged.endsAt <= now) issues.push({ path: 'endsAt', message: 'must be in the future' })
  if (merged.endsAt <= merged.startsAt)
    issues.push(
      change.endsAt
        ? { path: 'endsAt', message: 'must be after startsAt' }
        : { path: 'startsAt', message: 'must be before endsAt' },
    )
  if (issues.length > 0) throw new InvalidInput(issues)
}
