import { Redis } from 'ioredis'
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import type { Config } from '../config.js'
import type { RateScope } from '../context.js'

/** The state of one limit after a request was counted (spec §8: the three RateLimit headers). */
export interface RateState {
  limit: number
  remaining: number
  resetSeconds: number
  exceeded: boolean
}

export interface RateLimits {
  /** Counts one request of an API key (or another holder) in a scope's fixed window of a minute. */
  consume(scope: RateScope, holder: string): Promise<RateState>
  /** Counts one failed authentication of a client address. */
  consumeFailedAuth(address: string): Promise<RateState>
  /** Counts one try of a client address to pair a terminal, before its code is looked at: a burst gains nothing. */
  consumePairing(address: string): Promise<RateState>
  /** The address's limit as it stands, counting nothing. */
  peekFailedAuth(address: string): Promise<RateState>
  close(): Promise<void>
}

const WINDOW_SECONDS = 60

/** In memory, or in Redis where REDIS_URL is set, with memory as insurance when Redis is away. */
export function createRateLimits(config: Config, onError: (error: Error) => void): RateLimits {
  const redis = config.redisUrl
    ? new Redis(config.redisUrl, { enableOfflineQueue: false, maxRetriesPerRequest: 0, lazyConnect: false })
    : undefined
  redis?.on('error', onError)

  const limiter = (name: string, points: number) => {
    const memory = new RateLimiterMemory({ keyPrefix: name, points, duration: WINDOW_SECONDS })
    if (!redis) return memory
    return new RateLimiterRedis({
      storeClient: redis,
      keyPrefix: `loyalty:${name}`,
      points,
      duration: WINDOW_SECONDS,
      insuranceLimiter: memory,
      rejectIfRedisNotReady: true,
    })
  }

  const { failedAuth, pairing, ...scopes } = config.rateLimitsPerMinute
  const byScope = Object.fromEntries(
    Object.entries(scopes).map(([scope, points]) => [
      scope,
      { limit: points, limiter: limiter(scope, points) },
    ]),
  ) as Record<RateScope, { limit: number; limiter: RateLimiterMemory | RateLimiterRedis }>
  const failures = { limit: failedAuth, limiter: limiter('failed-auth', failedAuth) }
  const pairings = { limit: pairing, limiter: limiter('pairing', pairing) }

  const stateOf = (limit: number, result: RateLimiterRes, exceeded: boolean): RateState => ({
    limit,
    remaining: Math.max(0, result.remainingPoints),
    resetSeconds: Math.max(1, Math.ceil(result.msBeforeNext / 1000)),
    exceeded,
  })
  const count = async (scope: typeof failures, holder: string): Promise<RateState> => {
    try {
      return stateOf(scope.limit, await scope.limiter.consume(holder), false)
    } catch (refused) {
      if (refused instanceof RateLimiterRes) return stateOf(scope.limit, refused, true)
      throw refused
    }
  }

  return {
    consume: (scope, holder) => count(byScope[scope], holder),
    consumeFailedAuth: (address) => count(failures, address),
    consumePairing: (address) => count(pairings, address),
    async peekFailedAuth(address) {
      const known = await failures.limiter.get(address)
      if (known) return stateOf(failures.limit, known, known.remainingPoints < 0)
      return {
        limit: failures.limit,
        remaining: failures.limit,
        resetSeconds: WINDOW_SECONDS,
        exceeded: false,
      }
    },
    close: async () => void (await redis?.quit().catch(() => redis.disconnect())),
  }
}
