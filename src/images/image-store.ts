import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { Disk } from 'flydrive'
import { FSDriver } from 'flydrive/drivers/fs'
import { v7 as uuidv7 } from 'uuid'
import type { Config } from '../config.js'
import type { ProcessedImage } from './process-image.js'

/**
 * Where images are kept. An object is written once, under a key of its own, and never changed: the row that names
 * the key is what counts. So an image is put before its row is committed, and the one it replaces deleted afterwards;
 * what a crash leaves in between is a file that nothing names.
 */
export interface ImageStore {
  /** Stores an image; gives its key. */
  put(image: ProcessedImage): Promise<string>
  /** Where everybody can see the image of a key. */
  urlOf(key: string): string
  /** The image; undefined where the key names none. */
  read(key: string): Promise<StoredImage | undefined>
  /** Also where there is none any more. */
  delete(key: string): Promise<void>
}

export interface StoredImage {
  body: Readable
  contentType: string
  /** SHA-256 of the body, hexadecimal. */
  sha256: string
}

/** The path below which the service shows images (see serve-images.ts). */
export const IMAGES_PATH = '/images'

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  jpg: 'image/jpeg',
  png: 'image/png',
  webp: 'image/webp',
}

/** Named by its content and by its upload: deleting one upload's file can't take another's of the same picture. */
const KEY = /^([0-9a-f]{64})-[0-9a-f-]{36}\.(jpg|png|webp)$/

/** The store that the settings ask for: a folder in DATA_DIR, or a bucket. */
export async function openImageStore(
  config: Pick<Config, 'dataDir' | 'imagesS3' | 'publicUrl'>,
): Promise<ImageStore> {
  const disk = new Disk(config.imagesS3 ? await s3Driver(config.imagesS3) : folderDriver(config.dataDir))
  return {
    async put({ bytes, sha256, extension }) {
      const key = `${sha256}-${uuidv7()}.${extension}`
      await disk.put(key, bytes)
      return key
    },
    urlOf: (key) => `${config.publicUrl}${IMAGES_PATH}/${key}`,
    async read(key) {
      const [, sha256, extension] = KEY.exec(key) ?? []
      if (sha256 === undefined || extension === undefined || !(await disk.exists(key))) return undefined
      return { body: await disk.getStream(key), contentType: CONTENT_TYPES[extension]!, sha256 }
    },
    delete: (key) => disk.delete(key),
  }
}

const folderDriver = (dataDir: string) =>
  new FSDriver({ location: join(dataDir, 'images'), visibility: 'private' })

/** Loaded only where it is asked for: the client is large. Its credentials come from the AWS variables and roles. */
async function s3Driver({ bucket, region, endpoint }: NonNullable<Config['imagesS3']>) {
  const { S3Driver } = await import('flydrive/drivers/s3')
  return new S3Driver({
    bucket,
    region,
    visibility: 'private',
    // Buckets have had no ACLs by default for years; others than Amazon's know neither them nor the newer checksums.
    supportsACL: false,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
  })
}
