import { type Context, type TransactionContext, transaction, writeAfter } from '../context.js'
import { statement } from '../database/sql.js'
import { AppError } from '../errors.js'
import type { selection } from '../graphql/fields.js'
import { type ImageInput, readImage } from '../images/image-source.js'
import { processImage } from '../images/process-image.js'
import { readReward, type ShownReward } from './rewards.js'

/**
 * The image of a reward (spec §4). Its file is put before the row that names it is committed and the one it replaces
 * deleted afterwards, so that a row never names a file that is gone.
 */

type Selection = ReturnType<typeof selection>

interface ImageRow {
  imageKey: string | null
}

const FIND_IMAGE = `
  SELECT image_key AS "imageKey" FROM rewards WHERE business_id = $1 AND id = $2 AND deleted_at IS NULL`
const findImage = statement<ImageRow>('find_reward_image', FIND_IMAGE)
const lockImage = statement<ImageRow>('lock_reward_image', `${FIND_IMAGE} FOR NO KEY UPDATE`)
const saveImage = statement<never>(
  'save_reward_image',
  'UPDATE rewards SET image_key = $3, updated_at = $4 WHERE business_id = $1 AND id = $2',
)

/** Gives a reward another image. Throws REWARD_NOT_FOUND, or InvalidInput naming the source or what is wrong with it. */
export async function setRewardImage(
  ctx: Context,
  { id, ...input }: ImageInput & { id: string },
  selected: Selection,
): Promise<ShownReward> {
  // Before anything is downloaded or drawn.
  await imageOf(ctx, id, findImage)
  const make = async () => {
    const { path, bytes } = await readImage(ctx.network, input)
    return ctx.images.put(await processImage(path, bytes))
  }
  const undo = (key: string) => discard(ctx, key)
  return writeAfter(ctx, { make, undo }, async (tx, key) => {
    await replaceImage(tx, id, key)
    return readReward(tx, { id }, selected)
  })
}

/** Takes the image of a reward away, if it has one. Throws REWARD_NOT_FOUND. */
export const deleteRewardImage = (
  ctx: Context,
  { id }: { id: string },
  selected: Selection,
): Promise<ShownReward> =>
  transaction(ctx, async (tx) => {
    await replaceImage(tx, id, null)
    return readReward(tx, { id }, selected)
  })

async function replaceImage(tx: TransactionContext, id: string, key: string | null): Promise<void> {
  const replaced = await imageOf(tx, id, lockImage)
  await tx.sql.run(saveImage, [tx.business.id, id, key, tx.now])
  if (replaced !== null) tx.afterCommit(() => discard(tx, replaced))
}

async function imageOf(ctx: Context, id: string, by: typeof findImage): Promise<string | null> {
  const row = await ctx.sql.row(by, [ctx.business.id, id])
  if (!row) throw new AppError('REWARD_NOT_FOUND')
  return row.imageKey
}

/** A file that no row names does no harm: the request's own outcome is what its client must hear. */
const discard = ({ images }: Context, key: string): Promise<void> => images.delete(key).catch(() => {})
