import { readFileSync } from 'node:fs'
import type { IncomingMessage, OutgoingHttpHeaders, RequestListener, ServerResponse } from 'node:http'
import { Ajv2020, type AnySchema, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { Example } from '../../src/openapi/examples.js'
import type { Route } from '../../src/rest/route.js'

/**
 * Holds every answer that a test's app gives below /api/v1 against openapi.json: its status, headers and body must be
 * described there for its path and method. The document leaves objects open, for later versions to add members; here
 * they are closed, so that nothing is answered that is not described.
 */

interface Described {
  headers?: Record<string, { $ref: string }>
  content?: Record<string, unknown>
  $ref?: string
}
type Operation = { responses: Record<string, Described> }
interface OpenApi {
  paths: Record<string, Record<string, Operation>>
  components: {
    responses: Record<string, Described>
    headers: Record<string, { required?: boolean }>
    schemas: Record<string, unknown>
  }
}

const PREFIX = '/api/v1'
const DOCUMENT = 'openapi.json'
/** What no path describes: answers to what is asked of a path or with a method that there is none of. */
const UNROUTED = [
  'RouteNotFound',
  'MethodNotAllowed',
  'InvalidApiKey',
  'BusinessSuspendedOrInsufficientScope',
  'RateLimitExceeded',
  'Internal',
  'Unavailable',
]
/** Headers that say something only where they are described. */
const TELLING = ['retry-after', 'idempotency-replayed', 'allow', 'content-disposition']

function load() {
  const text = readFileSync(new URL(`../../${DOCUMENT}`, import.meta.url), 'utf8')
  const document = JSON.parse(text) as OpenApi
  const ajv = new Ajv2020({ allowUnionTypes: true, validateSchema: false })
  addFormats.default(ajv)
  ajv.addVocabulary(['components'])
  ajv.addSchema({ components: { schemas: closed(document.components.schemas) } }, DOCUMENT)
  const paths = Object.keys(document.paths)
    .sort((a, b) => Number(a.includes('{')) - Number(b.includes('{')))
    .map((path) => ({ path, pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}/?$`) }))
  return { document, ajv, paths, validators: new Map<string, ValidateFunction>() }
}

/** A schema that no further members fit, with references into the document. */
const closed = (schema: unknown): AnySchema =>
  JSON.parse(
    JSON.stringify(schema).replaceAll('"#/components/', `"${DOCUMENT}#/components/`),
    (_key, value: unknown) =>
      typeof value === 'object' &&
      value !== null &&
      'properties' in value &&
      !('additionalProperties' in value)
        ? { ...value, additionalProperties: false }
        : value,
  )

let loaded: ReturnType<typeof load> | undefined

export interface Answer {
  method: string
  /** With its query. */
  url: string
  status: number
  headers: OutgoingHttpHeaders
  /** Undefined where there was none, or too much to keep. */
  body: string | undefined
}

/** Where an answer departs from the document; empty where it does not. */
export function departures(answer: Answer): string[] {
  loaded ??= load()
  const { paths, document } = loaded
  const asked = answer.url.replace(/\?.*/, '')
  const method = answer.method === 'HEAD' ? 'get' : answer.method.toLowerCase()
  const candidates = paths.filter(({ pattern }) => pattern.test(asked)).map(({ path }) => path)
  const path = candidates.find((candidate) => document.paths[candidate]![method])
  if (path === undefined) {
    const pointers = UNROUTED.map((name) => `#/components/responses/${name}`)
    const found = pointers.map((pointer) => compare(answer, pointer))
    return found.some((problems) => problems.length === 0) ? [] : ['no path describes it']
  }
  const described = document.paths[path]![method]!.responses[answer.status]
  if (!described) return ['its status is not described']
  return compare(answer, described.$ref ?? `#/paths/${escaped(path)}/${method}/responses/${answer.status}`)
}

/** What stands at a pointer of the document. */
const at = (pointer: string): unknown =>
  pointer
    .slice(2)
    .split('/')
    .reduce<unknown>(
      (value, part) => (value as Record<string, unknown>)[part.replaceAll('~1', '/').replaceAll('~0', '~')],
      loaded!.document,
    )

const escaped = (part: string): string => part.replaceAll('~', '~0').replaceAll('/', '~1')

function compare({ method, headers, body }: Answer, pointer: string): string[] {
  const { document } = loaded!
  const described = at(pointer) as Described
  const names = Object.keys(described.headers ?? {})
  const lower = names.map((name) => name.toLowerCase())
  const problems = [
    ...names
      .filter((name) => document.components.headers[name]!.required && !headers[name.toLowerCase()])
      .map((name) => `no ${name}`),
    ...TELLING.filter((name) => headers[name] !== undefined && !lower.includes(name)).map(
      (name) => `${name} is not described`,
    ),
  ]
  if (method === 'HEAD' || body === undefined) return problems
  const type = String(headers['content-type']).replace(/;.*/, '')
  if (!described.content?.[type]) return [...problems, `the content type ${type} is not described`]
  const value = type === 'application/json' ? JSON.parse(body) : body
  return [...problems, ...flaws(`${pointer}/content/${escaped(type)}/schema`, value)]
}

function validatorOf(pointer: string): ValidateFunction {
  loaded ??= load()
  const { ajv, validators } = loaded
  let validate = validators.get(pointer)
  if (!validate) {
    validate = ajv.compile(closed(at(pointer)))
    validators.set(pointer, validate)
  }
  return validate
}

/** Where the bodies of a route's recorded example depart from the document. */
export function bodyDepartures(
  { path, method, status, file }: Pick<Route, 'path' | 'method' | 'status' | 'file'>,
  { request, response }: Example,
): string[] {
  const operation = `#/paths/${escaped(PREFIX + path.replace(/:(\w+)/g, '{$1}'))}/${method}`
  const type = file === undefined ? 'application/json' : 'text/csv'
  return [
    ...(request === undefined
      ? []
      : flaws(`${operation}/requestBody/content/${escaped(type)}/schema`, request)),
    ...flaws(`${operation}/responses/${status}/content/${escaped(type)}/schema`, response),
  ]
}

function flaws(pointer: string, value: unknown): string[] {
  const validate = validatorOf(pointer)
  return validate(value)
    ? []
    : validate.errors!.map(({ instancePath, message }) => `${instancePath} ${message}`)
}

/** More of a body than this is not kept: a file's last rows are like its first. */
const KEPT_BYTES = 4 * 1024 * 1024

/** The listener, and what its answers had that the document does not describe. */
export function watched(listener: RequestListener): { listener: RequestListener; undescribed: string[] } {
  const undescribed: string[] = []
  return {
    undescribed,
    listener: (request, response) => {
      if (request.url?.startsWith(`${PREFIX}/`) && !request.url.startsWith(`${PREFIX}/openapi.json`))
        watch(request, response, undescribed)
      listener(request, response)
    },
  }
}

function watch(request: IncomingMessage, response: ServerResponse, undescribed: string[]): void {
  const chunks: Buffer[] = []
  let size = 0
  const { write, end } = response
  const keep = (chunk: unknown): void => {
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return
    size += chunk.length
    if (size <= KEPT_BYTES) chunks.push(Buffer.from(chunk as string))
  }
  response.write = ((...args: Parameters<typeof write>) => {
    keep(args[0])
    return write.apply(response, args)
  }) as typeof write
  response.end = ((...args: Parameters<typeof end>) => {
    keep(args[0])
    return end.apply(response, args)
  }) as typeof end
  response.once('finish', () => {
    const answer = {
      method: request.method!,
      url: request.url!,
      status: response.statusCode,
      headers: response.getHeaders(),
      body: size > KEPT_BYTES ? undefined : Buffer.concat(chunks).toString(),
    }
    const problems = departures(answer)
    if (problems.length > 0)
      undescribed.push(
        `${answer.method} ${answer.url} → ${answer.status}: ${problems.join('; ')}: ${answer.body?.slice(0, 500)}`,
      )
  })
}
