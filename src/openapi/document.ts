import { type GraphQLSchema, getNamedType, isInputObjectType } from 'graphql'
import type { ErrorCode } from '../errors.js'
import { type CompiledRoute, fieldOf, typeAt } from '../rest/compile.js'
import { API_PREFIX } from '../rest/engine.js'
import { fileFormats } from '../rest/file.js'
import type { Route } from '../rest/route.js'
import { components, description, tagsOf } from './about.js'
import type { Example, Examples } from './examples.js'
import { descriptionOf, inputTypeSchema, objectSchema, parameterSchema } from './input-schema.js'
import { type JsonSchema, NamedSchemas, object } from './json-schema.js'
import { operationIds } from './operation-ids.js'
import { dataSchema, fileContent } from './output-schema.js'
import { commonHeaders, refusalResponse, refusalsOf, replayedHeader } from './refusals.js'

type Json = Record<string, unknown>

/**
 * The OpenAPI 3.1 document of a route table: paths from the rows, requests from the graph's input types and their
 * bounds, answers from the selection sets, refusals from the error catalogue. Throws where the table and the schema do
 * not agree.
 */
export function openApiDocument(
  schema: GraphQLSchema,
  routes: readonly CompiledRoute[],
  examples: Examples,
): Json {
  const names = new NamedSchemas()
  const responses = new SharedResponses()
  const ids = operationIds(routes)
  const paths: Record<string, Json> = {}
  for (const route of routes) {
    const path = pathOf(route)
    paths[path] ??= {}
    paths[path][route.method] = {
      operationId: ids.get(route),
      tags: [tagOf(route)],
      ...operation(schema, route, names, responses, examples[route.name]),
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Loyalty Business API',
      version: '1.0.0',
      description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The installation that serves this document.' }],
    security: [{ apiKey: [] }],
    tags: tagsOf(routes.map(tagOf)),
    paths,
    components: { ...components, responses: responses.all(), schemas: names.all() },
  }
}

/** `/api/v1/rewards/{id}` */
const pathOf = ({ path }: Pick<Route, 'path'>): string => `${API_PREFIX}${path.replace(/:(\w+)/g, '{$1}')}`

/** `code-batches` */
const tagOf = ({ path }: Pick<Route, 'path'>): string => path.split('/')[1]!

function operation(
  schema: GraphQLSchema,
  route: CompiledRoute,
  names: NamedSchemas,
  responses: SharedResponses,
  example: Example | undefined,
): Json {
  const { facts, isWrite } = route
  const body = requestBody(schema, route, names, example)
  const parameters = [
    ...parametersOf(route, names),
    ...(isWrite ? [{ $ref: '#/components/parameters/Idempotency-Key' }] : []),
  ]
  return {
    summary: route.description,
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: body }),
    responses: Object.fromEntries([
      [String(route.status), success(schema, route, names, example)],
      ...[...refusalsOf(route)].map(([status, codes]) => [String(status), responses.of(codes, isWrite)]),
    ]),
    security: securityOf(route),
    'x-rate-limit-scope': facts.alsoFor === 'strangers' ? 'pairing' : facts.rate,
    'x-idempotent': isWrite,
    ...(route.addition && { 'x-addition': true }),
  }
}

/** Of a scheme that is not OAuth, the list names what is required for the operation (OpenAPI 3.1). */
function securityOf({ facts: { scope, alsoFor } }: CompiledRoute): Json[] {
  if (alsoFor === 'strangers') return []
  return [{ apiKey: scope ? [scope] : [] }, ...(alsoFor === 'terminals' ? [{ terminalToken: [] }] : [])]
}

