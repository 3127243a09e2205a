import { randomBytes } from 'node:crypto'

/** Redemption codes: 8 characters of Crockford's base32, which has no I, L, O and U. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const LENGTH = 8

/** A random code (40 bits); uniqueness within the business is the database's to say. */
export const generateCode = (): string =>
  Array.from(randomBytes(LENGTH), (byte) => ALPHABET[byte % ALPHABET.length]).join('')

/** The code that a person meant: any case, look-alikes folded. Undefined if it cannot be one. */
export function readCode(written: string): string | undefined {
  const folded = written.toUpperCase().replaceAll('O', '0').replace(/[IL]/g, '1')
  return /^[0-9A-HJKMNP-TV-Z]{8}$/.test(folded) ? folded : undefined
}
