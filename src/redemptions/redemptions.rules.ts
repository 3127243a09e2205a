import { AppError } from '../errors.js'
import type { RedemptionRow } from './redemption-row.js'

type Timed = Pick<RedemptionRow, 'status' | 'expiresAt'>

/** Pending and past its time: expired, whether a sweep has said so yet or not. */
const isExpired = ({ status, expiresAt }: Timed, now: Date): boolean =>
  status === 'expired' || (status === 'pending' && expiresAt !== null && expiresAt <= now)

/** The status that people see. */
export const statusAt = (redemption: Timed, now: Date): RedemptionRow['status'] =>
  isExpired(redemption, now) ? 'expired' : redemption.status

/** Whether its value is being fetched from the business (spec §6): nothing else that is digital is ever pending. */
export const isOnItsWay = ({ status, deliveryMode }: RedemptionRow): boolean =>
  status === 'pending' && deliveryMode === 'digital'

/** Only an in-store code that is pending and in time can be completed or validated; throws the refusal. */
export function requireCompletable(redemption: RedemptionRow, now: Date): void {
  if (redemption.deliveryMode !== 'in_store')
    throw new AppError('REDEMPTION_NOT_IN_STORE', redemption.deliveryMode)
  requirePending(redemption, now)
}

/** Throws REDEMPTION_EXPIRED, or REDEMPTION_NOT_PENDING with the status. */
export function requirePending(redemption: RedemptionRow, now: Date): void {
  if (isExpired(redemption, now)) throw new AppError('REDEMPTION_EXPIRED')
  if (redemption.status !== 'pending') throw new AppError('REDEMPTION_NOT_PENDING', redemption.status)
}

/** The reward's cashback with the customer's tier boost, floored; 0 for other types. */
export const boostedCashback = (cashbackCents: number | null, boostPercent: number): number =>
  Math.floor(((cashbackCents ?? 0) * (100 + boostPercent)) / 100)
