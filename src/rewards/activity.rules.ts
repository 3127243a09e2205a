/** Whether a reward is on, and why not (spec section 3; docs: decisions, Rewards: "Being off has causes"). */
import type { DigitalAssetSource } from '../database/generated/prisma/client.js'
import { AppError } from '../errors.js'

/** A reward is active when none holds. Off by hand hides the other two: they come back with `active: true`. */
export interface OffCauses {
  readonly offByHand: boolean
  readonly deactivatedByLimit: boolean
  readonly deactivatedByPool: boolean
}

/** What may run out. */
export interface RewardSupply {
  /** Null = no cap. */
  readonly maxRedemptions: number | null
  /** Completed redemptions. */
  readonly redemptionsCount: number
  readonly digitalAssetSource: DigitalAssetSource
  /** Unclaimed values of the pool. */
  readonly poolAvailable: number
}

export const isActive = (causes: OffCauses): boolean =>
  !causes.offByHand && !causes.deactivatedByLimit && !causes.deactivatedByPool

/**
 * The causes after a change. `supply` is the merged record; `active` is what the request asks for, undefined =
 * nothing. Throws REWARD_LIMIT_REACHED:<max> or DIGITAL_POOL_EXHAUSTED where it asks for what cannot be.
 */
export function causesAfter(
  offByHandBefore: boolean,
  active: boolean | undefined,
  supply: RewardSupply,
): OffCauses {
  const { maxRedemptions, redemptionsCount } = supply
  const atCap = maxRedemptions !== null && redemptionsCount >= maxRedemptions
  const poolEmpty = supply.digitalAssetSource === 'pool' && supply.poolAvailable === 0
  if (active) {
    if (atCap) throw new AppError('REWARD_LIMIT_REACHED', maxRedemptions)
    if (poolEmpty) throw new AppError('DIGITAL_POOL_EXHAUSTED')
  }
  const offByHand = active === undefined ? offByHandBefore : !active
  return {
    offByHand,
    deactivatedByLimit: atCap && !offByHand,
    deactivatedByPool: poolEmpty && !offByHand,
  }
}

/** `taken`: completed redemptions and slots held for those on their way. Throws REWARD_LIMIT_BELOW_CURRENT:<taken>. */
export function requireCapAbove(taken: number, maxRedemptions: number | null): void {
  if (maxRedemptions !== null && maxRedemptions < taken)
    throw new AppError('REWARD_LIMIT_BELOW_CURRENT', taken)
}
