import { v7 as uuidv7 } from 'uuid'
import type { Clock } from './clock.js'
import type { Database, Transaction } from './database/database.js'
import type { PrismaClient } from './database/generated/prisma/client.js'
import type { Sql } from './database/sql.js'
import { AppError } from './errors.js'
import type { ImageStore } from './images/image-store.js'
import type { Network } from './outbound/network.js'
import type { Secrets } from './secrets.js'

/** The business that a request is for; every query is scoped to its id. */
export interface BusinessRef {
  readonly id: string
  /** IANA zone in which its rules are judged (docs: decisions, Settings). */
  readonly timezone: string
}

/**
 * Who acts: the holder of an API key, a paired terminal, somebody who has shown neither (in no business), the operator
 * at the command line, or the service's own jobs.
 */
export type Actor =
  | { readonly kind: 'api_key'; readonly id: string; readonly scopes: readonly string[] }
  | { readonly kind: 'terminal'; readonly id: string }
  | { readonly kind: 'stranger' }
  | { readonly kind: 'operator' }
  | { readonly kind: 'job' }

/** Everything a domain function may use. Made once per request; nothing else reaches the database. */
export interface Context {
  readonly database: Database
  /** Prisma and SQL: of the running transaction where there is one, else outside any. */
  readonly db: PrismaClient
  readonly sql: Sql
  readonly inTransaction: boolean
  readonly secrets: Secrets
  /** The way out, for the guarded HTTPS client. */
  readonly network: Network
  readonly images: ImageStore
  readonly business: BusinessRef
  readonly actor: Actor
  /** The moment of the request: the one clock of all its rules. */
  readonly now: Date
  readonly requestId: string
  /** The REST facade runs its own operations: no limits of the graph apply to them. */
  readonly internal: boolean
  /** Ids of the customers the answer speaks of, so that erasing one can blank what is stored about them. */
  readonly customerIds: Set<string>
  /** Counts one use of a rate scope; the REST facade has counted before it calls. */
  readonly consume: (scope: RateScope) => Promise<void>
  /** Of an operation that calls out under an Idempotency-Key (see `CallsOut`). */
  readonly resumption?: Resumption
  /** What came of the look outside before this transaction was opened (see `LooksOutside`). */
  readonly found?: PromiseSettledResult<unknown>
}

/** Thrown to have something done outside before the transaction that is open now is tried again. */
export class LooksOutside extends Error {
  readonly look: () => Promise<unknown>
  /** Takes back what the look made, where the write that it was made for is not committed. */
  readonly undo: (made: never) => Promise<void>

  constructor(look: () => Promise<unknown>, undo: (made: never) => Promise<void> = async () => {}) {
    super('looks outside')
    this.look = look
    this.undo = undo
  }
}

/**
 * Asks somebody else's server something that a write depends on (a name, a file), before the write's transaction: an
 * open one is given up and begun again with the answer. At most one look for a request.
 */
export async function lookOutside<T>(ctx: Context, look: () => Promise<T>): Promise<T> {
  if (!ctx.inTransaction) return look()
  return foundBefore(ctx, new LooksOutside(look))
}

/** What came of a look before this transaction; without one, gives the transaction up for it. */
function foundBefore<T>({ found }: Context, look: LooksOutside): T {
  if (!found) throw look
  if (found.status === 'rejected') throw found.reason
  return found.value as T
}

/**
 * A write that names something kept outside the database (a file), which is made before the write's transaction as
 * `lookOutside` does, and undone where the write is refused. After any other failure it stays: the commit may have
 * reached the database all the same.
 */
export async function writeAfter<Made, T>(
  ctx: Context,
  { make, undo }: { make: () => Promise<Made>; undo: (made: Made) => Promise<void> },
  write: (tx: TransactionContext, made: Made) => Promise<T>,
): Promise<T> {
  if (ctx.inTransaction)
    return write(ctx as TransactionContext, foundBefore<Made>(ctx, new LooksOutside(make, undo)))
  const made = await make()
  try {
    return await transaction(ctx, (tx) => write(tx, made))
  } catch (error) {
    if (error instanceof AppError) await undo(made)
    throw error
  }
}

/** What connects a request that may be cut off with the retry that goes on in its place. */
export interface Resumption {
  /** What an earlier try of this request has made. */
  readonly resourceId: string | null
  /** Notes what this try makes, in the transaction that makes it. */
  note(tx: TransactionContext, resourceId: string): Promise<void>
}

