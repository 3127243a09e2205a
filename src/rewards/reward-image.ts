import type { Context } from '../context.js'
import type { selection } from '../graphql/fields.js'
import { imageSlot } from '../images/image-slot.js'
import type { ImageInput } from '../images/image-source.js'
import { readReward, type ShownReward } from './rewards.js'

type Selection = ReturnType<typeof selection>

const images = imageSlot('rewards', 'REWARD_NOT_FOUND')

/** Gives a reward another image. Throws REWARD_NOT_FOUND, or InvalidInput naming the source or what is wrong with it. */
export const setRewardImage = (
  ctx: Context,
  input: ImageInput & { id: string },
  selected: Selection,
): Promise<ShownReward> => images.set(ctx, input, (tx) => readReward(tx, input, selected))

/** Takes the image of a reward away, if it has one. Throws REWARD_NOT_FOUND. */
export const deleteRewardImage = (
  ctx: Context,
  { id }: { id: string },
  selected: Selection,
): Promise<ShownReward> => images.clear(ctx, id, (tx) => readReward(tx, { id }, selected))
