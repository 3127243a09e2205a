import type { ExecutionContext } from 'ava'
import { createApiKey } from '../../src/businesses/accounts.js'
import type { Scope } from '../../src/context.js'
import { schema } from '../../src/graphql/schema.js'
import { type CompiledRoute, compileRoute } from '../../src/rest/compile.js'
import { routes } from '../../src/rest/routes.js'
import {
  type RestAnswer,
  restClient,
  startApp,
  type Tenant,
  type TestApp,
  type TestAppOptions,
} from '../helpers/app.js'
import { startInternet } from '../helpers/internet.js'
import { WEBHOOK_HOST } from './things.js'

/*
 * The contract suite asks every row of the route table, also those added later, and compares a table of what they
 * said with a table of what they should say, so that a failure names the rows.
 */

export const rows: readonly CompiledRoute[] = routes.map((route) => compileRoute(schema, route))

/** Those that ask for a key: what is open to strangers has tests of its own. */
export const keyedRows = rows.filter(({ facts }) => facts.alsoFor !== 'strangers')

export async function everyRow(
  t: ExecutionContext,
  asked: readonly CompiledRoute[],
  observe: (row: CompiledRoute) => Promise<unknown>,
  expected: (row: CompiledRoute) => unknown,
): Promise<void> {
  t.true(asked.length > 0)
  const seen: Record<string, unknown> = {}
  for (const row of asked) seen[row.name] = await observe(row)
  t.deepEqual(seen, Object.fromEntries(asked.map((row) => [row.name, expected(row)])))
}

/** An app whose businesses have a server that mints codes. */
export async function startContractApp(t: ExecutionContext, options: TestAppOptions = {}): Promise<TestApp> {
  const internet = await startInternet(t)
  await internet.serve(WEBHOOK_HOST, (_request, response) => {
    response.end(JSON.stringify({ type: 'code', value: 'MINTED' }))
  })
  return startApp(t, { ...options, network: internet.network })
}

interface Told {
  status: number
  /** Undefined for a file. */
  message: string | undefined
  flaws: string[]
}

/** Status and message of an answer, and where it departs from the form that spec §2 and §8 give to all answers. */
export const told = (answer: RestAnswer): Told => ({
  status: answer.status,
  message: answer.body?.message ?? answer.body?.error?.message,
  flaws: flawsOf(answer),
})

/** What `told` says of an answer in the right form. */
export const proper = (status: number, message: string | undefined): Told => ({ status, message, flaws: [] })

/** What `told` says when a row has done what it was asked. */
export const done = ({ status, message, file }: CompiledRoute): Told =>
  proper(status, file === undefined ? message : undefined)

const HEADERS = ['x-request-id', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']

export function flawsOf({ status, headers, body }: RestAnswer): string[] {
  const flaws = HEADERS.filter((name) => !headers.get(name)).map((name) => `no ${name}`)
  if (status === 200 && headers.get('content-disposition')) return flaws
  if (headers.get('content-type') !== 'application/json; charset=utf-8') flaws.push('content type')
  if (status < 300) {
    if (members(body) !== 'success,message,data' || body.success !== true) flaws.push('envelope')
    flaws.push(...keysOf(body.data).filter((key) => !/^[a-z0-9_]+$/.test(key)))
  } else {
    const expected = status === 429 ? 'message,type,retryAfter' : 'message'
    if (members(body) !== 'success,error' || body.success !== false) flaws.push('envelope')
    if (members(body?.error) !== expected) flaws.push(`error has ${members(body?.error)}`)
  }
  return flaws
}

const members = (value: object | undefined): string => Object.keys(value ?? {}).join()

function keysOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  const own = Array.isArray(value) ? [] : Object.keys(value)
  return [...own, ...Object.values(value).flatMap(keysOf)]
}

/** A further key of a tenant, with a client for it. */
export async function createKey(
  app: TestApp,
  { businessId }: Tenant,
  options: { scopes?: Scope[]; expiresAt?: Date } = {},
) {
  const key = { businessId, name: 'other', ...options }
  const made = await createApiKey(app.database, app.secrets, key, app.clock.now())
  return { ...made, rest: restClient(app.url, made.key) }
}
