import { v7 as uuidv7 } from 'uuid'
import * as z from 'zod'
import type { Transaction } from '../database/database.js'
import { invalid } from '../errors.js'
import { uuid } from '../graphql/bounds.js'
import { OperatorError } from '../operator-error.js'
import type { Secrets } from '../secrets.js'
import { generateApiKey } from './api-key.js'
import { country, currency, email, name, scopes, timezone } from './bounds.js'

/**
 * Businesses and their API keys, as the operator of the service manages them (spec §5). Everything here works on
 * the whole database or inside a transaction: both have a `db`.
 */
type Store = Pick<Transaction, 'db'>

export const NewBusiness = z.strictObject({
  name: name(),
  email: email(),
  /** ISO 3166-1 alpha-2. */
  country: country(),
  /** IANA zone; default UTC. */
  timezone: timezone().optional(),
  /** ISO 4217; default USD. */
  currency: currency().optional(),
})
export type NewBusiness = z.output<typeof NewBusiness>

export const NewKey = z.strictObject({
  businessId: uuid(),
  name: name(),
  /** None = full access. */
  scopes: scopes().optional(),
  /** None = good until it is revoked. */
  expiresAt: z.date('must be a date (YYYY-MM-DD) or an ISO 8601 timestamp with a time zone').optional(),
})
export type NewKey = z.output<typeof NewKey>

/** A new tenant; returns its id. */
export async function createBusiness({ db }: Store, business: NewBusiness, now: Date): Promise<string> {
  const id = uuidv7()
  await db.business.create({
    data: {
      id,
      name: business.name,
      email: business.email,
      country: business.country,
      timezone: business.timezone ?? 'UTC',
      currency: business.currency ?? 'USD',
      createdAt: now,
      updatedAt: now,
    },
  })
  return id
}

/**
 * A new API key; `key` is shown this once, the database keeps its digest. Throws InvalidInput naming `expiresAt`
 * where that is not in the future, OperatorError where there is no such business.
 */
export async function createApiKey(
  { db }: Store,
  secrets: Secrets,
  { businessId, name, scopes = [], expiresAt }: NewKey,
  now: Date,
): Promise<{ id: string; key: string; prefix: string }> {
  if (expiresAt && expiresAt <= now) throw invalid('expiresAt', 'must be in the future')
  await requireBusiness({ db }, businessId)
  const { key, prefix } = generateApiKey()
  const id = uuidv7()
  await db.apiKey.create({
    data: {
      id,
      businessId,
      name,
      prefix,
      digest: new Uint8Array(secrets.keyDigest(key)),
      scopes: [...scopes],
      expiresAt: expiresAt ?? null,
      createdAt: now,
    },
  })
  return { id, key, prefix }
}

/** All businesses, oldest first. */
export const listBusinesses = ({ db }: Store) => db.business.findMany({ orderBy: { id: 'asc' } })

/** The keys of a business, oldest first, revoked ones included. Throws OperatorError where there is no such business. */
export async function listApiKeys({ db }: Store, businessId: string) {
  await requireBusiness({ db }, businessId)
  return db.apiKey.findMany({ where: { businessId }, orderBy: { id: 'asc' }, omit: { digest: true } })
}

/**
 * Ends keys for good, within seconds on every instance: the one with this id, or all that have this name. Returns
 * their ids; throws OperatorError where no good key of the business is meant.
 */
export async function revokeApiKeys(
  { db }: Store,
  businessId: string,
  which: { id: string } | { name: string },
  now: Date,
): Promise<string[]> {
  const revoked = await db.apiKey.updateManyAndReturn({
    where: { ...which, businessId, revokedAt: null },
    data: { revokedAt: now },
    select: { id: true },
  })
  if (revoked.length === 0)
    throw new OperatorError(
      `the business ${businessId} has no key ${'id' in which ? which.id : `named ${JSON.stringify(which.name)}`} that is still good`,
    )
  return revoked.map(({ id }) => id)
}

async function requireBusiness({ db }: Store, id: string): Promise<void> {
  if (!(await db.business.findUnique({ where: { id }, select: { id: true } })))
    throw new OperatorError(`there is no business ${id}`)
}
