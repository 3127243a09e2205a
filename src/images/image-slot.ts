import { type Context, type TransactionContext, transaction, writeAfter } from '../context.js'
import { statement } from '../database/sql.js'
import { AppError, type PlainCode } from '../errors.js'
import { type ImageInput, readImage } from './image-source.js'
import { processImage } from './process-image.js'

/**
 * The one image that a thing may have (spec §4), named by `image_key` of its row. A file is put before the row that
 * names it is committed and the one it replaces deleted afterwards, so that a row never names a file that is gone.
 */
export interface ImageSlot {
  /**
   * Gives the thing another image and answers what `read` does. Throws that it is not there, or InvalidInput naming
   * the source or what is wrong with it.
   */
  set<T>(
    ctx: Context,
    input: ImageInput & { id: string },
    read: (tx: TransactionContext) => Promise<T>,
  ): Promise<T>
  /** Takes the image away, if there is one, and answers what `read` does. Throws that the thing is not there. */
  clear<T>(ctx: Context, id: string, read: (tx: TransactionContext) => Promise<T>): Promise<T>
}

interface ImageRow {
  imageKey: string | null
}

/** The images of a table's things; `notFound` answers where one is not there (any more). */
export function imageSlot(table: string, notFound: PlainCode): ImageSlot {
  const found = `SELECT image_key AS "imageKey" FROM ${table} WHERE business_id = $1 AND id = $2 AND deleted_at IS NULL`
  const find = statement<ImageRow>(`find_image_of_${table}`, found)
  const lock = statement<ImageRow>(`lock_image_of_${table}`, `${found} FOR NO KEY UPDATE`)
  const save = statement<never>(
    `save_image_of_${table}`,
    `UPDATE ${table} SET image_key = $3, updated_at = $4 WHERE business_id = $1 AND id = $2`,
  )

  async function imageOf(ctx: Context, id: string, by: typeof find): Promise<string | null> {
    const row = await ctx.sql.row(by, [ctx.business.id, id])
    if (!row) throw new AppError(notFound)
    return row.imageKey
  }

  async function replace(tx: TransactionContext, id: string, key: string | null): Promise<void> {
    const replaced = await imageOf(tx, id, lock)
    await tx.sql.run(save, [tx.business.id, id, key, tx.now])
    if (replaced !== null) tx.afterCommit(() => discard(tx, replaced))
  }

  return {
    async set(ctx, { id, ...input }, read) {
      // Before anything is downloaded or drawn.
      await imageOf(ctx, id, find)
      const make = async () => {
        const { path, bytes } = await readImage(ctx.network, input)
        return ctx.images.put(await processImage(path, bytes))
      }
      const undo = (key: string) => discard(ctx, key)
      return writeAfter(ctx, { make, undo }, async (tx, key) => {
        await replace(tx, id, key)
        return read(tx)
      })
    },
    clear: (ctx, id, read) =>
      transaction(ctx, async (tx) => {
        await replace(tx, id, null)
        return read(tx)
      }),
  }
}

/** A file that no row names does no harm: the request's own outcome is what its client must hear. */
const discard = ({ images }: Context, key: string): Promise<void> => images.delete(key).catch(() => {})
