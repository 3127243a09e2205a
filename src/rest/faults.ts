import type { Logger } from 'pino'
import { AppError } from '../errors.js'

/**
 * What a fault below us means to a client: the database being away, overloaded or too slow is a 503 that may be
 * retried; everything else is ours, masked as a 500.
 */
const AWAY = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
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
  // The socket file of a server that is not running.
  /connect ENOENT/,
  /Connection terminated/,
  /timeout exceeded when trying to connect/,
  /Client has encountered a connection error/,
  /Cannot use a pool after calling end/,
]
const AWAY_KINDS = new Set(['DatabaseNotReachable', 'ConnectionClosed', 'SocketTimeout'])

/** What drivers put on their errors. */
interface DriverError extends Error {
  code?: string
  cause?: unknown
  meta?: { driverAdapterError?: unknown }
}

function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return AWAY_KINDS.has((error as { kind?: string } | undefined)?.kind ?? '')
  const { code, message, cause, meta } = error as DriverError
  if (code !== undefined && (AWAY.has(code) || code.startsWith('08'))) return true
  if (AWAY_MESSAGES.some((pattern) => pattern.test(message))) return true
  return isDatabaseAway(cause) || isDatabaseAway(meta?.driverAdapterError)
}

const RETRY_AFTER_SECONDS = 2

/** The refusal to answer with: what was thrown where it is one, else what the fault means to a client. */
export function refusalFor(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown
  return isDatabaseAway(thrown)
    ? new AppError('UNAVAILABLE', undefined, RETRY_AFTER_SECONDS)
    : new AppError('INTERNAL')
}

/** Logs what is behind the code that a client was answered, if that is a fault: it has seen only the request's id. */
export function logFault(log: Logger, thrown: unknown, code: unknown, requestId: string): void {
  if (code === 'INTERNAL') log.error({ err: thrown, requestId }, 'fault')
  else if (code === 'UNAVAILABLE') log.warn({ err: thrown, requestId }, 'database away')
}
