import { Resolver } from 'node:dns/promises'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import pino, { type Logger } from 'pino'
import { createApp } from '../../src/app.js'
import { createApiKey, createBusiness, type NewBusiness } from '../../src/businesses/accounts.js'
import type { Clock } from '../../src/clock.js'
import { type Config, readConfig } from '../../src/config.js'
import type { Services } from '../../src/context.js'
import { openDatabase } from '../../src/database/database.js'
import { schema } from '../../src/graphql/schema.js'
import { openImageStore } from '../../src/images/image-store.js'
import type { Network } from '../../src/outbound/network.js'
import { routes } from '../../src/rest/routes.js'
import { createSecrets } from '../../src/secrets.js'
import { createDatabase } from './database.js'
import { watched } from './described.js'

/** A clock that a test can set; it stands still until it is moved. */
export interface TestClock extends Clock {
  set(moment: string | Date): void
  advance(milliseconds: number): void
}

export function testClock(start: string | Date = new Date()): TestClock {
  let current = new Date(start)
  return {
    now: () => new Date(current),
    stop: () => {},
    set: (moment) => {
      current = new Date(moment)
    },
    advance: (milliseconds) => {
      current = new Date(current.getTime() + milliseconds)
    },
  }
}

/** The process's own clock, for tests in which time plays no part. */
const wallClock: Clock = { now: () => new Date(), stop: () => {} }

export interface TestApp extends Services {
  /** `http://127.0.0.1:port` */
  url: string
  databaseUrl: string
  /** The folder of its images. */
  dataDir: string
  server: Server
  drain(): void
}

export interface TestAppOptions {
  /** Another instance on this app's database. */
  beside?: TestApp
  clock?: Clock
  /** The way out; without it every name is public and no call is answered. */
  network?: Network
  env?: Record<string, string>
  poolSize?: number
  /** A migrated database on a server of the test's own, instead of a copy of the template. */
  serverUrl?: string
  /** When a client that takes nothing of a file is let go. */
  stalledAfterMs?: number
  /** By default nothing is logged. */
  log?: Logger
}

/** SECRET_KEY of the apps; a process that works on their databases needs the same. */
export const TEST_SECRET = 'a secret for tests that is long enough'

/** An outside in which every name leads to a public host that nobody can reach. */
const nowhere: Network = {
  newResolver: () =>
    Object.assign(new Resolver(), {
      resolve4: async () => ['93.184.215.14'],
      resolve6: async () => [],
    }) as Resolver,
  connect: () => {
    throw Object.assign(new Error('nowhere'), { code: 'ENETUNREACH' })
  },
}

/** Bursts of tests may wait: a busy machine is no fault of the service. */
const PATIENT_MS = { connection: 50_000, statement: 50_000, lock: 50_000, idleInTransaction: 50_000 }

/** Limits that no test meets by accident; those about limits set their own. */
const TEST_ENV = {
  NODE_ENV: 'test',
  RATE_LIMIT_DEFAULT_PER_MINUTE: '1000000',
  RATE_LIMIT_POINTS_PER_MINUTE: '1000000',
  RATE_LIMIT_BATCHES_PER_MINUTE: '1000000',
  RATE_LIMIT_FAILED_AUTH_PER_MINUTE: '1000000',
  RATE_LIMIT_PAIRING_PER_MINUTE: '1000000',
}

const silent = pino({ level: 'silent' })

/**
 * The real app on a real socket and a database of its own; all of it goes when the test file ends. The test fails where
 * the app gave an answer that openapi.json does not describe (see described.ts).
 */
export async function startApp(
  t: Pick<ExecutionContext, 'teardown'>,
  {
    beside,
    clock = wallClock,
    network = beside?.network ?? nowhere,
    env = {},
    poolSize = 10,
    serverUrl,
    stalledAfterMs,
    log = silent,
  }: TestAppOptions = {},
): Promise<TestApp> {
  const config: Config = readConfig({ ...TEST_ENV, ...env })
  const owned = beside || serverUrl ? undefined : await createDatabase()
  const databaseUrl = serverUrl ?? beside?.databaseUrl ?? owned!.url
  const database = openDatabase({
    url: databaseUrl,
    poolSize,
    timeoutsMs: PATIENT_MS,
    onError: () => {},
  })
  const dataDir = beside?.dataDir ?? (await mkdtemp(join(tmpdir(), 'loyalty-test-')))
  const images = await openImageStore({ ...config, dataDir })
  const secrets = beside?.secrets ?? createSecrets(TEST_SECRET)
  const app = createApp({
    config,
    database,
    secrets,
    clock,
    network,
    images,
    log,
    schema,
    routes,
    stalledAfterMs,
  })
  const { listener, undescribed } = watched(app.koa.callback())
  const server = createServer(listener)
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  t.teardown(async () => {
    server.closeAllConnections()
    await new Promise((closed) => server.close(closed))
    await app.close()
    await database.close()
    await owned?.drop()
    if (!beside) await rm(dataDir, { recursive: true })
    if (undescribed.length > 0)
      throw new Error(`openapi.json does not describe:\n${undescribed.slice(0, 10).join('\n')}`)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    database,
    databaseUrl,
    secrets,
    clock,
    network,
    images,
    dataDir,
    server,
    drain: app.drain,
  }
}

/** A business of the test's own, with a key of full access and clients for it. */
export async function createTenant(app: TestApp, overrides: Partial<NewBusiness> = {}) {
  const now = app.clock.now()
  const businessId = await createBusiness(
    app.database,
    { name: 'Corner Café', email: 'owner@example.com', country: 'DE', ...overrides },
    now,
  )
  const { key, id: keyId } = await createApiKey(app.database, app.secrets, { businessId, name: 'test' }, now)
  return { businessId, key, keyId, rest: restClient(app.url, key), graph: graphClient(app.url, key) }
}

export type Tenant = Awaited<ReturnType<typeof createTenant>>

export interface RestAnswer {
  status: number
  headers: Headers
  /** The parsed envelope, undefined for a file of another kind; the tests look into it freely. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of any route
  body: any
  text: string
}

export type RestClient = ReturnType<typeof restClient>

/** `rest('POST /points/issue', { … })` below `/api/v1`. */
export function restClient(url: string, key: string | undefined) {
  return async (
    request: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<RestAnswer> => {
    const [method, path] = request.split(' ') as [string, string]
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      body: text !== '' && isJson(response) ? JSON.parse(text) : undefined,
      text,
    }
  }
}

const isJson = ({ headers }: Response): boolean =>
  headers.get('content-type')?.startsWith('application/json') ?? false

/** `graph('{ … }', { … })`. */
export function graphClient(url: string, key: string | undefined) {
  return async (
    query: string,
    variables: Record<string, unknown> = {},
    headers: Record<string, string> = {},
    // biome-ignore lint/suspicious/noExplicitAny: answers of any operation
  ): Promise<{ status: number; headers: Headers; data: any; errors: any[] | undefined }> => {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        'content-type': 'application/json',
        accept: 'application/json',
        ...headers,
      },
      body: JSON.stringify({ query, variables }),
    })
    const { data, errors } = (await response.json()) as { data: unknown; errors?: unknown[] }
    return { status: response.status, headers: response.headers, data, errors }
  }
}
