import type { Middleware, ParameterizedContext } from 'koa'
import type { Database } from '../database/database.js'
import { statement } from '../database/sql.js'

const ping = statement<{ one: number }>('readiness', 'SELECT 1 AS one')

/** `/healthz`: the process answers. `/readyz`: it can serve, so not while it drains or without its database. */
export function healthChecks(database: Database, isDraining: () => boolean): Middleware {
  const reachable = async () => (await database.sql.row(ping, []).catch(() => undefined)) !== undefined
  const readiness = async () => {
    if (isDraining()) return 'draining'
    return (await reachable()) ? 'ready' : 'database away'
  }
  return async (koa, next) => {
    if (koa.path === '/healthz') answer(koa, 200, 'ok')
    else if (koa.path === '/readyz') {
      const status = await readiness()
      answer(koa, status === 'ready' ? 200 : 503, status)
    } else await next()
  }
}

function answer(koa: ParameterizedContext, code: number, status: string): void {
  koa.status = code
  koa.body = { status }
}
