import { pageQuery, type Route } from '../rest/route.js'

/** The resource of spec §2, Reward, with `cashback_cents` (docs: decisions, HTTP). */
const reward = /* GraphQL */ `fragment Reward on Reward {
  id business_id: businessId name description type
  points_cost: pointsCost cashback_cents: cashbackCents
  active start_date: startDate end_date: endDate time_active: timeActive conditions
  cooldown_mode: cooldownMode cooldown_count: cooldownCount
  cooldown_amount: cooldownAmount cooldown_unit: cooldownUnit
  absence_amount: absenceAmount absence_unit: absenceUnit
  birthday birthday_window_mode: birthdayWindowMode
  birthday_days_before: birthdayDaysBefore birthday_days_after: birthdayDaysAfter
  tier_gate: tierGate { mode tier_id: tierId }
  tier_overrides: tierOverrides {
    tier_id: tierId cooldown_mode: cooldownMode cooldown_count: cooldownCount
    cooldown_amount: cooldownAmount cooldown_unit: cooldownUnit early_access_hours: earlyAccessHours
  }
  max_redemptions: maxRedemptions redemptions_count: redemptionsCount
  redemptions_remaining: redemptionsRemaining
  deactivated_by_limit: deactivatedByLimit deactivated_by_pool: deactivatedByPool
  delivery_mode: deliveryMode digital_asset_type: digitalAssetType
  digital_asset_source: digitalAssetSource digital_asset_value: digitalAssetValue
  digital_webhook_url: digitalWebhookUrl digital_webhook_secret: digitalWebhookSecret
  digital_email_delivery: digitalEmailDelivery pool_remaining: poolRemaining
  image_url: imageUrl created_at: createdAt
}`

export const rewardRoutes: Route[] = [
  {
    method: 'get',
    path: '/rewards',
    operation: /* GraphQL */ `
      query ($first: Int, $offset: Int) {
        rewards(first: $first, offset: $offset) { nodes { ...Reward } totalCount }
      } ${reward}`,
    query: pageQuery,
    data: 'page',
    status: 200,
    message: 'Rewards retrieved successfully',
    addition: true,
  },
  {
    method: 'post',
    path: '/rewards',
    operation: `mutation ($input: CreateRewardInput!) {
      reward: createReward(input: $input) { ...Reward }
    } ${reward}`,
    status: 201,
    message: 'Reward created successfully',
    addition: true,
  },
  {
    method: 'get',
    path: '/rewards/:id',
    operation: `query ($id: UUID!) { reward(id: $id) { ...Reward } } ${reward}`,
    params: { id: 'id' },
    notFound: 'REWARD_NOT_FOUND',
    status: 200,
    message: 'Reward retrieved successfully',
    addition: true,
  },
  {
    method: 'patch',
    path: '/rewards/:id',
    operation: `mutation ($input: UpdateRewardInput!) {
      reward: updateReward(input: $input) { ...Reward }
    } ${reward}`,
    params: { id: 'input.id' },
    notFound: 'REWARD_NOT_FOUND',
    status: 200,
    message: 'Reward updated successfully',
  },
  {
    method: 'delete',
    path: '/rewards/:id',
    // Answers an empty object: of what is gone there is nothing to show.
    operation: `mutation ($input: DeleteRewardInput!) { deleteReward(input: $input) { id @skip(if: true) } }`,
    params: { id: 'input.id' },
    notFound: 'REWARD_NOT_FOUND',
    data: 'unwrap',
    status: 200,
    message: 'Reward deleted successfully',
    addition: true,
  },
]
