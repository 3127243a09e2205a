import type { Context } from '../context.js'
import { statement } from '../database/sql.js'
import { AppError } from '../errors.js'
import type { CustomerAccount } from '../ledger/customer.js'
import { usableBalance } from '../ledger/expiry.rules.js'
import { cooldownSecondsLeft, windowStart } from '../rewards/cooldown.rules.js'
import { effectiveCooldown, eligibilityFailure } from '../rewards/eligibility.rules.js'
import type { RewardFacts } from './reward-facts.js'

/** What is to be checked: a redemption, or one about to be created. */
export interface Claim {
  reward: RewardFacts
  account: CustomerAccount
  /** Fixed when the redemption was created. */
  pointsCost: number
  createdAt: Date
}

/**
 * The checks that creating, validating and completing share, in the order of docs/decisions.md: cooldown,
 * eligibility, cap, pool, balance. Throws the first refusal. Under a lock on the account nothing that they read
 * about the customer can change any more; the cap is checked again by the statement that counts.
 */
export async function checkClaim(ctx: Context, claim: Claim): Promise<void> {
  const { reward, account, pointsCost } = claim
  await checkCooldown(ctx, claim)

  const failure = reward.offByHand || reward.deleted ? 'inactive' : await ineligible(ctx, claim)
  if (failure) throw new AppError('REDEMPTION_NOT_ELIGIBLE', failure)

  const { maxRedemptions } = reward
  if (maxRedemptions !== null && reward.redemptionsCount + reward.reservedCount >= maxRedemptions)
    throw new AppError('REDEMPTION_LIMIT_REACHED', maxRedemptions)
  if (reward.deliveryMode === 'digital' && reward.digitalAssetSource === 'pool' && reward.poolAvailable === 0)
    throw new AppError('DIGITAL_POOL_EXHAUSTED')

  const free = usableBalance(account, account, ctx.now) - account.held
  if (free < pointsCost) throw new AppError('INSUFFICIENT_POINTS', free)
}

/** A redemption whose value is on its way counts as if it were completed: it takes the place until it fails. */
const completions = statement<{ completedAt: Date }>(
  'completions_of_reward',
  `SELECT coalesce(completed_at, created_at) AS "completedAt" FROM redemptions
    WHERE business_id = $1 AND customer_id = $2 AND reward_id = $3
      AND (status = 'completed' OR status = 'pending' AND delivery_mode = 'digital')
      AND ($4::timestamptz IS NULL OR coalesce(completed_at, created_at) > $4)
    ORDER BY 1 DESC LIMIT $5`,
)

async function checkCooldown(ctx: Context, { reward, account }: Claim): Promise<void> {
  const cooldown = effectiveCooldown(reward, account.tierId)
  if (cooldown.mode === 'none') return
  const since = windowStart(cooldown, ctx.now, account.timezone)
  const limit = cooldown.mode === 'once' ? 1 : null
  const completed = await ctx.sql.rows(completions, [ctx.business.id, account.id, reward.id, since, limit])
  const secondsLeft = cooldownSecondsLeft(
    cooldown,
    completed.map((row) => row.completedAt),
    ctx.now,
    account.timezone,
  )
  if (secondsLeft !== null) throw new AppError('REDEMPTION_COOLDOWN_ACTIVE', secondsLeft)
}

const lastVisitBefore = statement<{ visitedAt: Date | null }>(
  'last_visit_before',
  `SELECT max(occurred_at) AS "visitedAt" FROM transactions
    WHERE business_id = $1 AND customer_id = $2 AND occurred_at < $3 AND status = 'completed'
      AND source IN ('api', 'terminal', 'code', 'reward', 'import')`,
)

async function ineligible(ctx: Context, { reward, account, createdAt }: Claim) {
  let priorVisitAt = account.lastVisitAt
  // The visit in which a code is shown must not undo the absence that earned it.
  if (reward.absenceAmount !== null && priorVisitAt !== null && priorVisitAt >= createdAt) {
    const row = await ctx.sql.row(lastVisitBefore, [ctx.business.id, account.id, createdAt])
    priorVisitAt = row!.visitedAt
  }
  return eligibilityFailure(
    reward,
    { tierId: account.tierId, tier: account.tier, birthday: account.birthday },
    { now: ctx.now, zone: account.timezone, priorVisitAt },
  )
}
