import pino, { type Logger } from 'pino'

/** The service's log: JSON lines to standard output (1) or standard error (2). */
export const createLog = (level: string, fileDescriptor: 1 | 2): Logger =>
  pino(
    {
      level,
      // PostgreSQL's errors quote the row that they are about.
      redact: { paths: ['err.detail', 'err.where'], remove: true },
    },
    pino.destination({ fd: fileDescriptor, sync: true }),
  )
