import { mutation, selection } from '../graphql/fields.js'
import { deleteRewardImage, setRewardImage } from './reward-image.js'
import { DeleteRewardImage, SetRewardImage } from './rewards.input.js'
import { RewardType } from './rewards.schema.js'

mutation('setRewardImage', {
  description: 'Gives a reward an image; one it has is replaced.',
  type: RewardType,
  input: SetRewardImage,
  scope: 'rewards:write',
  errors: ['REWARD_NOT_FOUND'],
  resolve: (ctx, input, info) => setRewardImage(ctx, input, selection(ctx, info)),
})

mutation('deleteRewardImage', {
  description: 'Takes the image of a reward away, if it has one.',
  type: RewardType,
  input: DeleteRewardImage,
  scope: 'rewards:write',
  errors: ['REWARD_NOT_FOUND'],
  resolve: (ctx, input, info) => deleteRewardImage(ctx, input, selection(ctx, info)),
})
