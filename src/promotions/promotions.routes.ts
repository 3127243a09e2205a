import type { Route } from '../rest/route.js'

/** docs: decisions, Promotions. */
const promotion = /* GraphQL */ `fragment Promotion on Promotion {
  id business_id: businessId name description start_date: startDate end_date: endDate active status
  points_multiplier: pointsMultiplier image_url: imageUrl interested_count: interestedCount
  created_at: createdAt updated_at: updatedAt
}`

const byPath = { params: { id: 'input.id' }, notFound: 'PROMOTION_NOT_FOUND' } as const

export const promotionRoutes: Route[] = [
  {
    method: 'get',
    path: '/promotions',
    operation: `query { promotions { ...Promotion } } ${promotion}`,
    status: 200,
    message: 'Promotions retrieved successfully',
  },
  {
    method: 'post',
    path: '/promotions',
    operation: `mutation ($input: CreatePromotionInput!) {
      promotion: createPromotion(input: $input) { ...Promotion }
    } ${promotion}`,
    status: 201,
    message: 'Promotion created successfully',
    addition: true,
  },
  {
    method: 'get',
    path: '/promotions/:id',
    operation: `query ($id: UUID!) { promotion(id: $id) { ...Promotion } } ${promotion}`,
    params: { id: 'id' },
    notFound: 'PROMOTION_NOT_FOUND',
    status: 200,
    message: 'Promotion retrieved successfully',
  },
  {
    method: 'patch',
    path: '/promotions/:id',
    operation: `mutation ($input: UpdatePromotionInput!) {
      promotion: updatePromotion(input: $input) { ...Promotion }
    } ${promotion}`,
    ...byPath,
    status: 200,
    message: 'Promotion updated successfully',
    addition: true,
  },
  {
    method: 'post',
    path: '/promotions/:id/image',
    operation: `mutation ($input: SetPromotionImageInput!) {
      setPromotionImage(input: $input) { image_url: imageUrl }
    }`,
    ...byPath,
    multipart: true,
    data: 'unwrap',
    status: 200,
    message: 'Promotion image saved successfully',
    addition: true,
  },
  {
    method: 'delete',
    path: '/promotions/:id/image',
    // Answers an empty object (spec §4).
    operation: `mutation ($input: DeletePromotionImageInput!) {
      deletePromotionImage(input: $input) { id @skip(if: true) }
    }`,
    ...byPath,
    data: 'unwrap',
    status: 200,
    message: 'Promotion image deleted successfully',
  },
  {
    method: 'post',
    path: '/promotions/:id/interest',
    operation: `mutation ($input: MarkPromotionInterestInput!) {
      promotion: markPromotionInterest(input: $input) { ...Promotion }
    } ${promotion}`,
    ...byPath,
    status: 200,
    message: 'Interest marked successfully',
    addition: true,
  },
]
