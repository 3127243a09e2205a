import { createHash } from 'node:crypto'
import {
  CallsOut,
  type Context,
  deviceOf,
  enter,
  InOtherHands,
  LooksOutside,
  type TransactionContext,
} from './context.js'
import { statement } from './database/sql.js'
import { AppError } from './errors.js'

/** An answer as it can be stored: the exact bytes that are sent again. */
export interface Answer {
  status: number
  body: string
  /** A refusal: whatever the operation wrote is rolled back. Not so where a refusal keeps its effects (errors.ts). */
  refused: boolean
  /** Decided by the state of the business: a retry with the same key gets it again (docs: decisions, Idempotency). */
  storable: boolean
}

interface StoredRow {
  locked: boolean
  /** Null where there is no row. */
  sameRequest: boolean | null
  /** Null where there is no row, or its operation has not been answered yet. */
  status: number | null
  body: Buffer | null
  leaseUntil: Date | null
  resourceId: string | null
}

export const KEY_LIFETIME_MS = 24 * 60 * 60 * 1000

const lockAndFind = statement<StoredRow>(
  'idempotency_lock_and_find',
  `SELECT pg_try_advisory_xact_lock($3::bigint) AS locked, k.status, k.body, k.fingerprint = $4 AS "sameRequest",
          k.lease_until AS "leaseUntil", k.resource_id AS "resourceId"
     FROM (SELECT) AS one LEFT JOIN idempotency_keys k
       ON k.business_id = $1 AND k.key = $2 AND k.created_at > $5`,
)
const store = statement<never>(
  'idempotency_store',
  `INSERT INTO idempotency_keys AS k (business_id, key, fingerprint, status, body, customer_ids, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7)
   ON CONFLICT (business_id, key) DO UPDATE
     SET fingerprint = excluded.fingerprint, status = excluded.status, body = excluded.body,
         customer_ids = excluded.customer_ids, created_at = excluded.created_at, lease_until = NULL, resource_id = NULL
     WHERE k.created_at <= $8`,
)

/** Ends the transaction without its effects, carrying the answer out. */
class RolledBack extends Error {
  readonly answer: Answer | undefined

  constructor(answer: Answer | undefined) {
    super('rolled back')
    this.answer = answer
  }
}

/**
 * Runs a write once for a key: the effect and the answer commit in one transaction, so after a crash both are
 * there or neither. A retry gets the stored answer. A refusal is stored without effects.
 *
 * `run` must do all its work in the context it is given. Throws IDEMPOTENCY_KEY_IN_USE while the first request
 * is still running (at once, it never waits), IDEMPOTENCY_KEY_REUSED for another request with the same key,
 * CUSTOMER_ERASED where the answer spoke of a customer who was erased since.
 */
export async function once(
  ctx: Context,
  key: string,
  fingerprint: Buffer,
  run: (ctx: Context) => Promise<Answer>,
): Promise<Outcome> {
  const claim = claimOf(ctx, key, fingerprint)
  try {
    return await ctx.database.transaction(async (open) => {
      const inside = enter(ctx, open)
      const known = await find(inside, claim)
      if (known === 'interrupted') throw new CallsOut()
      if (known) return { answer: known, replayed: true }
      const answer = await run(inside)
      if (answer.refused) throw new RolledBack(answer)
      // Another instance may have committed between our look and our lock: its answer stands.
      if (answer.storable && !(await save(inside, claim, answer))) throw new RolledBack(undefined)
      return { answer, replayed: false }
    })
  } catch (error) {
    if (error instanceof CallsOut) return resumable(ctx, claim, run)
    if (error instanceof LooksOutside) return onceLooked(ctx, error, key, fingerprint, run)
    if (!(error instanceof RolledBack)) throw error
    const { answer } = error
    if (answer && !answer.storable) return { answer, replayed: false }
    return ctx.database.transaction(async (open) => {
      const inside = enter(ctx, open)
      const known = await find(inside, claim)
      if (known && known !== 'interrupted') return { answer: known, replayed: true }
      if (known || !answer || !(await save(inside, claim, answer))) throw inUse()
      return { answer, replayed: false }
    })
  }
}

