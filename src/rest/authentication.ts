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
const TRUST_MS = 5_000
const MAX_CACHED = 50_000

const findKey = statement<Credential>(
  'find_api_key',
  `SELECT k.id AS "keyId", k.scopes, k.expires_at AS "expiresAt", b.id AS "businessId",
          b.status AS "businessStatus", b.timezone
     FROM api_keys k JOIN businesses b ON b.id = k.business_id
    WHERE k.digest = $1 AND k.revoked_at IS NULL`,
)
const touchKeys = statement<never>(
  'touch_api_keys',
  `UPDATE api_keys SET last_used_at = $2 WHERE id = ANY($1::uuid[]) AND (last_used_at IS NULL OR last_used_at < $2)`,
)

export interface Authentication {
  /**
   * The credential of an `Authorization` header at a moment.
   * Throws INVALID_API_KEY (missing, malformed, unknown, revoked, expired: one answer for all) or
   * BUSINESS_SUSPENDED.
   */
  authenticate(authorization: string | undefined, now: Date): Promise<Credential>
  /** Writes what is still to be noted about the use of keys. */
  flush(): Promise<void>
}

/** Keys are checked against the database at most every five seconds; a warm key costs no round trip. */
export function createAuthentication(database: Database, secrets: Secrets): Authentication {
  const cache = new Map<string, { credential: Promise<Credential | undefined>; until: number }>()
  const used = new Map<string, number>()
  let flushing: Promise<unknown> = Promise.resolve()
  const flush = (minute: number): void => {
    const ids = [...used].filter(([, at]) => at === minute).map(([id]) => id)
    for (const [id, at] of used) if (at < minute) used.delete(id)
    // For people to see which keys are in use; losing one note harms nothing.
    flushing = database.sql.run(touchKeys, [ids, new Date(minute)]).catch(() => undefined)
  }

  function look(key: string, now: number): Promise<Credential | undefined> {
    const digest = secrets.keyDigest(key)
    const id = digest.toString('base64')
    const known = cache.get(id)
    if (known && known.until > now) return known.credential
    if (cache.size >= MAX_CACHED) cache.clear()
    const credential = database.sql.row(findKey, [digest])
    cache.set(id, { credential, until: now + TRUST_MS })
    // Neither a fault nor an unknown key is worth remembering.
    credential.then(
      (found) => !found && cache.delete(id),
      () => cache.delete(id),
    )
    return credential
  }

  return {
    async authenticate(authorization, now) {
      const key = authorization?.match(/^Bearer +(\S+)$/i)?.[1]
      if (!key || !isWellFormedApiKey(key)) throw new AppError('INVALID_API_KEY')
      // The wall clock bounds the trust; `now` may be a test's.
      const credential = await look(key, Date.now())
      if (!credential || (credential.expiresAt && credential.expiresAt <= now))
        throw new AppError('INVALID_API_KEY')
      if (credential.businessStatus === 'suspended') throw new AppError('BUSINESS_SUSPENDED')
      const minute = Math.floor(now.getTime() / 60_000) * 60_000
      if (used.get(credential.keyId) !== minute) {
        used.set(credential.keyId, minute)
        flush(minute)
      }
      return credential
    },
    flush: async () => void (await flushing),
  }
}
