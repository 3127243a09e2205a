import { AppError } from '../errors.js'

/**
 * What a fault below us means to a client: the database being away, overloaded or too slow is a 503 that may be
 * retried; everything else is ours, masked as a 500.
 */
const AWAY = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  // PostgreSQL: shutting down, starting up, too many connections, cancelled (statement or lock timeout).
  '57P01',
  '57P02',
  '57P03',
  '53300',
  '57014',
  '55P03',
  '25P03',
  // Retried, and still in conflict.
  '40001',
  '40P01',
  // Prisma's words for the same.
  'P1001',
  'P1002',
  'P1008',
  'P1017',
  'P2024',
  'P2034',
  'P2037',
])
const AWAY_MESSAGES = [
  /Connection terminated/,
  /timeout exceeded when trying to connect/,
  /Client has encountered a connection error/,
  /Cannot use a pool after calling end/,
]

export function isDatabaseAway(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    const code = (at as { code?: string }).code
    if (code !== undefined && (AWAY.has(code) || code.startsWith('08'))) return true
    if (AWAY_MESSAGES.some((pattern) => pattern.test((at as Error).message))) return true
    const driver = (at as { meta?: { driverAdapterError?: unknown } }).meta?.driverAdapterError
    if (driver instanceof Error && driver !== at && isDatabaseAway(driver)) return true
    const kind = (at as { cause?: { kind?: string } }).cause?.kind
    if (kind === 'DatabaseNotReachable' || kind === 'ConnectionClosed' || kind === 'SocketTimeout') return true
  }
  return false
}

const RETRY_AFTER_SECONDS = 2

/** The refusal to answer a fault with; `undefined` masks nothing because it is a refusal already. */
export const refusalFor = (error: unknown): AppError =>
  error instanceof AppError
    ? error
    : isDatabaseAway(error)
      ? new AppError('UNAVAILABLE', undefined, RETRY_AFTER_SECONDS)
      : new AppError('INTERNAL')
