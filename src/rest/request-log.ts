import { randomUUID } from 'node:crypto'
import type { Middleware } from 'koa'
import type { Logger } from 'pino'

const USABLE_ID = /^[\w.:-]{1,128}$/

/** Names the request, by the client's own `X-Request-Id` where that is usable, and logs one line when it is answered. */
export const requestLog =
  (log: Logger): Middleware =>
  async (koa, next) => {
    const startedAt = performance.now()
    const sent = koa.get('X-Request-Id')
    const requestId = USABLE_ID.test(sent) ? sent : randomUUID()
    koa.state.requestId = requestId
    koa.set('X-Request-Id', requestId)
    await next()
    log.info({
      requestId,
      business: koa.state.businessId,
      method: koa.method,
      // The pattern where one matched: a path may name a customer.
      route: koa.state.route ?? koa.path,
      status: koa.status,
      durationMs: Math.round((performance.now() - startedAt) * 100) / 100,
    })
  }
