import { renderGraphiQL } from '@graphql-yoga/render-graphiql'
import type { GraphQLSchema } from 'graphql'
import { createYoga } from 'graphql-yoga'
import type { Middleware, ParameterizedContext } from 'koa'
import type { Logger } from 'pino'
import type { Config } from '../config.js'
import type { Context } from '../context.js'
import { AppError } from '../errors.js'
import type { Admission } from '../rest/admission.js'
import { refusalFor } from '../rest/faults.js'
import type { Secrets } from '../secrets.js'
import { maskWith } from './masking.js'
import { anonymousMayOnlyIntrospect, documentLimits, idempotentMutations } from './plugins.js'

/** What Yoga is handed with each request; `graph` is the resolvers' context. */
export interface ServerContext {
  koa: ParameterizedContext
  graph: Context | undefined
}

export interface GraphDeps {
  schema: GraphQLSchema
  admission: Admission
  secrets: Secrets
  config: Config
  log: Logger
}

export const GRAPHQL_PATH = '/graphql'

/** `/graphql` for the dashboard and tools: the same key, limits and idempotency as REST. */
export function graphEndpoint({ schema, admission, secrets, config, log }: GraphDeps): Middleware {
  const development = config.environment === 'development'
  const yoga = createYoga<ServerContext>({
    schema,
    graphqlEndpoint: GRAPHQL_PATH,
    context: ({ graph }) => graph ?? {},
    graphiql: development ? { title: 'Loyalty Business API', defaultQuery: WELCOME } : false,
    renderGraphiQL,
    landingPage: false,
    cors: false,
    batching: false,
    logging: false,
    maskedErrors: { maskError: maskWith(log) },
    plugins: [documentLimits(), anonymousMayOnlyIntrospect(), idempotentMutations(secrets)],
  })

  return async (koa, next) => {
    if (koa.path !== GRAPHQL_PATH) return next()
    koa.state.route = `${koa.method} ${GRAPHQL_PATH}`
    let graph: Context | undefined
    try {
      // In development a visitor may open GraphiQL and read the schema; anything else needs a key.
      if (!development || koa.get('Authorization') !== '') {
        await admission.authenticate(koa)
        graph = await admission.admit(koa, 'default', false)
      } else await admission.describeAddress(koa)
    } catch (error) {
      refuse(koa, refusalFor(error))
      if (!(error instanceof AppError)) log.warn({ err: error }, 'graph admission')
      return
    }
    const response = await yoga.handleNodeRequestAndResponse(koa.req, koa.res, { koa, graph })
    koa.status = response.status
    response.headers.forEach((value, name) => {
      koa.set(name, value)
    })
    koa.body = response.body
  }
}

/** A refusal before GraphQL begins, in GraphQL's own form. */
function refuse(koa: ParameterizedContext, refusal: AppError): void {
  if (refusal.retryAfterSeconds !== undefined) koa.set('Retry-After', String(refusal.retryAfterSeconds))
  koa.status = refusal.kind.status
  koa.type = 'application/json'
  koa.body = JSON.stringify({ errors: [{ message: refusal.message, extensions: { code: refusal.code } }] })
}

const WELCOME = `# Put your API key into the Headers tab below:
#   { "Authorization": "Bearer lby_live_…" }

{
  business { name timezone currency }
  rewards(first: 5) { totalCount nodes { name pointsCost active } }
}
`
