import type { Context } from '../context.js'
import { statement } from '../database/sql.js'
import { AppError } from '../errors.js'
import type { RewardCooldown, RewardEligibility } from '../rewards/eligibility.rules.js'

/** A reward as far as redeeming it is concerned, for a customer of one tier. */
export interface RewardFacts extends RewardEligibility, RewardCooldown {
  id: string
  name: string
  type: 'item' | 'discount' | 'cashback'
  cashbackCents: number | null
  pointsCost: number
  conditions: string | null
  deliveryMode: 'in_store' | 'shipping' | 'digital'
  digitalAssetType: 'code' | 'link' | null
  digitalAssetSource: 'static' | 'pool' | 'external'
  digitalAssetValue: string | null
  digitalEmailDelivery: boolean
  poolAvailable: number
  maxRedemptions: number | null
  redemptionsCount: number
  reservedCount: number
  offByHand: boolean
  deleted: boolean
}

type RewardRow = Omit<RewardFacts, 'tierOverrides' | 'tierGateTier'> & {
  tierGateRank: number | null
  overrideCooldownMode: RewardCooldown['cooldownMode'] | null
  overrideCooldownCount: number | null
  overrideCooldownAmount: number | null
  overrideCooldownUnit: RewardCooldown['cooldownUnit']
  earlyAccessHours: number | null
}

const readReward = statement<RewardRow>(
  'read_reward_facts',
  `SELECT w.id, w.name, w.type, w.cashback_cents AS "cashbackCents", w.points_cost AS "pointsCost", w.conditions,
          w.delivery_mode AS "deliveryMode", w.digital_asset_type AS "digitalAssetType",
          w.digital_asset_source AS "digitalAssetSource", w.digital_asset_value AS "digitalAssetValue",
          w.digital_email_delivery AS "digitalEmailDelivery",
          w.pool_available AS "poolAvailable", w.max_redemptions AS "maxRedemptions",
          w.redemptions_count AS "redemptionsCount", w.reserved_count AS "reservedCount",
          w.off_by_hand AS "offByHand", w.deleted_at IS NOT NULL AS deleted,
          w.start_date AS "startDate", w.end_date AS "endDate", w.time_active AS "timeActive",
          w.cooldown_mode AS "cooldownMode", w.cooldown_count AS "cooldownCount",
          w.cooldown_amount AS "cooldownAmount", w.cooldown_unit AS "cooldownUnit",
          w.absence_amount AS "absenceAmount", w.absence_unit AS "absenceUnit", w.birthday,
          w.birthday_window_mode AS "birthdayWindowMode", w.birthday_days_before AS "birthdayDaysBefore",
          w.birthday_days_after AS "birthdayDaysAfter", w.tier_gate_mode AS "tierGateMode",
          w.tier_gate_tier_id AS "tierGateTierId", g.rank AS "tierGateRank",
          o.cooldown_mode AS "overrideCooldownMode", o.cooldown_count AS "overrideCooldownCount",
          o.cooldown_amount AS "overrideCooldownAmount", o.cooldown_unit AS "overrideCooldownUnit",
          o.early_access_hours AS "earlyAccessHours"
     FROM rewards w
     LEFT JOIN tiers g ON g.business_id = w.business_id AND g.id = w.tier_gate_tier_id
     LEFT JOIN reward_tier_overrides o ON o.business_id = w.business_id AND o.reward_id = w.id AND o.tier_id = $3
    WHERE w.business_id = $1 AND w.id = $2`,
)

/** The reward for a customer of `tierId`, deleted ones too; throws REWARD_NOT_FOUND. */
export async function readRewardFacts(
  ctx: Context,
  rewardId: string,
  tierId: string | null,
): Promise<RewardFacts> {
  const row = await ctx.sql.row(readReward, [ctx.business.id, rewardId, tierId])
  if (!row) throw new AppError('REWARD_NOT_FOUND')
  return {
    ...row,
    tierGateTier: row.tierGateRank === null ? null : { rank: row.tierGateRank },
    tierOverrides:
      tierId === null
        ? []
        : [
            {
              tierId,
              cooldownMode: row.overrideCooldownMode,
              cooldownCount: row.overrideCooldownCount,
              cooldownAmount: row.overrideCooldownAmount,
              cooldownUnit: row.overrideCooldownUnit,
              earlyAccessHours: row.earlyAccessHours,
            },
          ],
  }
}