function parametersOf(route: CompiledRoute, names: NamedSchemas): Json[] {
  const parameter = (at: 'path' | 'query', name: string, target: string): Json => {
    const zod = route.inputSchema!.shape[fieldOf(target)]!
    const about = descriptionOf(zod)
    return {
      name,
      in: at,
      required: at === 'path',
      ...(about !== undefined && { description: about }),
      schema: parameterSchema(typeAt(route.variables, target), zod, names),
    }
  }
  const format = {
    name: 'format',
    in: 'query',
    required: false,
    schema: { type: 'string', enum: [...fileFormats], default: 'csv' },
  }
  return [
    ...Object.entries(route.params ?? {}).map(([name, target]) => parameter('path', name, target)),
    ...Object.entries(route.query ?? {}).map(([name, target]) => parameter('query', name, target)),
    ...(route.file === undefined ? [] : [format]),
  ]
}

function requestBody(
  schema: GraphQLSchema,
  route: CompiledRoute,
  names: NamedSchemas,
  example: Example | undefined,
): Json | undefined {
  const type = getNamedType(route.variables.get('input'))
  if (!isInputObjectType(type) || !route.body || route.body.size === 0) return undefined
  const inPath = Object.values(route.params ?? {}).map(fieldOf)
  const atLeastOne = route.facts.errors.includes('EMPTY_UPDATE') && { minProperties: 1 }
  const whole = inPath.length === 0 && !atLeastOne && !route.multipart
  const json = whole
    ? inputTypeSchema(schema, type.name, names)
    : { ...objectSchema(type, names, inPath), ...atLeastOne }
  return {
    required: 'required' in objectSchema(type, names, inPath) || Boolean(atLeastOne),
    content: {
      'application/json': {
        schema: json,
        ...(example?.request !== undefined && { example: example.request }),
      },
      ...(route.multipart && {
        'multipart/form-data': { schema: objectSchema(type, names, inPath, 'form') },
      }),
      ...(route.csv && {
        'text/csv': { schema: { type: 'string', description: `One column, ${route.csv.column}.` } },
      }),
    },
  }
}

function success(
  schema: GraphQLSchema,
  route: CompiledRoute,
  names: NamedSchemas,
  example: Example | undefined,
): Json {
  const shown: Json = example ? { example: example.response } : {}
  const headers = { ...commonHeaders, ...(route.isWrite && replayedHeader) }
  if (route.file !== undefined) {
    const contents = fileContent(schema, route, names)
    return {
      description: route.message,
      headers: {
        ...headers,
        'Content-Disposition': { $ref: '#/components/headers/Content-Disposition' },
      },
      content: Object.fromEntries(
        contents.map(([type, contained]) => [type, { schema: contained, ...(type === 'text/csv' && shown) }]),
      ),
    }
  }
  const envelope = object({
    success: { type: 'boolean', const: true },
    message: { type: 'string', description: 'For people; do not parse it.' },
    data: dataSchema(schema, route, names),
  })
  return {
    description: route.message,
    headers,
    content: { 'application/json': { schema: envelope, ...shown } },
  }
}

/** Of more the name would be a sentence. */
const MAX_CODES_OF_A_NAME = 2

/** Refusals that are the same for many routes stand in the document once. */
class SharedResponses {
  readonly #responses = new Map<string, JsonSchema>()

  of(codes: readonly ErrorCode[], isWrite: boolean): JsonSchema {
    const response = refusalResponse(codes, isWrite)
    if (codes.length > MAX_CODES_OF_A_NAME) return response
    const ofWrite = 'Idempotency-Replayed' in (response.headers as object)
    const name = `${codes.map(pascalCase).join('Or')}${ofWrite ? 'OfWrite' : ''}`
    this.#responses.set(name, response)
    return { $ref: `#/components/responses/${name}` }
  }

  /** With those of paths and methods that no row has. */
  all(): Record<string, JsonSchema> {
    this.of(['ROUTE_NOT_FOUND'], false)
    this.of(['METHOD_NOT_ALLOWED'], false)
    return Object.fromEntries([...this.#responses].sort(([a], [b]) => (a < b ? -1 : 1)))
  }
}

/** `RateLimitExceeded` */
const pascalCase = (code: string): string =>
  code.toLowerCase().replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
