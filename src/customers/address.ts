import * as z from 'zod'
import { AppError } from '../errors.js'
import { isUuid, text, uuid } from '../graphql/bounds.js'

/** How a body addresses a customer: by exactly one of the two (spec §7). */
export interface CustomerAddress {
  userId?: string | null | undefined
  identifier?: string | null | undefined
}

/** The two fields, for input types that address a customer. */
export const addressFields = {
  userId: uuid().nullish().describe('The customer; exactly one of userId and identifier.'),
  identifier: text(1, 200).nullish().describe("The customer's id in the business's own systems."),
}

/** Throws CUSTOMER_ADDRESS unless exactly one of user id and identifier is given. */
export function requireOneAddress(address: CustomerAddress): { userId: string } | { identifier: string } {
  const { userId, identifier } = address
  if (userId != null && identifier == null) return { userId }
  if (identifier != null && userId == null) return { identifier }
  throw new AppError('CUSTOMER_ADDRESS')
}

/**
 * What stands for a customer in a path: a user id or an attached identifier. Without bounds: a text that can be
 * neither is a customer that is not there (docs: decisions, HTTP).
 */
export const customerKey = () =>
  z
    .string('must be a string')
    .meta({ graphql: 'String' })
    .describe('A user id or an attached identifier value.')

/** Reads a `customerKey`. Throws CUSTOMER_NOT_FOUND for what no identifier can be, even to the database. */
export function addressOf(key: string): { userId: string } | { identifier: string } {
  if (key.includes('\0')) throw new AppError('CUSTOMER_NOT_FOUND')
  return isUuid(key) ? { userId: key.toLowerCase() } : { identifier: key }
}
