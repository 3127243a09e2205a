import { isWellFormedApiKey } from '../businesses/api-key.js'
import type { Actor } from '../context.js'
import type { Database } from '../database/database.js'
import { type Statement, statement } from '../database/sql.js'
import { isWellFormedTerminalToken } from '../devices/terminal-token.js'
import { AppError } from '../errors.js'
import type { Secrets } from '../secrets.js'

/** A key or a terminal's token that was checked, with the business that it is for. */
export interface Credential {
  actor: Extract<Actor, { kind: 'api_key' | 'terminal' }>
  businessId: string
  timezone: string
}

/** How long a checked key is trusted without asking again: the bound on how late a revocation takes effect. */
export const TRUST_MS = 5_000
const MAX_CACHED = 50_000
const MINUTE_MS = 60_000

/** Who holds what was shown. */
interface Holder {
  id: string
  scopes: string[]
  expiresAt: Date | null
  businessId: string
  businessStatus: 'active' | 'suspended'
  timezone: string
}

/** What may be shown as a bearer. */
interface Kind {
  isWellFormed(text: string): boolean
  /** By the digest of what was shown. */
  find: Statement<Holder>
  /** Business, holder, minute. */
  noteUse: Statement<never>
  actorOf(holder: Holder): Credential['actor']
}

const business = 'b.id AS "businessId", b.status AS "businessStatus", b.timezone'

const kinds: readonly Kind[] = [
  {
    isWellFormed: isWellFormedApiKey,
    find: statement(
      'find_api_key',
      `SELECT k.id, k.scopes, k.expires_at AS "expiresAt", ${business}
         FROM api_keys k JOIN businesses b ON b.id = k.business_id
        WHERE k.digest = $1 AND k.revoked_at IS NULL`,
    ),
    noteUse: statement(
      'note_use_of_api_key',
      `UPDATE api_keys SET last_used_at = $3
        WHERE business_id = $1 AND id = $2 AND (last_used_at IS NULL OR last_used_at < $3)`,
    ),
    actorOf: ({ id, scopes }) => ({ kind: 'api_key', id, scopes }),
  },
  {
    isWellFormed: isWellFormedTerminalToken,
    find: statement(
      'find_terminal_token',
      `SELECT l.device_id AS id, '{}'::text[] AS scopes, NULL::timestamptz AS "expiresAt", ${business}
         FROM device_logins l JOIN businesses b ON b.id = l.business_id
        WHERE l.token_digest = $1`,
    ),
    noteUse: statement(
      'note_use_of_terminal',
      `UPDATE devices SET last_active_at = $3
        WHERE business_id = $1 AND id = $2 AND (last_active_at IS NULL OR last_active_at < $3)`,
    ),
    actorOf: ({ id }) => ({ kind: 'terminal', id }),
  },
]

/** What was shown, as it was found at a moment (milliseconds). */
interface Checked {
  kind: Kind
  holder: Promise<Holder | undefined>
  checkedAt: number
}

export interface Authentication {
  /**
   * The credential of an `Authorization` header at a moment.
   * Throws INVALID_API_KEY (missing, malformed, unknown, revoked, expired: one answer for all) or
   * BUSINESS_SUSPENDED.
   */
  authenticate(authorization: string | undefined, now: Date): Promise<Credential>
  /** Resolves when what was still to be noted about the use of keys and terminals is written. */
  flush(): Promise<void>
}

/** Keys are checked against the database at most every five seconds; a warm key costs no round trip. */
export function createAuthentication(database: Database, secrets: Secrets): Authentication {
  const cache = new Map<string, Checked>()
  const usedInMinute = new Map<string, number>()
  const notes = new Set<Promise<unknown>>()

  function look(key: string, now: number): Checked | undefined {
    const digest = secrets.keyDigest(key)
    const id = digest.toString('base64')
    const known = cache.get(id)
    if (known && now >= known.checkedAt && now < known.checkedAt + TRUST_MS) return known
    const kind = kinds.find(({ isWellFormed }) => isWellFormed(key))
    if (!kind) return undefined
    if (cache.size >= MAX_CACHED) cache.clear()
    const entry = { kind, holder: database.sql.row(kind.find, [digest]), checkedAt: now }
    cache.set(id, entry)
    // Neither a fault nor an unknown key is worth remembering.
    const forget = () => cache.get(id) === entry && cache.delete(id)
    entry.holder.then((found) => found ?? forget(), forget)
    return entry
  }

  /** To the minute, for people to see what is in use; losing one note harms nothing. */
  function note({ noteUse }: Kind, { businessId, id }: Holder, now: number): void {
    const minute = now - (now % MINUTE_MS)
    if (usedInMinute.get(id) === minute) return
    if (usedInMinute.size >= MAX_CACHED) usedInMinute.clear()
    usedInMinute.set(id, minute)
    const written = database.sql.run(noteUse, [businessId, id, new Date(minute)]).catch(() => undefined)
    notes.add(written)
    written.finally(() => notes.delete(written))
  }

  return {
    async authenticate(authorization, now) {
      const key = authorization?.match(/^Bearer +(\S+)$/i)?.[1]
      const checked = key && look(key, now.getTime())
      if (!checked) throw new AppError('INVALID_API_KEY')
      const { kind } = checked
      const holder = await checked.holder
      if (!holder || (holder.expiresAt && holder.expiresAt <= now)) throw new AppError('INVALID_API_KEY')
      if (holder.businessStatus === 'suspended') throw new AppError('BUSINESS_SUSPENDED')
      note(kind, holder, now.getTime())
      return { actor: kind.actorOf(holder), businessId: holder.businessId, timezone: holder.timezone }
    },
    flush: async () => void (await Promise.all(notes)),
  }
}
