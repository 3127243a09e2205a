/**
 * The database cannot be brought up for a reason that the operator can act on: the message says what to do and
 * is to be shown without a stack trace. Any other error while starting is a fault of the program.
 */
export class DatabaseStartError extends Error {
  override name = 'DatabaseStartError'
}
