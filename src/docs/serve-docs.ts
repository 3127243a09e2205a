import { createHash } from 'node:crypto'
import type { GraphQLSchema } from 'graphql'
import type { Middleware } from 'koa'
import { AppError } from '../errors.js'
import type { CompiledRoute } from '../rest/compile.js'
import { type Resource, site } from './site.js'

/** `/docs` and `/llms.txt`, for everybody; made when they are first asked for. Throws METHOD_NOT_ALLOWED. */
export function serveDocs(schema: GraphQLSchema, routes: readonly CompiledRoute[]): Middleware {
  let resources: Map<string, Resource> | undefined
  return async (koa, next) => {
    if (koa.path !== '/llms.txt' && !/^\/docs(\/|$)/.test(koa.path)) return next()
    resources ??= site(schema, routes)
    const resource = resources.get(koa.path.replace(/(.)\/$/, '$1'))
    if (!resource) return next()
    koa.state.route = `${koa.method} ${koa.path}`
    if (koa.method !== 'GET' && koa.method !== 'HEAD') {
      koa.set('Allow', 'GET, HEAD')
      throw new AppError('METHOD_NOT_ALLOWED')
    }
    koa.status = 200
    koa.set({
      'Cache-Control': 'no-cache',
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
    })
    if (resource.policy) koa.set('Content-Security-Policy', resource.policy)
    koa.etag = createHash('sha256').update(resource.body).digest('base64url')
    koa.body = resource.body
    koa.type = resource.type
    if (koa.fresh) koa.status = 304
  }
}
