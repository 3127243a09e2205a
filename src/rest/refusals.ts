import type { Middleware, ParameterizedContext } from 'koa'
import type { Logger } from 'pino'
import type { AppError } from '../errors.js'
import type { Admission } from './admission.js'
import { errorBody } from './envelope.js'
import { logFault, refusalFor } from './faults.js'

/** Answers whatever is thrown with the error envelope, and what refuses everybody with the headers it needs. */
export const answerRefusals =
  (admission: Admission, log: Logger): Middleware =>
  async (koa, next) => {
    try {
      await next()
    } catch (thrown) {
      const refusal = refusalFor(thrown)
      logFault(log, thrown, refusal.code, koa.state.requestId as string)
      if (!koa.response.get('RateLimit-Limit')) await admission.describeAddress(koa)
      refuse(koa, refusal, errorBody(refusal))
    }
  }

/** Sends a refusal; the body's form is the caller's (an envelope in REST, `errors` in the graph). */
export function refuse(koa: ParameterizedContext, refusal: AppError, body: string): void {
  if (refusal.retryAfterSeconds !== undefined) koa.set('Retry-After', String(refusal.retryAfterSeconds))
  koa.status = refusal.kind.status
  koa.type = 'application/json'
  koa.body = body
}
