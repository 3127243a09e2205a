import { AppError } from './errors.js'

/** A change without its absent fields. */
export type Given<Change> = { [Field in keyof Change]?: Exclude<Change[Field], undefined> }

/**
 * The fields that a PATCH gives: an absent one stays as it is, null clears (docs: decisions, HTTP). Throws
 * EMPTY_UPDATE where there is none.
 */
export function givenFields<Change extends object>(change: Change): Given<Change> {
  const given = Object.entries(change).filter(([, value]) => value !== undefined)
  if (given.length === 0) throw new AppError('EMPTY_UPDATE')
  return Object.fromEntries(given) as Given<Change>
}
