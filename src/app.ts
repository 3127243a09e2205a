import type { GraphQLSchema } from 'graphql'
import Koa from 'koa'
import type { Logger } from 'pino'
import { v7 as uuidv7 } from 'uuid'
import type { Clock } from './clock.js'
import type { Config } from './config.js'
import type { Database } from './database/database.js'
import { statement } from './database/sql.js'
import { AppError, type ErrorCode } from './errors.js'
import { graphEndpoint } from './graphql/endpoint.js'
import { createAdmission } from './rest/admission.js'
import { createAuthentication } from './rest/authentication.js'
import { restApi } from './rest/engine.js'
import { errorBody } from './rest/envelope.js'
import { refusalFor } from './rest/faults.js'
import { createRateLimits } from './rest/rate-limit.js'
import type { Route } from './rest/route.js'
import type { Secrets } from './secrets.js'

export interface AppDeps {
  config: Config
  database: Database
  secrets: Secrets
  clock: Clock
  log: Logger
  schema: GraphQLSchema
  routes: readonly Route[]
}

/** The service without a socket: what main and every test start. */
export interface App {
  koa: Koa
  /** From now on /readyz says no, so that a balancer sends nothing new. */
  drain(): void
  close(): Promise<void>
}

const ping = statement<{ one: number }>('readiness', 'SELECT 1 AS one')

/** Wires the chain that design.md draws: request id, key, rate limit, route row or graph. */
export function createApp(deps: AppDeps): App {
  const { config, database, secrets, clock, log, schema, routes } = deps
  const rateLimits = createRateLimits(config, (error) => log.warn({ err: error }, 'redis'))
  const authentication = createAuthentication(database, secrets)
  const admission = createAdmission({ database, secrets, clock, authentication, rateLimits })
  let draining = false

  const koa = new Koa({
    proxy: config.trustedProxyHops > 0,
    maxIpsCount: config.trustedProxyHops,
  })
  koa.silent = true

  koa.use(async (ctx, next) => {
    const started = performance.now()
    const sent = ctx.get('X-Request-Id')
    const requestId = /^[\w.:-]{1,128}$/.test(sent) ? sent : uuidv7()
    ctx.state.requestId = requestId
    ctx.set('X-Request-Id', requestId)
    try {
      await next()
      if (ctx.status === 404 && ctx.body == null && !ctx.respond) return
      if (ctx.status === 404 && ctx.body == null) throw new AppError('ROUTE_NOT_FOUND')
    } catch (thrown) {
      const refusal = refusalFor(asRefusal(thrown))
      if (refusal.code === 'INTERNAL') log.error({ err: thrown, requestId }, 'fault')
      else if (refusal.code === 'UNAVAILABLE') log.warn({ err: thrown, requestId }, 'database away')
      if (!ctx.response.get('RateLimit-Limit')) await admission.describeAddress(ctx).catch(() => {})
      if (refusal.retryAfterSeconds !== undefined) ctx.set('Retry-After', String(refusal.retryAfterSeconds))
      ctx.status = refusal.kind.status
      ctx.type = 'application/json'
      ctx.body = errorBody(refusal)
    } finally {
      log.info({
        requestId,
        business: ctx.state.businessId,
        method: ctx.method,
        route: ctx.state.route ?? ctx.path,
        status: ctx.status,
        durationMs: Math.round((performance.now() - started) * 100) / 100,
      })
    }
  })

  koa.use(async (ctx, next) => {
    if (ctx.path === '/healthz') ctx.body = { status: 'ok' }
    else if (ctx.path === '/readyz') {
      const ready = !draining && (await database.sql.row(ping, []).catch(() => undefined)) !== undefined
      ctx.status = ready ? 200 : 503
      ctx.body = { status: ready ? 'ready' : draining ? 'draining' : 'database away' }
    } else await next()
  })
  koa.use(restApi({ schema, routes, admission, secrets }))
  koa.use(graphEndpoint({ schema, admission, secrets, config, log }))

  return {
    koa,
    drain: () => {
      draining = true
    },
    async close() {
      await authentication.flush()
      await rateLimits.close()
    },
  }
}

const byStatus = new Map<number, ErrorCode>([
  [400, 'INVALID_JSON'],
  [413, 'BODY_TOO_LARGE'],
  [415, 'UNSUPPORTED_MEDIA_TYPE'],
])

/** The HTTP libraries throw errors with a status (a body too large, broken gzip); these are refusals too. */
function asRefusal(thrown: unknown): unknown {
  if (thrown instanceof AppError) return thrown
  const { status, expose } = thrown as { status?: number; expose?: boolean }
  const code = expose === false ? undefined : byStatus.get(status ?? 0)
  return code === undefined ? thrown : new AppError(code as 'INVALID_JSON')
}

