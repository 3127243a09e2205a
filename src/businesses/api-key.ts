import { createHash, randomBytes } from 'node:crypto'

/**
 * The form of an API key: `lby_live_`, 43 base62 characters (256 random bits), 6 base62 characters of checksum.
 * The checksum lets a mistyped key be refused without asking the database.
 */
const PREFIX = 'lby_live_'
const RANDOM_CHARACTERS = 43
const CHECK_CHARACTERS = 6
const SHOWN_CHARACTERS = 12
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

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

/** A new key and the characters of it that may be shown later. */
export function generateApiKey(): { key: string; prefix: string } {
  const body = PREFIX + base62(randomBytes(32), RANDOM_CHARACTERS)
  const key = body + checkOf(body)
  return { key, prefix: key.slice(0, SHOWN_CHARACTERS) }
}

/** Whether a text can be a key at all. */
export function isWellFormedApiKey(text: string): boolean {
  if (text.length !== PREFIX.length + RANDOM_CHARACTERS + CHECK_CHARACTERS || !text.startsWith(PREFIX))
    return false
  const body = text.slice(0, -CHECK_CHARACTERS)
  return checkOf(body) === text.slice(-CHECK_CHARACTERS)
}
