import { renderGraphiQL } from '@graphql-yoga/render-graphiql'
import type { GraphQLSchema } from 'graphql'
import { createYoga, type YogaServerInstance } from 'graphql-yoga'
import type { Middleware, ParameterizedContext } from 'koa'
import type { Logger } from 'pino'
import type { Config } from '../config.js'
import type { Context } from '../context.js'
import { AppError } from '../errors.js'
import type { Admission } from '../rest/admission.js'
import { parseJson } from '../rest/body.js'
import { logFault, refusalFor } from '../rest/faults.js'
import { announcesBody, readBody } from '../rest/read-body.js'
import { refuse } from '../rest/refusals.js'
import type { Secrets } from '../secrets.js'
import { idempotentMutations } from './idempotent-mutations.js'
import { maskError, maskFaults } from './masking.js'
import { anonymousMayOnlyIntrospect, documentLimits, terminalsReadLittle } from './plugins.js'

/** What Yoga is handed with each request. */
export interface ServerContext {
  koa: ParameterizedContext
  /** The resolvers' context; undefined for a visitor without a key (in development). */
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

/** GraphiQL brings all it needs; should it ever ask for more, the browser refuses. */
const GRAPHIQL_POLICY = "default-src 'self' 'unsafe-inline' 'unsafe-eval' blob: data:; frame-ancestors 'none'"

/** `/graphql` for the dashboard and tools: the same key, limits and idempotency as REST. */
export function graphEndpoint({ schema, admission, secrets, config, log }: GraphDeps): Middleware {
  const development = config.environment === 'development'
  const yoga = createYoga<ServerContext>({
    schema,
    graphqlEndpoint: GRAPHQL_PATH,
    context: ({ graph }) => graph ?? {},
    graphiql: development && { title: 'Loyalty Business API', defaultQuery: WELCOME },
    renderGraphiQL,
    landingPage: false,
    cors: false,
    batching: false,
    multipart: false,
    logging: false,
    maskedErrors: { maskError },
    plugins: [
      documentLimits(),
      anonymousMayOnlyIntrospect(),
      terminalsReadLittle(),
      idempotentMutations(secrets),
      maskFaults(log),
    ],
  })

  return async (koa, next) => {
    if (koa.path !== GRAPHQL_PATH) return next()
    koa.state.route = `${koa.method} ${GRAPHQL_PATH}`
    try {
      const graph = await admitted(koa)
      await answer(yoga, koa, await jsonOf(koa), graph)
    } catch (thrown) {
      const refusal = refusalFor(thrown)
      logFault(log, thrown, refusal.code, koa.state.requestId as string)
      refuse(koa, refusal, errorsBody(refusal))
    }
  }

  /** In development a visitor may open GraphiQL and read the schema; anything else needs a key. */
  async function admitted(koa: ParameterizedContext): Promise<Context | undefined> {
    if (development && koa.get('Authorization') === '') {
      await admission.describeAddress(koa)
      return undefined
    }
    await admission.authenticate(koa)
    return admission.admit(koa, 'default', false)
  }
}

/** A request's JSON, read as in REST. No other content type is taken, so no form of another site can be. */
async function jsonOf(koa: ParameterizedContext): Promise<string | undefined> {
  if (koa.method !== 'POST' || !announcesBody(koa.req)) return undefined
  const bytes = await readBody(koa)
  if (!koa.is('json', '+json')) throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'application/json')
  parseJson(bytes)
  return bytes.toString()
}

async function answer(
  yoga: YogaServerInstance<ServerContext, object>,
  koa: ParameterizedContext,
  body: string | undefined,
  graph: Context | undefined,
): Promise<void> {
  const headers = { accept: koa.get('Accept') || '*/*', 'content-type': 'application/json' }
  const init = { method: koa.method, headers, ...(body !== undefined && { body }) }
  const response = await yoga.fetch(`http://graph${koa.url}`, init, { koa, graph })
  koa.status = response.status
  response.headers.forEach((value, name) => {
    koa.set(name, value)
  })
  if (response.headers.get('content-type')?.startsWith('text/html'))
    koa.set('Content-Security-Policy', GRAPHIQL_POLICY)
  koa.body = await response.text()
}

/** A refusal before GraphQL begins, in GraphQL's own form. */
const errorsBody = ({ message, code }: AppError): string =>
  JSON.stringify({ errors: [{ message, extensions: { code } }] })

const WELCOME = `# Put your API key into the Headers tab below:
#   { "Authorization": "Bearer lby_live_…" }

{
  business { name timezone currency }
  rewards(first: 5) { totalCount nodes { name pointsCost active } }
}
`