/** Once more, with what came of the look outside; what it made is undone where no write has kept it. */
async function onceLooked(
  ctx: Context,
  { look, undo }: LooksOutside,
  key: string,
  fingerprint: Buffer,
  run: (ctx: Context) => Promise<Answer>,
): Promise<Outcome> {
  const [found] = await Promise.allSettled([look()])
  const undone = async () => {
    if (found.status === 'fulfilled') await undo(found.value as never)
  }
  try {
    const outcome = await once({ ...ctx, found }, key, fingerprint, run)
    if (outcome.replayed || outcome.answer.refused) await undone()
    return outcome
  } catch (error) {
    // After a fault it stays: the commit may have reached the database all the same.
    if (error instanceof AppError) await undone()
    throw error
  }
}

/** What the client is sent, and whether it had been sent before. */
export interface Outcome {
  answer: Answer
  replayed: boolean
}

/** Longer than an operation that calls out may take. */
const LEASE_MS = 30_000

/** The right to work on a key: whoever finds it run out may take the key over, and nothing that we do then counts. */
interface Lease {
  key: string
  until: Date
  /** What an interrupted try of the request has made. */
  resourceId: string | null
}

/**
 * For an operation that calls out, during which no transaction is open: the key is claimed first, with a lease. What
 * the operation makes is noted beside it, so that a retry after a crash goes on with that instead of making it twice.
 */
async function resumable(
  ctx: Context,
  claim: Claim,
  run: (ctx: Context) => Promise<Answer>,
): Promise<Outcome> {
  const claimed = await ctx.database.transaction<Outcome | Lease>(async (open) => {
    const inside = enter(ctx, open)
    const known = await find(inside, claim)
    if (known && known !== 'interrupted') return { answer: known, replayed: true }
    return take(inside, claim)
  })
  if ('answer' in claimed) return claimed
  let { resourceId } = claimed
  const note = async (tx: TransactionContext, made: string): Promise<void> => {
    const values = [tx.business.id, claimed.key, claimed.until, made, [...tx.customerIds]]
    if ((await tx.sql.run(noteResource, values)) === 0) throw new InOtherHands()
    resourceId = made
  }
  // What was made stays claimed by the request, for its retry to go on with.
  const giveUp = () => ctx.sql.run(resourceId === null ? releaseKey : endLease, leaseValues(ctx, claimed))
  try {
    const answer = await run({ ...ctx, resumption: { resourceId, note } })
    if (answer.storable) await saveLeased(ctx, claimed, answer)
    else await giveUp()
    return { answer, replayed: false }
  } catch (error) {
    await giveUp().catch(() => {})
    throw error instanceof InOtherHands ? inUse() : error
  }
}

const claimKey = statement<{ resourceId: string | null }>(
  'idempotency_claim',
  `INSERT INTO idempotency_keys AS k (business_id, key, fingerprint, customer_ids, created_at, lease_until)
   VALUES ($1, $2, $3, '{}', $4, $5)
   ON CONFLICT (business_id, key) DO UPDATE
     SET fingerprint = excluded.fingerprint, lease_until = excluded.lease_until, status = NULL, body = NULL,
         created_at = CASE WHEN k.created_at <= $6 THEN excluded.created_at ELSE k.created_at END,
         customer_ids = CASE WHEN k.created_at <= $6 THEN '{}' ELSE k.customer_ids END,
         resource_id = CASE WHEN k.created_at <= $6 THEN NULL ELSE k.resource_id END
     WHERE k.created_at <= $6 OR k.status IS NULL AND k.lease_until <= $4
   RETURNING resource_id AS "resourceId"`,
)

/** Claims the key for us. Throws IDEMPOTENCY_KEY_IN_USE. */
async function take(ctx: Context, { key, fingerprint, expiredBefore }: Claim): Promise<Lease> {
  const until = new Date(ctx.now.getTime() + LEASE_MS)
  const values = [ctx.business.id, key, fingerprint, ctx.now, until, expiredBefore]
  const row = await ctx.sql.row(claimKey, values)
  if (!row) throw inUse()
  return { key, until, resourceId: row.resourceId }
}

