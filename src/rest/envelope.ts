import type { AppError } from '../errors.js'

/** The two envelopes of spec §2, as the bytes that are sent. */

export const successBody = (message: string, data: unknown): string =>
  JSON.stringify({ success: true, message, data })

export function errorBody(error: AppError): string {
  const limited =
    error.code === 'RATE_LIMIT_EXCEEDED' ? { type: error.code, retryAfter: error.retryAfterSeconds } : {}
  return JSON.stringify({ success: false, error: { message: error.message, ...limited } })
}
