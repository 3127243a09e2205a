import type { ParameterizedContext } from 'koa'
import { type Context, createContext, type RateScope, type Services } from '../context.js'
import { AppError } from '../errors.js'
import type { Authentication, Credential } from './authentication.js'
import type { RateLimits, RateState } from './rate-limit.js'

/** Who may come in, and how often: the same for every REST route and for the graph. */
export interface Admission {
  /** Checks the key; a failure counts against the client's address (docs: decisions, Keys). */
  authenticate(koa: ParameterizedContext): Promise<void>
  /** Counts one request in a rate scope and gives the request's context. */
  admit(koa: ParameterizedContext, scope: RateScope, internal?: boolean): Promise<Context>
  /** Counts one try to pair against the client's address; the context is of somebody in no business. */
  admitStranger(koa: ParameterizedContext): Promise<Context>
  /** Sets the headers of the address's limit where no key was accepted. */
  describeAddress(koa: ParameterizedContext): Promise<void>
}

export interface AdmissionDeps {
  services: Services
  authentication: Authentication
  rateLimits: RateLimits
}

/** The business of those who have shown no key: there is none, so that whatever is looked for in it is not found. */
const NO_BUSINESS = { id: '00000000-0000-0000-0000-000000000000', timezone: 'UTC' }

export function createAdmission(deps: AdmissionDeps): Admission {
  const { services, authentication, rateLimits } = deps

  async function consume(koa: ParameterizedContext, scope: RateScope): Promise<void> {
    const { actor } = koa.state.credential as Credential
    report(koa, await rateLimits.consume(scope, actor.id))
  }

  return {
    async authenticate(koa) {
      const now = services.clock.now()
      koa.state.now = now
      try {
        koa.state.credential = await authentication.authenticate(koa.get('Authorization') || undefined, now)
      } catch (error) {
        if (error instanceof AppError && error.code === 'INVALID_API_KEY')
          report(koa, await rateLimits.consumeFailedAuth(koa.ip))
        else await this.describeAddress(koa)
        throw error
      }
    },

    async admit(koa, scope, internal = true) {
      await consume(koa, scope)
      const { actor, businessId, timezone } = koa.state.credential as Credential
      koa.state.businessId = businessId
      return createContext(services, {
        business: { id: businessId, timezone },
        actor,
        now: koa.state.now as Date,
        requestId: koa.state.requestId as string,
        internal,
        consume: (other) => consume(koa, other),
      })
    },

    async admitStranger(koa) {
      report(koa, await rateLimits.consumePairing(koa.ip))
      return createContext(services, {
        business: NO_BUSINESS,
        actor: { kind: 'stranger' },
        now: services.clock.now(),
        requestId: koa.state.requestId as string,
        internal: true,
        consume: async () => {},
      })
    },

    async describeAddress(koa) {
      setHeaders(koa, await rateLimits.peekFailedAuth(koa.ip))
    },
  }
}

/** The three headers of spec §8; throws RATE_LIMIT_EXCEEDED past the limit. */
function report(koa: ParameterizedContext, state: RateState): void {
  setHeaders(koa, state)
  if (state.exceeded) throw new AppError('RATE_LIMIT_EXCEEDED', undefined, state.resetSeconds)
}

function setHeaders(koa: ParameterizedContext, state: RateState): void {
  koa.set('RateLimit-Limit', String(state.limit))
  koa.set('RateLimit-Remaining', String(state.remaining))
  koa.set('RateLimit-Reset', String(state.resetSeconds))
}