/** The key, as long as the lease is ours. */
const LEASED = 'business_id = $1 AND key = $2 AND status IS NULL AND lease_until = $3'
const leaseValues = (ctx: Context, { key, until }: Lease) => [ctx.business.id, key, until]

const noteResource = statement<never>(
  'idempotency_note_resource',
  `UPDATE idempotency_keys SET resource_id = $4, customer_ids = $5 WHERE ${LEASED}`,
)
const releaseKey = statement<never>('idempotency_release', `DELETE FROM idempotency_keys WHERE ${LEASED}`)
const endLease = statement<never>(
  'idempotency_end_lease',
  `UPDATE idempotency_keys SET lease_until = created_at WHERE ${LEASED}`,
)
const storeLeased = statement<never>(
  'idempotency_store_leased',
  `UPDATE idempotency_keys SET status = $4, body = $5, customer_ids = $6, lease_until = NULL, resource_id = NULL
    WHERE ${LEASED}`,
)

const saveLeased = (ctx: Context, lease: Lease, { status, body }: Answer): Promise<number> =>
  ctx.sql.run(storeLeased, [...leaseValues(ctx, lease), status, ctx.secrets.seal(body), [...ctx.customerIds]])

/**
 * What a request's fingerprint is made of. The keys of all clients of a business share one space, and terminals count
 * their receipts alike: two of them that use one key for equal bodies mean two requests, not one.
 */
export const withDevice = (ctx: Context, request: readonly unknown[]): readonly unknown[] => {
  const deviceId = deviceOf(ctx)
  return deviceId === null ? request : [...request, deviceId]
}

/** Throws INVALID_IDEMPOTENCY_KEY unless the header's value can be a key (spec §8: at most 255 characters). */
export function requireValidKey(key: string): void {
  if (key.length === 0 || key.length > 255) throw new AppError('INVALID_IDEMPOTENCY_KEY')
}

interface Claim {
  key: string
  fingerprint: Buffer
  lock: string
  expiredBefore: Date
}

const claimOf = (ctx: Context, key: string, fingerprint: Buffer): Claim => ({
  key,
  fingerprint,
  // A lock of 64 bits: two keys that share one would at worst answer "in use" to each other for a moment.
  lock: createHash('sha256').update(`${ctx.business.id}:${key}`).digest().readBigInt64BE().toString(),
  expiredBefore: new Date(ctx.now.getTime() - KEY_LIFETIME_MS),
})

const inUse = () => new AppError('IDEMPOTENCY_KEY_IN_USE', undefined, 1)

/** The stored answer; `interrupted` where an operation that calls out was cut off; undefined where there is nothing. */
async function find(ctx: Context, claim: Claim): Promise<Answer | 'interrupted' | undefined> {
  const row = (await ctx.sql.row(lockAndFind, [
    ctx.business.id,
    claim.key,
    claim.lock,
    claim.fingerprint,
    claim.expiredBefore,
  ]))!
  if (row.sameRequest === null) {
    if (!row.locked) throw inUse()
    return undefined
  }
  if (!row.sameRequest) throw new AppError('IDEMPOTENCY_KEY_REUSED')
  if (row.status === null) {
    if (!row.locked || (row.leaseUntil && row.leaseUntil > ctx.now)) throw inUse()
    return 'interrupted'
  }
  if (!row.body) throw new AppError('CUSTOMER_ERASED')
  return { status: row.status, body: ctx.secrets.open(row.body), refused: false, storable: true }
}

const save = async (ctx: Context, claim: Claim, answer: Answer): Promise<boolean> =>
  (await ctx.sql.run(store, [
    ctx.business.id,
    claim.key,
    claim.fingerprint,
    answer.status,
    // Sealed whole: answers hold names, codes and secrets.
    ctx.secrets.seal(answer.body),
    [...ctx.customerIds],
    ctx.now,
    claim.expiredBefore,
  ])) > 0
