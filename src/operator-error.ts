/**
 * Something that the operator has to put right: a setting, an option, a port, a database that does not answer. The
 * message says what to do and is shown alone, without a stack trace.
 */
export class OperatorError extends Error {
  override name = 'OperatorError'
}
