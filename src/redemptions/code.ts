import { foldLookAlikes, isCrockford, randomCharacters } from '../crockford.js'

/** Codes that people read and type. Redemption codes have 8 characters. */
const LENGTH = 8

/** A random code, 5 bits a character; whether it is free is the database's to say. */
export const generateCode = (length = LENGTH): string => randomCharacters(length)

/** The code that a person meant: any case, look-alikes folded. Undefined if it cannot be one. */
export function readCode(written: string, length = LENGTH): string | undefined {
  const folded = foldLookAlikes(written)
  return folded.length === length && isCrockford(folded) ? folded : undefined
}
