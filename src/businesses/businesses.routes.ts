import type { Route } from '../rest/route.js'

const settings = /* GraphQL */ `fragment Settings on Business {
  timezone currency
  earn_points_per_unit: earnPointsPerUnit point_spend_value: pointSpendValue usd_rate: usdRate
  redemption_ttl_hours: redemptionTtlHours points_expire_after_days: pointsExpireAfterDays
}`

export const businessRoutes: Route[] = [
  {
    method: 'get',
    path: '/me',
    operation: /* GraphQL */ `{
      viewer { business { id name email status country } api_key: apiKey { id name prefix } }
    }`,
    data: 'unwrap',
    status: 200,
    message: 'API key is valid',
  },
  {
    method: 'get',
    path: '/settings',
    operation: `{ settings: business { ...Settings } } ${settings}`,
    status: 200,
    message: 'Settings retrieved successfully',
    addition: true,
  },
  {
    method: 'patch',
    path: '/settings',
    operation: `mutation ($input: UpdateSettingsInput!) {
      settings: updateSettings(input: $input) { ...Settings }
    } ${settings}`,
    status: 200,
    message: 'Settings updated successfully',
    addition: true,
  },
]
