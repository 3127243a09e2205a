import type { GraphQLSchema } from 'graphql'
import type { Middleware } from 'koa'
import { AppError } from '../errors.js'
import type { Admission } from '../rest/admission.js'
import type { CompiledRoute } from '../rest/compile.js'
import { API_PREFIX } from '../rest/engine.js'
import { openApiDocument } from './document.js'
import { readExamples } from './examples.js'

const OPENAPI_PATH = `${API_PREFIX}/openapi.json`

interface OpenApiDeps {
  schema: GraphQLSchema
  routes: readonly CompiledRoute[]
  admission: Admission
}

/** `GET /api/v1/openapi.json`, for everybody; made when it is first asked for. Throws METHOD_NOT_ALLOWED. */
export function serveOpenApi({ schema, routes, admission }: OpenApiDeps): Middleware {
  let document: string | undefined
  return async (koa, next) => {
    if (koa.path !== OPENAPI_PATH) return next()
    koa.state.route = `${koa.method} ${OPENAPI_PATH}`
    if (koa.method !== 'GET' && koa.method !== 'HEAD') {
      koa.set('Allow', 'GET, HEAD')
      throw new AppError('METHOD_NOT_ALLOWED')
    }
    // Below /api/v1 every answer has the headers of a limit.
    await admission.describeAddress(koa)
    document ??= JSON.stringify(openApiDocument(schema, routes, readExamples()))
    koa.type = 'application/json'
    koa.body = document
    koa.set('Cache-Control', 'no-cache')
    koa.set('Access-Control-Allow-Origin', '*')
  }
}
