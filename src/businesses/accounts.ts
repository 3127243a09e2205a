import { v7 as uuidv7 } from 'uuid'
import type { Database } from '../database/database.js'
import type { Secrets } from '../secrets.js'
import { generateApiKey } from './api-key.js'

export interface NewBusiness {
  name: string
  email: string
  /** ISO 3166-1 alpha-2. */
  country: string
  timezone?: string
  currency?: string
}

export interface NewKey {
  businessId: string
  name: string
  /** Empty = full access. */
  scopes?: readonly string[]
  expiresAt?: Date | null
}

/** A new tenant; returns its id. */
export async function createBusiness(database: Database, business: NewBusiness, now: Date): Promise<string> {
  const id = uuidv7()
  await database.db.business.create({
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

/** A new API key; `key` is shown this once, the database keeps its digest. */
export async function createApiKey(
  database: Database,
  secrets: Secrets,
  { businessId, name, scopes = [], expiresAt = null }: NewKey,
  now: Date,
): Promise<{ id: string; key: string; prefix: string }> {
  const { key, prefix } = generateApiKey()
  const id = uuidv7()
  await database.db.apiKey.create({
    data: {
      id,
      businessId,
      name,
      prefix,
      digest: new Uint8Array(secrets.keyDigest(key)),
      scopes: [...scopes],
      expiresAt,
      createdAt: now,
    },
  })
  return { id, key, prefix }
}
