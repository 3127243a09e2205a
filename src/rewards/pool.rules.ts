/** What holds for the code pool of a reward (spec section 2, Code pool stats). Pure. */
import type { DigitalAssetType } from '../database/generated/prisma/client.js'
import { InvalidInput } from '../errors.js'
import { isHttpUrl } from './terms.rules.js'

/** The most values that one reward may have stored, consumed ones included (docs: decisions, Rewards). */
export const POOL_CAPACITY = 100_000

export interface CodePool {
  rewardId: string
  /** `available` + `consumed`. */
  total: number
  available: number
  consumed: number
  capacity: number
}

/** The stats of a pool, from the counters that its reward keeps. */
export const codePoolOf = (reward: {
  readonly id: string
  readonly poolAvailable: number
  readonly poolConsumed: number
}): CodePool => ({
  rewardId: reward.id,
  total: reward.poolAvailable + reward.poolConsumed,
  available: reward.poolAvailable,
  consumed: reward.poolConsumed,
  capacity: POOL_CAPACITY,
})

/** The values of a link reward are links; throws InvalidInput that names those which are not. */
export function requireLinks(assetType: DigitalAssetType | null, values: readonly string[]): void {
  if (assetType !== 'link') return
  const issues = values.flatMap((value, index) =>
    isHttpUrl(value)
      ? []
      : [{ path: `values.${index}`, message: 'must be an http or https URL when digitalAssetType is link' }],
  )
  if (issues.length > 0) throw new InvalidInput(issues)
}
