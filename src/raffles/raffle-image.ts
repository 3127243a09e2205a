import type { Context } from '../context.js'
import type { Raffle } from '../database/generated/prisma/client.js'
import type { selection } from '../graphql/fields.js'
import { imageSlot } from '../images/image-slot.js'
import type { ImageInput } from '../images/image-source.js'
import { readRaffle } from './raffles.js'

type Selection = ReturnType<typeof selection>

const images = imageSlot('raffles', 'RAFFLE_NOT_FOUND')

/** Gives a raffle another image. Throws RAFFLE_NOT_FOUND, or InvalidInput naming the source or what is wrong with it. */
export const setRaffleImage = (
  ctx: Context,
  input: ImageInput & { id: string },
  selected: Selection,
): Promise<Raffle> => images.set(ctx, input, (tx) => readRaffle(tx, input, selected))

/** Takes the image of a raffle away, if it has one. Throws RAFFLE_NOT_FOUND. */
export const deleteRaffleImage = (
  ctx: Context,
  { id }: { id: string },
  selected: Selection,
): Promise<Raffle> => images.clear(ctx, id, (tx) => readRaffle(tx, { id }, selected))