/**
 * Thrown by a domain function that has to call somebody else's server, when it finds itself in a transaction: none is
 * open during such a call. Whoever opened it rolls back and runs the operation outside (see idempotency.ts).
 */
export class CallsOut extends Error {}

/**
 * Thrown by an operation that calls out where another instance is at work on what this request has made: that one
 * settles it, and a retry gets the answer (see idempotency.ts).
 */
export class InOtherHands extends Error {}

/** Spec §8: points writes and code batches have limits of their own. */
export type RateScope = 'default' | 'points' | 'batches'

/** A context whose `db` and `sql` are inside a transaction: what locking and balance-changing helpers ask for. */
export interface TransactionContext extends Context {
  readonly inTransaction: true
  /** Has `action` done once the transaction is committed, and not if it is rolled back. It must not throw. */
  readonly afterCommit: Transaction['afterCommit']
}

/**
 * Runs `work` in the request's transaction: the one that is open already (the facade opens it where an
 * Idempotency-Key must be stored with the effect), or a new one that ends with `work`.
 */
export function transaction<T>(ctx: Context, work: (ctx: TransactionContext) => Promise<T>): Promise<T> {
  if (ctx.inTransaction) return work(ctx as TransactionContext)
  return ctx.database.transaction((open) => work(enter(ctx, open)))
}

/** The request's context with `db` and `sql` of an open transaction; `db` stays lazy. */
export function enter(ctx: Context, open: Transaction): TransactionContext {
  const inside = Object.create(ctx, {
    sql: { value: open.sql },
    db: { get: () => open.db },
    inTransaction: { value: true },
    afterCommit: { value: open.afterCommit },
  })
  return inside as TransactionContext
}

/** What the process has one of, for every request. */
export interface Services {
  readonly database: Database
  readonly secrets: Secrets
  readonly clock: Clock
  readonly network: Network
  readonly images: ImageStore
}

/** A fresh context, outside any transaction. */
export const createContext = (
  { database, secrets, network, images }: Services,
  request: Pick<Context, 'business' | 'actor' | 'now' | 'requestId' | 'internal' | 'consume'>,
): Context => ({
  database,
  db: database.db,
  sql: database.sql,
  inTransaction: false,
  secrets,
  network,
  images,
  customerIds: new Set(),
  ...request,
})

/** A context for work that no request asked for: the service's own jobs, the operator at the command line. */
export const unattendedContext = (services: Services, business: BusinessRef, actor: Actor): Context =>
  createContext(services, {
    business,
    actor,
    now: services.clock.now(),
    requestId: uuidv7(),
    internal: true,
    consume: async () => {},
  })

/** What an API key may do: `<resource>:read` or `<resource>:write` (docs: decisions, Keys). */
export type Scope = `${Resource}:${'read' | 'write'}`

export const resources = [
  'rewards',
  'redemptions',
  'customers',
  'points',
  'transactions',
  'code_batches',
  'raffles',
  'promotions',
  'segments',
  'tiers',
  'reviews',
  'devices',
  'settings',
] as const
export type Resource = (typeof resources)[number]

/** Whom an operation is for. */
export interface Access {
  /** The scope that an API key needs; undefined = any valid key. */
  scope?: Scope | undefined
  /** Who else may use it; nobody unless it is said. */
  alsoFor?: 'terminals' | 'strangers' | undefined
}

/**
 * Refuses an actor for whom an operation is not; an API key without scopes has full access. Throws INSUFFICIENT_SCOPE,
 * or INVALID_API_KEY for a stranger.
 */
export function requireAccess({ actor }: Context, { scope, alsoFor }: Access): void {
  if (actor.kind === 'api_key') {
    if (scope && actor.scopes.length > 0 && !actor.scopes.includes(scope))
      throw new AppError('INSUFFICIENT_SCOPE', scope)
  } else if (actor.kind === 'terminal') {
    if (alsoFor !== 'terminals') throw new AppError('INSUFFICIENT_SCOPE', scope ?? 'api_key')
  } else if (actor.kind === 'stranger' && alsoFor !== 'strangers') throw new AppError('INVALID_API_KEY')
}

/** The terminal that acts, as rows say it; null for anybody else. */
export const deviceOf = ({ actor }: Pick<Context, 'actor'>): string | null =>
  actor.kind === 'terminal' ? actor.id : null
