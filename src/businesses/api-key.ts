import { tokenForm } from '../secret-token.js'

const form = tokenForm('lby_live_')
const SHOWN_CHARACTERS = 12

/** A new key and the characters of it that may be shown later. */
export function generateApiKey(): { key: string; prefix: string } {
  const key = form.generate()
  return { key, prefix: key.slice(0, SHOWN_CHARACTERS) }
}

/** Whether a text can be a key at all. */
export const isWellFormedApiKey = form.isWellFormed
