import { CROCKFORD, foldLookAlikes, randomCharacters } from '../crockford.js'

/**
 * The codes of a batch: its prefix, a hyphen, and a suffix of 11 random characters (55 bits) and one that checks them
 * (docs: decisions, Code batches).
 */
const RANDOM_LENGTH = 11
const SUFFIX_LENGTH = RANDOM_LENGTH + 1

/** A new suffix; uniqueness within the business is the database's to say. */
export function generateSuffix(): string {
  const random = randomCharacters(RANDOM_LENGTH)
  return random + checkCharacter(random)
}

/** A code as it is printed. */
export const printedCode = (prefix: string, suffix: string): string => `${prefix}-${suffix}`

/**
 * The check of some characters: their weighted sum over GF(32), the weights being powers of x and no two the same.
 * So one wrong character is always noticed, and so are two that have changed places.
 */
export function checkCharacter(characters: string): string {
  let sum = 0
  for (const character of characters) sum = timesX(sum ^ CROCKFORD.indexOf(character))
  return CROCKFORD[sum]!
}

/** Multiplies by x in GF(2)[x] / (x⁵ + x² + 1), where x generates all 31 elements but 0. */
const timesX = (element: number): number => (element & 16 ? (element << 1) ^ 0b100101 : element << 1)

/** A code as a person typed it: any case, look-alikes folded, hyphens and spaces of any grouping left out. */
export interface WrittenCode {
  /** Folded: of the batch that the code claims to be of. */
  prefix: string
  /** Undefined if it cannot be one: of another length, other characters, or failing its check. */
  suffix: string | undefined
}

/** In SQL, the prefix of a batch as it stands in a `WrittenCode`; the expression of the unique index. */
export const FOLDED_PREFIX = `translate(prefix, 'OIL', '011')`

/** Reads what was typed; the prefix ends at the first hyphen or, without one, 12 characters before the end. */
export function readCode(written: string): WrittenCode {
  const folded = foldLookAlikes(written.trim()).replace(/\s+/g, '-')
  const hyphen = folded.indexOf('-')
  const end = hyphen >= 0 ? hyphen : Math.max(0, folded.length - SUFFIX_LENGTH)
  const suffix = folded.slice(end).replaceAll('-', '')
  return { prefix: folded.slice(0, end), suffix: isSuffix(suffix) ? suffix : undefined }
}

const SUFFIX = new RegExp(`^[${CROCKFORD}]{${SUFFIX_LENGTH}}$`)

const isSuffix = (text: string): boolean =>
  SUFFIX.test(text) && checkCharacter(text.slice(0, RANDOM_LENGTH)) === text[RANDOM_LENGTH]
