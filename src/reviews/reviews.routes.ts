import type { Route } from '../rest/route.js'

export const reviewRoutes: Route[] = [
  {
    method: 'post',
    path: '/reviews',
    operation: /* GraphQL */ `mutation ($input: SubmitReviewInput!) {
      review: submitReview(input: $input) {
        id user_id: userId rating comment answers { question_id: questionId rating } created_at: createdAt
      }
    }`,
    status: 201,
    message: 'Review submitted successfully',
    addition: true,
  },
  {
    method: 'get',
    path: '/reviews/summary',
    operation: /* GraphQL */ `query {
      reviewSummary {
        average_rating: averageRating total_reviews: totalReviews rating_distribution: ratingDistribution
        questions { id text average responses distribution }
      }
    }`,
    data: 'unwrap',
    status: 200,
    message: 'Review summary retrieved successfully',
  },
]
