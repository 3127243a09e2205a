import { randomBytes } from 'node:crypto'

/** Crockford's base32, for codes that people read and type: 32 characters, without I, L, O and U. */
export const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** So many random characters, 5 bits each, from the system's generator. */
export const randomCharacters = (length: number): string =>
  Array.from(randomBytes(length), (byte) => CROCKFORD[byte % CROCKFORD.length]).join('')

/** What a person meant: any case, look-alikes folded. */
export const foldLookAlikes = (written: string): string =>
  written.toUpperCase().replaceAll('O', '0').replace(/[IL]/g, '1')

/** Whether a folded text has no other characters, and at least one. */
export const isCrockford = (text: string): boolean => /^[0-9A-HJKMNP-TV-Z]+$/.test(text)
