import type { Device } from '../database/generated/prisma/client.js'
import { type InvalidInput, invalid } from '../errors.js'

export const deviceStatuses = ['unpaired', 'paired', 'revoked'] as const
export type DeviceStatus = (typeof deviceStatuses)[number]

/** What a device is: revoked for good, holding a token, or still without one. */
export function statusOf({ pairedAt, revokedAt }: Pick<Device, 'pairedAt' | 'revokedAt'>): DeviceStatus {
  if (revokedAt) return 'revoked'
  return pairedAt ? 'paired' : 'unpaired'
}

/** How many points one issue of a terminal may give, both ends included. */
export interface IssueLimits {
  minPoints: number
  maxPoints: number
}

/** Whether limits leave anything to issue. */
export const areLimits = ({ minPoints, maxPoints }: IssueLimits): boolean => minPoints <= maxPoints

/** The refusal of points that a terminal may not issue; undefined where it may. */
export function pointsRefusal(
  points: number,
  { minPoints, maxPoints }: IssueLimits,
): InvalidInput | undefined {
  if (points >= minPoints && points <= maxPoints) return undefined
  return invalid('points', `must be ${minPoints} to ${maxPoints} on this terminal, not ${points}`)
}
