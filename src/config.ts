import { resolve } from 'node:path'
import * as z from 'zod'

/** The environment, parsed once. Every setting, its default and its meaning stand here and in `.env.example`. */

const count = (fallback: number) => z.coerce.number().int().min(1).max(1_000_000_000).default(fallback)
const flag = (fallback: boolean) =>
  z
    .enum(['true', 'false'])
    .default(fallback ? 'true' : 'false')
    .transform((value) => value === 'true')

const environment = z.object({
  NODE_ENV: z.enum(['development', 'production', 'test']).default('development'),
  HOST: z.string().default('127.0.0.1'),
  PORT: z.coerce.number().int().min(0).max(65_535).default(3000),
  DATA_DIR: z.string().default('.data'),
  DATABASE_URL: z.string().startsWith('postgres').optional(),
  DATABASE_POOL_SIZE: z.coerce.number().int().min(2).max(500).default(10),
  REDIS_URL: z.string().startsWith('redis').optional(),
  SECRET_KEY: z.string().min(32, 'must have at least 32 characters').optional(),
  SECRET_KEYS_PREVIOUS: z
    .string()
    .default('')
    .transform((list) => list.split(',').filter(Boolean)),
  RATE_LIMIT_DEFAULT_PER_MINUTE: count(120),
  RATE_LIMIT_POINTS_PER_MINUTE: count(60),
  RATE_LIMIT_BATCHES_PER_MINUTE: count(10),
  RATE_LIMIT_FAILED_AUTH_PER_MINUTE: count(30),
  TRUSTED_PROXY_HOPS: z.coerce.number().int().min(0).max(10).default(0),
  JOBS: flag(true),
  LOG_LEVEL: z.enum(['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace']).default('info'),
  SHUTDOWN_SECONDS: z.coerce.number().int().min(1).max(600).default(20),
})

export interface Config {
  environment: 'development' | 'production' | 'test'
  host: string
  port: number
  /** Absolute path of the folder for the embedded database and generated secrets. */
  dataDir: string
  /** Undefined = the embedded PostgreSQL. */
  databaseUrl: string | undefined
  databasePoolSize: number
  redisUrl: string | undefined
  /** Undefined = generated into `dataDir` (embedded database only). */
  secretKey: string | undefined
  /** Earlier secrets, still good for reading what they sealed. */
  secretKeysPrevious: string[]
  rateLimitsPerMinute: { default: number; points: number; batches: number; failedAuth: number }
  trustedProxyHops: number
  jobs: boolean
  logLevel: string
  shutdownSeconds: number
}

/** Reads the settings; throws an Error that names each variable that is wrong. */
export function readConfig(env: Record<string, string | undefined>): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const parsed = environment.safeParse(given)
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)
    throw new Error(`Configuration: ${problems.join('; ')}`)
  }
  const e = parsed.data
  if (e.DATABASE_URL && !e.SECRET_KEY)
    throw new Error(
      'Configuration: SECRET_KEY is required with DATABASE_URL (at least 32 characters, e.g. `openssl rand -base64 32`; the same for every instance)',
    )
  return {
    environment: e.NODE_ENV,
    host: e.HOST,
    port: e.PORT,
    dataDir: resolve(e.DATA_DIR),
    databaseUrl: e.DATABASE_URL,
    databasePoolSize: e.DATABASE_POOL_SIZE,
    redisUrl: e.REDIS_URL,
    secretKey: e.SECRET_KEY,
    secretKeysPrevious: e.SECRET_KEYS_PREVIOUS,
    rateLimitsPerMinute: {
      default: e.RATE_LIMIT_DEFAULT_PER_MINUTE,
      points: e.RATE_LIMIT_POINTS_PER_MINUTE,
      batches: e.RATE_LIMIT_BATCHES_PER_MINUTE,
      failedAuth: e.RATE_LIMIT_FAILED_AUTH_PER_MINUTE,
    },
    trustedProxyHops: e.TRUSTED_PROXY_HOPS,
    jobs: e.JOBS,
    logLevel: e.LOG_LEVEL,
    shutdownSeconds: e.SHUTDOWN_SECONDS,
  }
}
