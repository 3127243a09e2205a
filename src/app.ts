import type { GraphQLSchema } from 'graphql'
import Koa, { type ParameterizedContext } from 'koa'
import type { Logger } from 'pino'
import type { Config } from './config.js'
import type { Services } from './context.js'
import { serveDocs } from './docs/serve-docs.js'
import { AppError } from './errors.js'
import { graphEndpoint } from './graphql/endpoint.js'
import { serveImages } from './images/serve-images.js'
import { serveOpenApi } from './openapi/serve-openapi.js'
import { createAdmission } from './rest/admission.js'
import { createAuthentication } from './rest/authentication.js'
import { compileRoutes } from './rest/compile.js'
import { restApi } from './rest/engine.js'
import { logFault, refusalFor } from './rest/faults.js'
import { healthChecks } from './rest/health.js'
import { createRateLimits } from './rest/rate-limit.js'
import { answerRefusals } from './rest/refusals.js'
import { requestLog } from './rest/request-log.js'
import type { Route } from './rest/route.js'

export interface AppDeps extends Services {
  config: Config
  log: Logger
  schema: GraphQLSchema
  routes: readonly Route[]
  /** For tests: when a client that takes nothing of a file is let go. */
  stalledAfterMs?: number | undefined
}

/** The service without a socket: what the service and every test start. */
export interface App {
  koa: Koa
  /** From now on /readyz says no, so that a balancer sends nothing new. */
  drain(): void
  close(): Promise<void>
}

/** Wires the chain of every request. Throws where the route table does not fit the schema. */
export function createApp({ config, log, schema, routes, stalledAfterMs, ...services }: AppDeps): App {
  const { database, secrets } = services
  const compiled = compileRoutes(schema, routes)
  const rateLimits = createRateLimits(config, (error) => log.warn({ err: error }, 'redis'))
  const authentication = createAuthentication(database, secrets)
  const admission = createAdmission({ services, authentication, rateLimits })
  let draining = false

  // The client's address is what the outermost of our own proxies saw; what lies before that anybody can write.
  const koa = new Koa({ proxy: config.trustedProxyHops > 0, maxIpsCount: config.trustedProxyHops })
  // Refusals are answered below; what fails later cuts a file off. That a client went away is no fault.
  koa.on('error', (fault: NodeJS.ErrnoException, { state }: ParameterizedContext) => {
    if (fault.code === 'ERR_STREAM_PREMATURE_CLOSE') return
    logFault(log, fault, refusalFor(fault).code, state.requestId as string)
  })
  koa.use(requestLog(log))
  koa.use(healthChecks(database, () => draining))
  koa.use(answerRefusals(admission, log))
  koa.use(serveImages(services.images))
  koa.use(serveDocs(schema, compiled))
  koa.use(serveOpenApi({ schema, routes: compiled, admission }))
  koa.use(restApi({ routes: compiled, admission, secrets, stalledAfterMs }))
  koa.use(graphEndpoint({ schema, admission, secrets, config, log }))
  koa.use(() => {
    throw new AppError('ROUTE_NOT_FOUND')
  })

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
