import { isWellFormedApiKey } from '../businesses/api-key.js'
import type { Database } from '../database/database.js'
import { statement } from '../database/sql.js'
import { AppError } from '../errors.js'
import type { Secrets } from '../secrets.js'

/** A key that was checked, with the business that owns it. */
export interface Credential {
  keyId: string
  scopes: string[]
  expiresAt: Date | null
  businessId: string
  businessStatus: 'active' | 'suspended'
  timezone: string
}

/** How long a checked key is trusted without asking again: the bound on how late a revocation takes effect. */
export const TRUST_MS = 5_000
const MAX_CACHED = 50_000
const MINUTE_MS = 60_000
const NONE = Promise.resolve(undefined)

const findKey = statement<Credential>(
  'find_api_key',
  `SELECT k.id AS "keyId", k.scopes, k.expires_at AS "expiresAt", b.id AS "businessId",
          b.status AS "businessStatus", b.timezone
     FROM api_keys k JOIN businesses b ON b.id = k.business_id
    WHERE k.digest = $1 AND k.revoked_at IS NULL`,
)
const noteUse = statement<never>(
  'note_use_of_api_key',
  'UPDATE api_keys SET last_used_at = $2 WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2)',
)

export interface Authentication {
  /**
   * The credential of an `Authorization` header at a moment.
   * Throws INVALID_API_KEY (missing, malformed, unknown, revoked, expired: one answer for all) or
   * BUSINESS_SUSPENDED.
   */
  authenticate(authorization: string | undefined, now: Date): Promise<Credential>
  /** Resolves when what was still to be noted about the use of keys is written. */
  flush(): Promise<void>
}

/** Keys are checked against the database at most every five seconds; a warm key costs no round trip. */
export function createAuthentication(database: Database, secrets: Secrets): Authentication {
  const cache = new Map<string, { credential: Promise<Credential | undefined>; checkedAt: number }>()
  const usedInMinute = new Map<string, number>()
  const notes = new Set<Promise<unknown>>()

  function look(key: string, now: number): Promise<Credential | undefined> {
    const digest = secrets.keyDigest(key)
    const id = digest.toString('base64')
    const known = cache.get(id)
    if (known && now >= known.checkedAt && now < known.checkedAt + TRUST_MS) return known.credential
    if (!isWellFormedApiKey(key)) return NONE
    if (cache.size >= MAX_CACHED) cache.clear()
    const credential = database.sql.row(findKey, [digest])
    const entry = { credential, checkedAt: now }
    cache.set(id, entry)
    // Neither a fault nor an unknown key is worth remembering.
    const forget = () => cache.get(id) === entry && cache.delete(id)
    credential.then((found) => found ?? forget(), forget)
    return credential
  }

  /** To the minute, for people to see which keys are in use; losing one note harms nothing. */
  function note(keyId: string, now: number): void {
    const minute = now - (now % MINUTE_MS)
    if (usedInMinute.get(keyId) === minute) return
    if (usedInMinute.size >= MAX_CACHED) usedInMinute.clear()
    usedInMinute.set(keyId, minute)
    const written = database.sql.run(noteUse, [keyId, new Date(minute)]).catch(() => undefined)
    notes.add(written)
    written.finally(() => notes.delete(written))
  }

  return {
    async authenticate(authorization, now) {
      const key = authorization?.match(/^Bearer +(\S+)$/i)?.[1]
      if (!key) throw new AppError('INVALID_API_KEY')
      const credential = await look(key, now.getTime())
      if (!credential || (credential.expiresAt && credential.expiresAt <= now))
        throw new AppError('INVALID_API_KEY')
      if (credential.businessStatus === 'suspended') throw new AppError('BUSINESS_SUSPENDED')
      note(credential.keyId, now.getTime())
      return credential
    },
    flush: async () => void (await Promise.all(notes)),
  }
}
