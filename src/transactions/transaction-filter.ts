import type { Context } from '../context.js'
import { type CustomerAddress, requireOneAddress } from '../customers/address.js'
import { type Statement, statement } from '../database/sql.js'
import type { Cursor, PageRequest } from '../graphql/connection.js'

/** What a list of transactions may be narrowed to; every condition that is given must hold. */
export interface TransactionFilter extends CustomerAddress {
  type?: 'earn' | 'redeem' | null | undefined
  status?: 'pending' | 'completed' | 'failed' | null | undefined
  deviceId?: string | null | undefined
  /** Booked at this moment or later. */
  from?: Date | null | undefined
  /** Booked before this moment. */
  to?: Date | null | undefined
}

/** A filter whose customer is known by id. */
export type Wanted = Omit<TransactionFilter, 'userId' | 'identifier'> & { customerId: string | undefined }

const customerOfIdentifier = statement<{ id: string }>(
  'customer_of_identifier',
  'SELECT customer_id AS id FROM customer_identifiers WHERE business_id = $1 AND value = $2',
)

/**
 * Finds the customer that a filter names; undefined where an identifier is nobody's, who has no transactions. The
 * rows of an erased customer are still found by the user id. Throws CUSTOMER_ADDRESS where both names are given.
 */
export async function resolveFilter(
  ctx: Context,
  { userId, identifier, ...others }: TransactionFilter,
): Promise<Wanted | undefined> {
  if (userId == null && identifier == null) return { ...others, customerId: undefined }
  const address = requireOneAddress({ userId, identifier })
  if ('userId' in address) return { ...others, customerId: address.userId }
  const customer = await ctx.sql.row(customerOfIdentifier, [ctx.business.id, address.identifier])
  return customer && { ...others, customerId: customer.id }
}

/** Type and status as SQL. They stand in the text, not in the values, so that partial indexes can serve them. */
export const kindOf = ({ type, status }: Pick<Wanted, 'type' | 'status'>): string =>
  `${type ? ` AND type = '${type}'` : ''}${status ? ` AND status = '${status}'` : ''}`

/** Whose rows, as SQL over further values. */
export function ownerOf({ customerId, deviceId }: Wanted, values: unknown[]): string {
  const customer = customerId ? ` AND customer_id = $${values.push(customerId)}` : ''
  return customer + (deviceId ? ` AND device_id = $${values.push(deviceId)}` : '')
}

/** Below every id: a moment with it stands before all that was booked at that moment. */
const NO_ID = '00000000-0000-0000-0000-000000000000'

const isNewer = (one: Cursor, other: Cursor): boolean =>
  one.createdAt.getTime() === other.createdAt.getTime() ? one.id > other.id : one.createdAt > other.createdAt

/** The positions that a page lies between, both excluded, as SQL over further values. */
export function boundsOf({ from, to }: Wanted, { after, before }: PageRequest, values: unknown[]): string {
  const at = (moment: Date | null | undefined) => (moment ? [{ createdAt: moment, id: NO_ID }] : [])
  const upper = [...at(to), ...(after ? [after] : [])].reduce<Cursor | undefined>(
    (least, each) => (least && isNewer(each, least) ? least : each),
    undefined,
  )
  const lower = [...at(from), ...(before ? [before] : [])].reduce<Cursor | undefined>(
    (greatest, each) => (greatest && isNewer(greatest, each) ? greatest : each),
    undefined,
  )
  const place = ({ createdAt, id }: Cursor) => `($${values.push(createdAt)}, $${values.push(id)})`
  return (
    (upper ? ` AND (created_at, id) < ${place(upper)}` : '') +
    (lower ? ` AND (created_at, id) > ${place(lower)}` : '')
  )
}

/** Statements that are put together of a few choices each: some hundreds at most, each prepared once. */
const composed = new Map<string, Statement<never>>()
export function compose<Row>(text: string): Statement<Row> {
  let known = composed.get(text)
  if (!known) {
    known = statement(`transactions_${composed.size}`, text)
    composed.set(text, known)
  }
  return known as Statement<Row>
}
