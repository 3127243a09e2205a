/** What may stand in the fields of a customer (docs: decisions, Customers). Pure; every text is kept as sent. */
import { isCalendarDate, isUuid } from '../graphql/bounds.js'

export const MAX_EMAIL_CHARACTERS = 320
export const MAX_PHONE_CHARACTERS = 32
export const MAX_LANGUAGE_CHARACTERS = 35
export const MAX_IDENTIFIER_CHARACTERS = 200

// Unicode on both sides (RFC 6531); quoted local parts and bare host names, which RFC 5321 knows, are nobody's.
const LOCAL_PART = /^[^\s\p{Cc}@"(),:;<>[\\\]]{1,64}$/u
const DOMAIN_LABEL = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?$/u

/** `local@host.tld`, at most 320 characters. */
export function isEmail(value: string): boolean {
  if (value.length > MAX_EMAIL_CHARACTERS) return false
  const [local, domain, ...more] = value.split('@')
  if (local === undefined || domain === undefined || more.length > 0) return false
  const labels = domain.split('.')
  return (
    LOCAL_PART.test(local) &&
    local.split('.').every((part) => part !== '') &&
    labels.length > 1 &&
    labels.every((label) => DOMAIN_LABEL.test(label))
  )
}

/** 3 to 15 digits (E.164) with an optional leading `+`, written with spaces, dots, hyphens, slashes or parentheses. */
export function isPhone(value: string): boolean {
  if (value.length > MAX_PHONE_CHARACTERS || !/^\+?[\d ().\-/]+$/.test(value)) return false
  const digits = value.replace(/\D/g, '').length
  return digits >= 3 && digits <= 15
}

// A leap year, so that 29 February is a birthday.
const ANY_YEAR = '2000-'

/** `YYYY-MM-DD`, or `--MM-DD` where the year is not known; a day of the calendar. */
export const isBirthday = (value: string): boolean => isCalendarDate(value.replace(/^--/, ANY_YEAR))

/** Whether a birthday lies after `today` (`YYYY-MM-DD`); one without a year never does. */
export const isAfterToday = (birthday: string, today: string): boolean =>
  !birthday.startsWith('-') && birthday > today

/** A BCP 47 language tag, written in its canonical form: `de`, `pt-BR`, `zh-Hant-TW`. */
export function isLanguageTag(value: string): boolean {
  if (value.length > MAX_LANGUAGE_CHARACTERS) return false
  try {
    return Intl.getCanonicalLocales(value)[0] === value
  } catch {
    return false
  }
}

/** What a path could not tell from a user id, from the route of the look-up, or from a step between folders. */
const RESERVED: ReadonlySet<string> = new Set(['lookup', '.', '..'])

/** Whether a value can address a customer in a path beside user ids. */
export const isIdentifierValue = (value: string): boolean => !isUuid(value) && !RESERVED.has(value)

/** A text that `LIKE` finds literally. */
export const escapeLike = (value: string): string => value.replace(/[\\%_]/g, '\\$&')
