import type { Route } from '../rest/route.js'

const filter = /* GraphQL */ `fragment SegmentFilter on SegmentFilter {
  points_balance: pointsBalance { min max } spend_usd_estimated: spendUsdEstimated { min max }
  visit_count: visitCount { min max } redemption_count: redemptionCount { min max }
  last_visit_within_days: lastVisitWithinDays last_visit_not_within_days: lastVisitNotWithinDays
  joined_within_days: joinedWithinDays joined_before_days_ago: joinedBeforeDaysAgo
  hour_of_day: hourOfDay { from to } day_of_week: dayOfWeek timezone
  has_redeemed: hasRedeemed promotion_interest: promotionInterest birthday_in_month: birthdayInMonth
}`

/** docs: decisions, Segments. */
const customer = /* GraphQL */ `fragment SegmentCustomer on SegmentCustomer {
  user_id: userId display_name: displayName points_balance: pointsBalance visit_count: visitCount
  redemption_count: redemptionCount spend_usd_estimated: spendUsdEstimated last_visit_at: lastVisitAt
  joined_at: joinedAt tier_id: tierId identifiers { id value label created_at: createdAt }
}`

export const segmentRoutes: Route[] = [
  {
    method: 'get',
    path: '/segments/presets',
    operation: `query { presets: segmentPresets { id name description filter { ...SegmentFilter } } } ${filter}`,
    sparse: ['filter'],
    status: 200,
    message: 'Segment presets retrieved successfully',
  },
  {
    method: 'post',
    path: '/segments/customers',
    operation: `query ($input: SegmentInput!) {
      segmentCustomers(input: $input) {
        customers { ...SegmentCustomer }
        pagination { limit offset returned total_count: totalCount }
      }
    } ${customer}`,
    data: 'unwrap',
    status: 200,
    message: 'Segment customers retrieved successfully',
  },
  {
    method: 'post',
    path: '/segments/preview',
    operation: `query ($input: SegmentInput!) {
      segmentPreview(input: $input) { count sample { ...SegmentCustomer } }
    } ${customer}`,
    data: 'unwrap',
    status: 200,
    message: 'Segment preview retrieved successfully',
    addition: true,
  },
]
