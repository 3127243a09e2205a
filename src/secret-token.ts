import { createHash, randomBytes } from 'node:crypto'

/** A kind of secret that a client shows with each request. */
export interface TokenForm {
  generate(): string
  /** Whether a text can be one at all. */
  isWellFormed(text: string): boolean
}

const RANDOM_CHARACTERS = 43
const CHECK_CHARACTERS = 6
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/**
 * The form of API keys and of terminals' tokens: a prefix that says which, 43 base62 characters (256 random bits), 6
 * base62 characters of checksum. The checksum lets a mistyped one be refused without asking the database.
 */
export const tokenForm = (prefix: string): TokenForm => ({
  generate() {
    const body = prefix + base62(randomBytes(32), RANDOM_CHARACTERS)
    return body + checkOf(body)
  },
  isWellFormed(text) {
    if (text.length !== prefix.length + RANDOM_CHARACTERS + CHECK_CHARACTERS || !text.startsWith(prefix))
      return false
    const body = text.slice(0, -CHECK_CHARACTERS)
    return checkOf(body) === text.slice(-CHECK_CHARACTERS)
  },
})

function base62(bytes: Buffer, length: number): string {
  let number = BigInt(`0x${bytes.toString('hex')}`)
  let text = ''
  for (let i = 0; i < length; i++) {
    text = ALPHABET[Number(number % 62n)] + text
    number /= 62n
  }
  return text
}

const checkOf = (body: string): string =>
  base62(createHash('sha256').update(body).digest().subarray(0, 8), CHECK_CHARACTERS)
