import { isIPv6 } from 'node:net'
import { resolve } from 'node:path'
import * as z from 'zod'
import { urlOf } from './http-server.js'
import { OperatorError } from './operator-error.js'

/**
 * The environment, parsed once. Every setting, its default and its meaning stand here; `.env.example` and the
 * README's table are made of it (`npm run settings:print`).
 */

const count = (fallback: number) => z.coerce.number().int().min(1).max(1_000_000_000).default(fallback)
const flag = (fallback: boolean) =>
  z
    .enum(['true', 'false'])
    .default(fallback ? 'true' : 'false')
    .transform((value) => value === 'true')

export const SECRET_LENGTH_MIN = 32

const environment = z.object({
  NODE_ENV: z
    .enum(['development', 'production', 'test'])
    .default('development')
    .describe('`production` keeps GraphiQL and introspection from those who have no key.'),
  HOST: z.string().default('127.0.0.1').describe('Address to listen on; `0.0.0.0` = all.'),
  PORT: z.coerce
    .number()
    .int()
    .min(0)
    .max(65_535)
    .default(3000)
    .describe('Port to listen on; `0` = any free one.'),
  PUBLIC_URL: z
    .url({ protocol: /^https?$/, error: 'must be an http(s) URL' })
    .optional()
    .transform((url) => url?.replace(/\/+$/, ''))
    .describe(
      'Address at which clients reach the service, for links to images, `https://loyalty.example.com`; empty = `http://HOST:PORT`.',
    ),
  DATA_DIR: z
    .string()
    .default('.data')
    .describe('Folder of the embedded database, of generated secrets and of images.'),
  DATABASE_URL: z
    .string()
    .startsWith('postgres')
    .optional()
    .describe(
      'A PostgreSQL 15+ of your own, `postgres://user:password@host:port/database`; empty = the embedded one.',
    ),
  DATABASE_POOL_SIZE: z.coerce
    .number()
    .int()
    .min(2)
    .max(500)
    .default(10)
    .describe('Database connections of one instance, at most.'),
  REDIS_URL: z
    .string()
    .startsWith('redis')
    .optional()
    .describe('Redis in which several instances share their rate limits; empty = each counts for itself.'),
  SECRET_KEY: z
    .string()
    .min(SECRET_LENGTH_MIN, `must have at least ${SECRET_LENGTH_MIN} characters`)
    .optional()
    .describe(
      'Secret from which API keys and stored secrets are protected, 32 characters or more, the same on every instance; changing it ends every API key. Required with DATABASE_URL; empty = generated into DATA_DIR.',
    ),
  SECRET_KEYS_PREVIOUS: z
    .string()
    .default('')
    .transform((list) => list.split(',').filter(Boolean))
    .describe('Earlier values of SECRET_KEY, separated by commas: what they sealed can still be read.'),
  IMAGES_S3_BUCKET: z
    .string()
    .optional()
    .describe(
      'S3 bucket for images, shared by all instances; empty = the folder `images` in DATA_DIR. Credentials come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or from the role of the machine.',
    ),
  IMAGES_S3_REGION: z.string().default('us-east-1').describe('Region of the bucket.'),
  IMAGES_S3_ENDPOINT: z
    .url({ protocol: /^https?$/, error: 'must be an http(s) URL' })
    .optional()
    .describe("Address of an S3 that is not Amazon's, such as MinIO or R2."),
  SMTP_URL: z
    .url({ protocol: /^smtps?$/, error: 'must be an smtp(s) URL' })
    .optional()
    .describe(
      'Mail server for e-mails to customers, `smtp://user:password@host:587` or `smtps://…`; settings of nodemailer may follow as a query. With a password TLS is required; `?requireTLS=false` lifts that. Empty = e-mails wait.',
    ),
  MAIL_FROM: z
    .string()
    .regex(/^[^\s\p{Cc}@"(),:;<>[\\\]]{1,64}@[a-z0-9.-]{1,255}$/iu, 'must be an e-mail address')
    .default('loyalty@localhost')
    .describe(
      "Address that e-mails come from; the name beside it is the business's, and answers go to the business.",
    ),
  RATE_LIMIT_DEFAULT_PER_MINUTE: count(120).describe('Requests per minute and API key or terminal.'),
  RATE_LIMIT_POINTS_PER_MINUTE: count(60).describe(
    'Points writes per minute and API key or terminal: issue, redeem, complete.',
  ),
  RATE_LIMIT_BATCHES_PER_MINUTE: count(10).describe(
    'Code-batch creations and exports per minute and API key.',
  ),
  RATE_LIMIT_FAILED_AUTH_PER_MINUTE: count(30).describe(
    'Failed authentications per minute and client address.',
  ),
  RATE_LIMIT_PAIRING_PER_MINUTE: count(10).describe(
    'Tries to pair a terminal per minute and client address.',
  ),
  TRUSTED_PROXY_HOPS: z.coerce
    .number()
    .int()
    .min(0)
    .max(10)
    .default(0)
    .describe(
      "Proxies in front whose X-Forwarded-For is believed; `0` = the client's address is the socket's.",
    ),
  JOBS: flag(true).describe(
    'Whether this instance runs the recurring work; `true` on one instance at least.',
  ),
  LOG_LEVEL: z
    .enum(['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'])
    .default('info')
    .describe('What is logged: `silent`, `fatal`, `error`, `warn`, `info`, `debug` or `trace`.'),
  SHUTDOWN_SECONDS: z.coerce
    .number()
    .int()
    .min(1)
    .max(600)
    .default(20)
    .describe('How long requests in flight may take to finish after SIGTERM.'),
})

export interface Setting {
  name: string
  /** As it would be written in the environment; empty = none. */
  default: string
  description: string
}

/** Every setting, for the documents that list them. */
export const settings: readonly Setting[] = Object.entries(environment.shape).map(([name, setting]) => ({
  name,
  default: String(setting.parse(undefined) ?? ''),
  description: setting.description!,
}))

export interface Config {
  environment: 'development' | 'production' | 'test'
  host: string
  port: number
  /** Without a slash at its end. */
  publicUrl: string
  /** Absolute path of the folder for the embedded database, generated secrets and images. */
  dataDir: string
  /** Undefined = the embedded PostgreSQL. */
  databaseUrl: string | undefined
  databasePoolSize: number
  redisUrl: string | undefined
  /** Undefined = generated into `dataDir` (embedded database only). */
  secretKey: string | undefined
  /** Earlier secrets, still good for reading what they sealed. */
  secretKeysPrevious: string[]
  /** Undefined = images are files in `dataDir`. */
  imagesS3: { bucket: string; region: string; endpoint: string | undefined } | undefined
  /** Undefined = e-mails wait. */
  smtpUrl: string | undefined
  mailFrom: string
  rateLimitsPerMinute: {
    default: number
    points: number
    batches: number
    failedAuth: number
    pairing: number
  }
  trustedProxyHops: number
  jobs: boolean
  logLevel: string
  shutdownSeconds: number
}

/** Reads the settings; throws an OperatorError that names each variable that is wrong. */
export function readConfig(env: Record<string, string | undefined>): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const parsed = environment.safeParse(given)
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)
    throw new OperatorError(`Configuration: ${problems.join('; ')}`)
  }
  const e = parsed.data
  if (e.DATABASE_URL && !e.SECRET_KEY)
    throw new OperatorError(
      'Configuration: SECRET_KEY is required with DATABASE_URL (at least 32 characters, e.g. `openssl rand -base64 32`; the same for every instance)',
    )
  return {
    environment: e.NODE_ENV,
    host: e.HOST,
    port: e.PORT,
    publicUrl:
      e.PUBLIC_URL ?? urlOf({ address: e.HOST, family: isIPv6(e.HOST) ? 'IPv6' : 'IPv4', port: e.PORT }),
    dataDir: resolve(e.DATA_DIR),
    databaseUrl: e.DATABASE_URL,
    databasePoolSize: e.DATABASE_POOL_SIZE,
    redisUrl: e.REDIS_URL,
    secretKey: e.SECRET_KEY,
    secretKeysPrevious: e.SECRET_KEYS_PREVIOUS,
    imagesS3: e.IMAGES_S3_BUCKET
      ? { bucket: e.IMAGES_S3_BUCKET, region: e.IMAGES_S3_REGION, endpoint: e.IMAGES_S3_ENDPOINT }
      : undefined,
    smtpUrl: e.SMTP_URL,
    mailFrom: e.MAIL_FROM,
    rateLimitsPerMinute: {
      default: e.RATE_LIMIT_DEFAULT_PER_MINUTE,
      points: e.RATE_LIMIT_POINTS_PER_MINUTE,
      batches: e.RATE_LIMIT_BATCHES_PER_MINUTE,
      failedAuth: e.RATE_LIMIT_FAILED_AUTH_PER_MINUTE,
      pairing: e.RATE_LIMIT_PAIRING_PER_MINUTE,
    },
    trustedProxyHops: e.TRUSTED_PROXY_HOPS,
    jobs: e.JOBS,
    logLevel: e.LOG_LEVEL,
    shutdownSeconds: e.SHUTDOWN_SECONDS,
  }
}
