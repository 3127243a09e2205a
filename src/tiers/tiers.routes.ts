import type { Route } from '../rest/route.js'

export const tierRoutes: Route[] = [
  {
    method: 'get',
    path: '/tiers',
    operation: /* GraphQL */ `query {
      tierSystem {
        settings { enabled metric period period_months: periodMonths downgrade_policy: downgradePolicy }
        tiers {
          id name rank min_points: minPoints
          benefits {
            points_multiplier: pointsMultiplier cashback_boost_percent: cashbackBoostPercent
            referral_bonus_points: referralBonusPoints tier_reach_bonus_points: tierReachBonusPoints
          }
        }
      }
    }`,
    data: 'unwrap',
    status: 200,
    message: 'Tiers retrieved successfully',
  },
]
