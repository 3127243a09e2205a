import type { Middleware } from 'koa'
import { AppError } from '../errors.js'
import { IMAGES_PATH, type ImageStore } from './image-store.js'

/**
 * `GET /images/:key`, for everybody who has the address. A key names one picture for ever, so whoever has it need not
 * ask again. Throws IMAGE_NOT_FOUND, METHOD_NOT_ALLOWED.
 */
export const serveImages =
  (images: ImageStore): Middleware =>
  async (koa, next) => {
    if (!koa.path.startsWith(`${IMAGES_PATH}/`)) return next()
    koa.state.route = `${koa.method} ${IMAGES_PATH}/:key`
    if (koa.method !== 'GET' && koa.method !== 'HEAD') {
      koa.set('Allow', 'GET, HEAD')
      throw new AppError('METHOD_NOT_ALLOWED')
    }
    const image = await images.read(koa.path.slice(IMAGES_PATH.length + 1))
    if (!image) throw new AppError('IMAGE_NOT_FOUND')

    koa.body = image.body
    koa.type = image.contentType
    koa.etag = image.sha256
    koa.set('Cache-Control', 'public, max-age=31536000, immutable')
    koa.set('X-Content-Type-Options', 'nosniff')
    if (koa.fresh) koa.status = 304
  }
