import { foldLookAlikes, randomCharacters } from '../crockford.js'

/** Codes that people read and type: Crockford's base32, which has no I, L, O and U. Redemption codes have 8 characters. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const LENGTH = 8

/** A random code, 5 bits a character; whether it is free is the database's to say. */
export const generateCode = (length = LENGTH): string =>
  Array.from(randomBytes(length), (byte) => ALPHABET[byte % ALPHABET.length]).join('')

/** The code that a person meant: any case, look-alikes folded. Undefined if it cannot be one. */
export function readCode(written: string, length = LENGTH): string | undefined {
  const folded = written.toUpperCase().replaceAll('O', '0').replace(/[IL]/g, '1')
  return folded.length === length && /^[0-9A-HJKMNP-TV-Z]+$/.test(folded) ? folded : undefined
}

/** Redemption codes: 8 characters of Crockford's base32. */
const LENGTH = 8

/** A random code (40 bits); uniqueness within the business is the database's to say. */
export const generateCode = (): string => randomCharacters(LENGTH)

/** The code that a person meant: any case, look-alikes folded. Undefined if it cannot be one. */
export function readCode(written: string): string | undefined {
  const folded = foldLookAlikes(written)
  return /^[0-9A-HJKMNP-TV-Z]{8}$/.test(folded) ? folded : undefined
}
