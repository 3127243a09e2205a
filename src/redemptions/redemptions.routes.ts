import { pageQuery, type Route } from '../rest/route.js'
import { transactionBrief } from '../transactions/transactions.routes.js'

/** The six fields of spec §2. */
const redemption = /* GraphQL */ `fragment RedemptionBrief on Redemption {
  code status reward_name: rewardName points_cost: pointsCost type cashback_cents: cashbackCents
}`

const details = /* GraphQL */ `fragment RedemptionDetails on Redemption {
  id reward_id: rewardId user_id: userId delivery_mode: deliveryMode fulfilment_status: fulfilmentStatus
  shipping_address: shippingAddress { name line1 line2 city region postal_code: postalCode country phone }
  created_at: createdAt expires_at: expiresAt completed_at: completedAt
}`

const shipment = /* GraphQL */ `fragment Shipment on Redemption {
  carrier tracking_number: trackingNumber shipped_at: shippedAt delivered_at: deliveredAt
}`

const code = { params: { code: 'input.code' } } as const

export const redemptionRoutes: Route[] = [
  {
    method: 'get',
    path: '/redemptions',
    operation: /* GraphQL */ `
      query ($first: Int, $offset: Int, $status: RedemptionStatus, $deliveryMode: DeliveryMode,
             $fulfilmentStatus: FulfilmentStatus, $rewardId: UUID, $userId: UUID) {
        redemptions(first: $first, offset: $offset, status: $status, deliveryMode: $deliveryMode,
                    fulfilmentStatus: $fulfilmentStatus, rewardId: $rewardId, userId: $userId) {
          nodes { ...RedemptionBrief ...RedemptionDetails } totalCount
        }
      } ${redemption} ${details}`,
    query: {
      ...pageQuery,
      status: 'status',
      delivery_mode: 'deliveryMode',
      fulfilment_status: 'fulfilmentStatus',
      reward_id: 'rewardId',
      user_id: 'userId',
    },
    data: 'page',
    status: 200,
    message: 'Redemptions retrieved successfully',
    addition: true,
  },
  {
    method: 'post',
    path: '/redemptions',
    operation: /* GraphQL */ `mutation ($input: CreateRedemptionInput!) {
      createRedemption(input: $input) {
        redemption { ...RedemptionBrief } details: redemption { ...RedemptionDetails }
        asset { type value expires_at: expiresAt } transaction { ...TransactionBrief }
      }
    } ${redemption} ${details} ${transactionBrief}`,
    data: 'unwrap',
    optional: ['asset', 'transaction'],
    status: 201,
    message: 'Redemption created successfully',
    addition: true,
  },
  {
    method: 'get',
    path: '/redemptions/:code',
    operation: /* GraphQL */ `query ($code: String!) {
      redemption(code: $code) { redemption { ...RedemptionBrief } details: redemption { ...RedemptionDetails } }
    } ${redemption} ${details}`,
    params: { code: 'code' },
    data: 'unwrap',
    status: 200,
    message: 'Redemption retrieved successfully',
    addition: true,
  },
  {
    method: 'post',
    path: '/redemptions/:code/validate',
    operation: /* GraphQL */ `query ($code: String!) {
      validateRedemption(code: $code) {
        redemption { ...RedemptionBrief } conditions
        customer { user_id: userId display_name: displayName balance }
      }
    } ${redemption}`,
    params: { code: 'code' },
    data: 'unwrap',
    status: 200,
    message: 'Redemption can be completed',
    addition: true,
  },
  {
    method: 'post',
    path: '/redemptions/:code/complete',
    operation: /* GraphQL */ `mutation ($input: RedemptionByCodeInput!) {
      completeRedemption(input: $input) { redemption { ...RedemptionBrief } transaction { ...TransactionBrief } }
    } ${redemption} ${transactionBrief}`,
    ...code,
    data: 'unwrap',
    status: 200,
    message: 'Redemption completed successfully',
  },
  {
    method: 'post',
    path: '/redemptions/:code/fulfil',
    operation: /* GraphQL */ `mutation ($input: FulfilRedemptionInput!) {
      fulfilRedemption(input: $input) {
        redemption { ...RedemptionBrief } details: redemption { ...RedemptionDetails }
        shipment: redemption { ...Shipment }
      }
    } ${redemption} ${details} ${shipment}`,
    ...code,
    data: 'unwrap',
    status: 200,
    message: 'Redemption fulfilment updated successfully',
    addition: true,
  },
  {
    method: 'post',
    path: '/redemptions/:code/cancel',
    operation: /* GraphQL */ `mutation ($input: RedemptionByCodeInput!) {
      cancelRedemption(input: $input) {
        redemption { ...RedemptionBrief } details: redemption { ...RedemptionDetails }
        transaction { ...TransactionBrief }
      }
    } ${redemption} ${details} ${transactionBrief}`,
    ...code,
    data: 'unwrap',
    optional: ['transaction'],
    status: 200,
    message: 'Redemption cancelled successfully',
    addition: true,
  },
]
