import {
  type ExecutionArgs,
  type ExecutionResult,
  type FieldNode,
  GraphQLError,
  type GraphQLSchema,
} from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { Context } from '../context.js'
import { AppError } from '../errors.js'
import { type Answer, once, requireValidKey, withDevice } from '../idempotency.js'
import { canonicalJson } from '../rest/body.js'
import type { Secrets } from '../secrets.js'
import type { ServerContext } from './endpoint.js'
import { admit, type OperationFacts } from './fields.js'
import { publicError } from './masking.js'
import { requestedOperation } from './operation.js'

/** What resolvers are handed over HTTP: Yoga adds the request's parameters. */
type RequestContext = ServerContext & Context & { params: { query?: string } }
type Execute = (args: ExecutionArgs) => unknown

/** `Idempotency-Key` on a request of one mutation works as in REST: effect and answer commit together. */
export const idempotentMutations = (secrets: Secrets): Plugin<ServerContext> => ({
  onExecute({ args, executeFn, setExecuteFn }) {
    const { koa, graph } = args.contextValue as unknown as RequestContext
    const key = koa.headers['idempotency-key']
    const operation = requestedOperation(args.document, args.operationName)
    if (typeof key !== 'string' || operation?.kind !== 'mutation' || !graph) return
    const [facts, ...others] = operation.rootFields.map((field) => factsOf(args.schema, field))
    if (facts?.storesNothing && others.length === 0) return
    setExecuteFn(async () => {
      requireValidKey(key)
      if (!facts || others.length > 0) throw needsOneMutation()
      return runOnce(secrets, key, facts, args, executeFn as Execute)
    })
  },
})

const factsOf = (schema: GraphQLSchema, { name }: FieldNode): OperationFacts =>
  schema.getMutationType()!.getFields()[name.value]!.extensions.facts as OperationFacts

const needsOneMutation = () =>
  new GraphQLError('Idempotency-Key needs a request of one mutation', {
    extensions: { code: 'INVALID_IDEMPOTENCY_KEY', http: { status: 400 } },
  })

async function runOnce(
  secrets: Secrets,
  key: string,
  facts: OperationFacts,
  args: ExecutionArgs,
  execute: Execute,
): Promise<ExecutionResult> {
  const context = args.contextValue as RequestContext
  // A replay needs the scope and counts against the limit as well; the field itself then counts no second time.
  await admit(context, facts)
  const admitted = { ...context, consume: async () => {} }
  const { query } = context.params
  const asked = [query, args.variableValues ?? {}, args.operationName ?? null]
  const request = canonicalJson(withDevice(context, asked))
  const { answer, replayed } = await once(
    admitted,
    key,
    secrets.fingerprint(`graphql ${request}`),
    async (inside) => answerOf((await execute({ ...args, contextValue: inside })) as ExecutionResult),
  )
  if (replayed) context.koa.set('Idempotency-Replayed', 'true')
  return resultOf(answer)
}

function answerOf({ data, errors }: ExecutionResult): Answer {
  if (!errors) return { status: 200, body: JSON.stringify({ data }), refused: false, storable: true }
  const { originalError } = errors[0]!
  // Not a refusal but a fault: nothing of it is stored.
  if (originalError && !(originalError instanceof AppError)) throw originalError
  return {
    status: originalError?.kind.status ?? 400,
    body: JSON.stringify({ data, errors: errors.map(publicError) }),
    refused: originalError?.kind.keepsEffects !== true,
    storable: originalError?.kind.storable === true,
  }
}

interface StoredError {
  message: string
  path?: (string | number)[]
  extensions?: Record<string, unknown>
}

/** The first answer and its replays are both read from what is stored, so their bytes are the same. */
function resultOf(answer: Answer): ExecutionResult {
  const { data, errors } = JSON.parse(answer.body) as {
    data?: Record<string, unknown> | null
    errors?: StoredError[]
  }
  return {
    ...(errors && { errors: errors.map(({ message, ...rest }) => new GraphQLError(message, rest)) }),
    ...(data !== undefined && { data }),
  }
}
