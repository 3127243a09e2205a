import Router from '@koa/router'
import type { GraphQLSchema } from 'graphql'
import type { Middleware, ParameterizedContext } from 'koa'
import { koaBody } from 'koa-body'
import type { Context } from '../context.js'
import { AppError } from '../errors.js'
import { type Answer, once, requireValidKey } from '../idempotency.js'
import type { Secrets } from '../secrets.js'
import { canonicalJson, parseJson } from './body.js'
import { type CompiledRoute, compileRoute } from './compile.js'
import type { Admission } from './admission.js'
import type { Route } from './route.js'
import { invalidVariables, runRoute, variablesOf } from './run.js'

export const API_PREFIX = '/api/v1'

/** The largest JSON body; an image of 5 MB in base64 with its envelope fits. */
export const BODY_LIMIT_BYTES = 8 * 1024 * 1024

export interface EngineDeps {
  schema: GraphQLSchema
  routes: readonly Route[]
  admission: Admission
  secrets: Secrets
}

/**
 * Mounts the route table: one handler for all rows. The chain reads as the contract does: key, rate limit, body,
 * variables, idempotency, operation. Throws where a row does not fit the schema.
 */
export function restApi({ schema, routes, admission, secrets }: EngineDeps): Middleware {
  const router = new Router({ prefix: API_PREFIX })
  // koa-body reads, inflates and bounds the bytes; latin1 hands them over unchanged, so that broken UTF-8 is
  // refused instead of repaired.
  const readBody = koaBody({
    json: false,
    urlencoded: false,
    text: true,
    textTypes: ['json', '+json'],
    textLimit: BODY_LIMIT_BYTES,
    encoding: 'latin1',
    parsedMethods: ['POST', 'PATCH', 'DELETE'] as never,
  })

  for (const route of routes.map((row) => compileRoute(schema, row))) {
    router[route.method](route.path, async (koa: ParameterizedContext) => {
      const ctx = await admission.admit(koa, route.facts.rate)
      koa.state.route = `${route.method.toUpperCase()} ${route.path}`
      for (const name of route.uuidParams)
        if (!isUuidParam(koa.params[name])) throw new AppError(route.notFound as 'REWARD_NOT_FOUND')
      const body = await bodyOf(koa, readBody)
      const variables = variablesOf(route, { params: koa.params, query: koa.query, body })
      const key = route.isWrite ? koa.headers['idempotency-key'] : undefined
      if (typeof key === 'string') requireValidKey(key)
      if (variables.unknown.length > 0) throw invalidVariables(route, variables)

      const run = (inside: Context) => runRoute(schema, route, variables, inside)
      if (typeof key !== 'string') return send(koa, await run(ctx))
      const request = `${route.method} ${decodedPath(koa)} ${canonicalJson([koa.query, body ?? {}])}`
      const { answer, replayed } = await once(ctx, key, secrets.fingerprint(request), run)
      if (replayed) koa.set('Idempotency-Replayed', 'true')
      send(koa, answer)
    })
  }

  const matched = router.routes() as unknown as Middleware
  return async (koa, next) => {
    if (koa.path !== API_PREFIX && !koa.path.startsWith(`${API_PREFIX}/`)) return next()
    await admission.authenticate(koa)
    await matched(koa, async () => {
      await admission.admit(koa, 'default')
      const allowed = allowedMethods(router, koa.path)
      if (allowed.length === 0) throw new AppError('ROUTE_NOT_FOUND')
      koa.set('Allow', allowed.join(', '))
      throw new AppError('METHOD_NOT_ALLOWED')
    })
  }
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const isUuidParam = (value: string | undefined): boolean => value !== undefined && UUID.test(value)

/** Two spellings of one path are one request. */
const decodedPath = (koa: ParameterizedContext): string => JSON.stringify(koa.params) + koa.state.route

async function bodyOf(koa: ParameterizedContext, readBody: Middleware): Promise<unknown> {
  const length = koa.headers['content-length']
  const hasBody = koa.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
  if (!hasBody) return undefined
  if (koa.method === 'GET' || koa.method === 'HEAD') return undefined
  if (!koa.is('json', '+json')) throw new AppError('UNSUPPORTED_MEDIA_TYPE')
  await readBody(koa as never, async () => {})
  const text = (koa.request as { body?: unknown }).body
  if (typeof text !== 'string' || text === '') return undefined
  const value = parseJson(Buffer.from(text, 'latin1'))
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new AppError('NOT_AN_OBJECT')
  return value
}

function allowedMethods(router: Router, path: string): string[] {
  const methods = router.match(path, 'OPTIONS').path.flatMap((layer) => layer.methods)
  return [...new Set(methods)].sort()
}

function send(koa: ParameterizedContext, answer: Answer): void {
  koa.status = answer.status
  koa.type = 'application/json'
  koa.body = answer.body
}

export type { CompiledRoute }
