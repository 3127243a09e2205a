import type { TransactionContext } from '../context.js'
import { Prisma } from '../database/generated/prisma/client.js'
import { statement } from '../database/sql.js'
import { AppError } from '../errors.js'
import type { RewardSupply } from './activity.rules.js'
import type { TimeActive } from './schedule.rules.js'
import type { RewardTerms } from './terms.rules.js'

/** A reward as its table holds it: terms to columns and back. */

/** Terms that stand in one column each, under their own name and type. */
const PLAIN_TERMS = {
  name: true,
  description: true,
  type: true,
  cashbackCents: true,
  pointsCost: true,
  conditions: true,
  cooldownMode: true,
  cooldownCount: true,
  cooldownAmount: true,
  cooldownUnit: true,
  absenceAmount: true,
  absenceUnit: true,
  birthday: true,
  birthdayWindowMode: true,
  birthdayDaysBefore: true,
  birthdayDaysAfter: true,
  maxRedemptions: true,
  deliveryMode: true,
  digitalAssetType: true,
  digitalAssetSource: true,
  digitalAssetValue: true,
  digitalWebhookUrl: true,
  digitalEmailDelivery: true,
} as const satisfies Prisma.RewardSelect

const OVERRIDE_TERMS = {
  tierId: true,
  cooldownMode: true,
  cooldownCount: true,
  cooldownAmount: true,
  cooldownUnit: true,
  earlyAccessHours: true,
} as const satisfies Prisma.RewardTierOverrideSelect

/** What changing a reward starts from. */
export interface StoredReward extends Pick<RewardSupply, 'redemptionsCount' | 'poolAvailable'> {
  terms: RewardTerms
  offByHand: boolean
  /** Slots of the cap held by redemptions on their way. */
  reservedCount: number
  sealedSecret: Uint8Array<ArrayBuffer> | null
}

const lock = statement<{ one: number }>(
  'lock_reward',
  `SELECT 1 AS one FROM rewards WHERE business_id = $1 AND id = $2 AND deleted_at IS NULL FOR NO KEY UPDATE`,
)

/** The reward, locked until the transaction ends: completions that count on it wait. Throws REWARD_NOT_FOUND. */
export async function lockReward(tx: TransactionContext, id: string): Promise<StoredReward> {
  if (!(await tx.sql.row(lock, [tx.business.id, id]))) throw new AppError('REWARD_NOT_FOUND')
  // Read after the lock, in a statement of its own: what another transaction has just written is seen.
  const row = await tx.db.reward.findUniqueOrThrow({
    where: { businessId_id: { businessId: tx.business.id, id } },
    select: {
      ...PLAIN_TERMS,
      startDate: true,
      endDate: true,
      timeActive: true,
      tierGateMode: true,
      tierGateTierId: true,
      tierOverrides: { select: OVERRIDE_TERMS, orderBy: { position: 'asc' } },
      offByHand: true,
      redemptionsCount: true,
      reservedCount: true,
      poolAvailable: true,
      digitalWebhookSecret: true,
    },
  })
  const {
    startDate,
    endDate,
    timeActive,
    tierGateMode,
    tierGateTierId,
    offByHand,
    redemptionsCount,
    reservedCount,
    poolAvailable,
    digitalWebhookSecret,
    ...plain
  } = row
  return {
    terms: {
      ...plain,
      startDate: isoDate(startDate),
      endDate: isoDate(endDate),
      timeActive: timeActive as TimeActive | null,
      tierGate:
        tierGateMode === null || tierGateTierId === null
          ? null
          : { mode: tierGateMode, tierId: tierGateTierId },
    },
    offByHand,
    redemptionsCount,
    reservedCount,
    poolAvailable,
    sealedSecret: digitalWebhookSecret,
  }
}

/** The columns of the reward's own row. */
export function columnsOf(terms: RewardTerms) {
  const { startDate, endDate, timeActive, tierGate, tierOverrides, ...plain } = terms
  return {
    ...plain,
    startDate: midnightUtc(startDate),
    endDate: midnightUtc(endDate),
    timeActive: timeActive === null ? Prisma.DbNull : (timeActive as Prisma.InputJsonObject),
    tierGateMode: tierGate?.mode ?? null,
    tierGateTierId: tierGate?.tierId ?? null,
  }
}

/** Replaces the overrides of a reward, in their order. */
export async function saveTierOverrides(
  tx: TransactionContext,
  rewardId: string,
  overrides: RewardTerms['tierOverrides'],
): Promise<void> {
  const owner = { businessId: tx.business.id, rewardId }
  await tx.db.rewardTierOverride.deleteMany({ where: owner })
  if (overrides.length === 0) return
  await tx.db.rewardTierOverride.createMany({
    data: overrides.map((override, position) => ({ ...owner, position, ...override })),
  })
}

const isoDate = (date: Date | null): string | null => date?.toISOString().slice(0, 10) ?? null

/** A `date` column as Prisma takes it. */
const midnightUtc = (day: string | null): Date | null => (day === null ? null : new Date(`${day}T00:00:00Z`))
