import type { Route } from '../rest/route.js'

const image = {
  path: '/rewards/:id/image',
  params: { id: 'input.id' },
  notFound: 'REWARD_NOT_FOUND',
  data: 'unwrap',
  status: 200,
} as const

export const rewardImageRoutes: Route[] = [
  {
    ...image,
    method: 'post',
    operation: `mutation ($input: SetRewardImageInput!) { setRewardImage(input: $input) { image_url: imageUrl } }`,
    multipart: true,
    message: 'Reward image saved successfully',
  },
  {
    ...image,
    method: 'delete',
    // Answers an empty object, as for raffles and promotions (spec §4).
    operation: `mutation ($input: DeleteRewardImageInput!) { deleteRewardImage(input: $input) { id @skip(if: true) } }`,
    message: 'Reward image deleted successfully',
    addition: true,
  },
]
