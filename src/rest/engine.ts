import Router from '@koa/router'
import type { Middleware, ParameterizedContext } from 'koa'
import { type Context, requireAccess } from '../context.js'
import { AppError } from '../errors.js'
import { type Answer, once, requireValidKey, withDevice } from '../idempotency.js'
import type { Secrets } from '../secrets.js'
import type { Admission } from './admission.js'
import { canonicalJson, parseJson } from './body.js'
import type { CompiledRoute } from './compile.js'
import { parseCsvColumn } from './csv.js'
import { STALLED_AFTER_MS, sendFile } from './file.js'
import { parseMultipart } from './multipart.js'
import { announcesBody, readBody } from './read-body.js'
import { runPage, runRoute } from './run.js'
import { refusalOfVariables, variablesOf } from './variables.js'

export const API_PREFIX = '/api/v1'

export interface EngineDeps {
  /** Those with literal paths first (see `compileRoutes`). */
  routes: readonly CompiledRoute[]
  admission: Admission
  secrets: Secrets
  /** For tests: when a client that takes nothing of a file is let go. */
  stalledAfterMs?: number | undefined
}

/**
 * Mounts the route table: one handler for all rows. The chain reads as the contract does: key (but for what is open to
 * strangers), rate limit, scope, body, variables, idempotency, operation.
 */
export function restApi({
  routes,
  admission,
  secrets,
  stalledAfterMs = STALLED_AFTER_MS,
}: EngineDeps): Middleware {
  const [router, open] = [newRouter(), newRouter()]
  for (const route of routes) {
    const isOpen = route.facts.alsoFor === 'strangers'
    const mounted = isOpen ? open : router
    mounted[route.method](route.path, async (koa: ParameterizedContext) => {
      koa.state.route = route.name
      const ctx = isOpen ? await admission.admitStranger(koa) : await admission.admit(koa, route.facts.rate)
      // The operation asks again; here it comes before anything is said about the request.
      requireAccess(ctx, route.facts)
      const body = await bodyOf(koa, route)
      const variables = variablesOf(route, { params: koa.params, query: koa.query, body })
      const key = route.isWrite ? koa.headers['idempotency-key'] : undefined
      if (typeof key === 'string') requireValidKey(key)
      if (variables.misfits.length > 0) throw refusalOfVariables(route, variables)

      if (route.file !== undefined) {
        const readPage = (after: string | null) => runPage(route, variables, ctx, after)
        return sendFile(koa, route, variables.format, readPage, stalledAfterMs)
      }
      const run = (inside: Context) => runRoute(route, variables, inside)
      if (typeof key !== 'string') return send(koa, await run(ctx))
      const request = `${route.name} ${canonicalJson(withDevice(ctx, [koa.params, koa.query, body ?? {}]))}`
      const { answer, replayed } = await once(ctx, key, secrets.fingerprint(request), run)
      if (replayed) koa.set('Idempotency-Replayed', 'true')
      send(koa, answer)
    })
  }

  const [matched, matchedOpen] = [router, open].map((each) => each.routes() as unknown as Middleware)
  return async (koa, next) => {
    if (koa.path !== API_PREFIX && !koa.path.startsWith(`${API_PREFIX}/`)) return next()
    await matchedOpen!(koa, async () => {
      await admission.authenticate(koa)
      await matched!(koa, async () => {
        await admission.admit(koa, 'default')
        const allowed = [router, open].flatMap((each) => allowedMethods(each, koa.path))
        if (allowed.length === 0) throw new AppError('ROUTE_NOT_FOUND')
        koa.set('Allow', allowed.join(', '))
        throw new AppError('METHOD_NOT_ALLOWED')
      })
    })
  }
}

const newRouter = () => new Router({ prefix: API_PREFIX, sensitive: true })

const FORM = 'multipart/form-data'

/** The object that the body says; undefined where there is none, as GET and HEAD never have. */
async function bodyOf(
  koa: ParameterizedContext,
  { csv, multipart }: CompiledRoute,
): Promise<object | undefined> {
  if (koa.method === 'GET' || koa.method === 'HEAD' || !announcesBody(koa.req)) return undefined
  const bytes = await readBody(koa)
  if (bytes.length === 0) return undefined
  if (csv && koa.is('text/csv')) return { [csv.fills]: parseCsvColumn(bytes, csv.column) }
  if (multipart && koa.is(FORM)) return parseMultipart(koa.get('Content-Type'), bytes)
  if (!koa.is('json', '+json')) {
    const types = ['application/json', ...(csv ? ['text/csv'] : []), ...(multipart ? [FORM] : [])]
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', types.join(' or '))
  }
  const value = parseJson(bytes)
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
