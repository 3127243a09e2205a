import pino, { type Logger } from 'pino'

/**
 * The service's log: JSON lines to standard output (1) or standard error (2). Of an error it takes what is listed here
 * and nothing else: those of PostgreSQL's driver quote rows and carry the whole connection.
 */
export const createLog = (level: string, fileDescriptor: 1 | 2): Logger =>
  pino({ level, serializers: { err: describeError } }, pino.destination({ fd: fileDescriptor, sync: true }))

export function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { name, message, stack, code, cause } = error as NodeJS.ErrnoException
  return { name, message, code, stack, cause: describeError(cause) }
}
