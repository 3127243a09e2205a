import { v7 as uuidv7 } from 'uuid'
import { type Context, type TransactionContext, transaction } from '../context.js'
import type { Customer, Prisma } from '../database/generated/prisma/client.js'
import { AppError, type FieldIssue, InvalidInput } from '../errors.js'
import { type Page, type PageArgs, pageOf, pageRequest, prismaPage } from '../graphql/connection.js'
import { lockAccount } from '../ledger/customer.js'
import { givenFields } from '../patch.js'
import { localDate } from '../time.js'
import { addressOf, type CustomerAddress, requireOneAddress } from './address.js'
import { escapeLike, isAfterToday } from './customers.rules.js'
import { attach, type NewIdentifier } from './identifiers.js'

/** What is known of a person; null = not known. */
export interface Profile {
  displayName?: string | null | undefined
  email?: string | null | undefined
  phone?: string | null | undefined
  /** `YYYY-MM-DD` or `--MM-DD`. */
  birthday?: string | null | undefined
  /** BCP 47. */
  language?: string | null | undefined
  /** The customer who brought this one. */
  referredBy?: string | null | undefined
}

export interface NewCustomer extends Profile {
  joinedAt?: Date | null | undefined
  identifiers?: readonly NewIdentifier[] | null | undefined
}

export interface CustomerChange extends Profile {
  joinedAt?: Date | undefined
}

/** What Prisma must load beside the customer's own columns. */
type Loaded = Pick<Prisma.CustomerDefaultArgs, 'include'>

/** A customer; throws CUSTOMER_ADDRESS or CUSTOMER_NOT_FOUND. */
export async function readCustomer(
  ctx: Context,
  address: CustomerAddress,
  loaded: Loaded,
): Promise<Customer> {
  const one = requireOneAddress(address)
  const businessId = ctx.business.id
  const which =
    'userId' in one ? { id: one.userId } : { identifiers: { some: { businessId, value: one.identifier } } }
  const customer = await ctx.db.customer.findFirst({
    ...loaded,
    where: { businessId, erasedAt: null, ...which },
  })
  if (!customer) throw new AppError('CUSTOMER_NOT_FOUND')
  ctx.customerIds.add(customer.id)
  return customer
}

/** Customers, newest first; `search` finds a part of name, e-mail, phone or identifier in any case. */
export async function listCustomers(
  ctx: Context,
  { search, ...page }: PageArgs & { search?: string | null | undefined },
  loaded: Loaded,
): Promise<Page<Customer>> {
  const businessId = ctx.business.id
  const where: Prisma.CustomerWhereInput = {
    businessId,
    erasedAt: null,
    ...(search == null ? {} : { OR: searchConditions(businessId, search) }),
  }
  const request = pageRequest(page)
  const { where: cursor, ...order } = prismaPage(request)
  const found = await ctx.db.customer.findMany({ ...loaded, ...order, where: { AND: [where, cursor] } })
  for (const { id } of found) ctx.customerIds.add(id)
  return pageOf(request, found, () => ctx.db.customer.count({ where }))
}

function searchConditions(businessId: string, search: string): Prisma.CustomerWhereInput[] {
  const part = { contains: escapeLike(search), mode: 'insensitive' as const }
  return [
    { displayName: part },
    { email: part },
    { phone: part },
    { identifiers: { some: { businessId, value: part } } },
  ]
}

/**
 * Creates a customer with the identifiers given. Throws InvalidInput naming `birthday`, `joinedAt` or
 * `referredBy`, or IDENTIFIER_TAKEN.
 */
export function createCustomer(
  ctx: Context,
  { identifiers, ...profile }: NewCustomer,
  loaded: Loaded,
): Promise<Customer> {
  return transaction(ctx, async (tx) => {
    const id = uuidv7()
    await requirePlausible(tx, id, profile)
    await tx.db.customer.create({
      data: {
        businessId: tx.business.id,
        id,
        displayName: profile.displayName ?? null,
        email: profile.email ?? null,
        phone: profile.phone ?? null,
        birthday: profile.birthday ?? null,
        language: profile.language ?? null,
        referredBy: profile.referredBy ?? null,
        joinedAt: profile.joinedAt ?? tx.now,
        createdAt: tx.now,
        updatedAt: tx.now,
      },
    })
    if (identifiers && identifiers.length > 0) await attach(tx, id, identifiers)
    return readCustomer(tx, { userId: id }, loaded)
  })
}

/**
 * Changes what is known of a customer; what is absent stays. Throws EMPTY_UPDATE, CUSTOMER_NOT_FOUND, or
 * InvalidInput naming `birthday`, `joinedAt` or `referredBy`.
 */
export function updateCustomer(
  ctx: Context,
  { customer, ...change }: CustomerChange & { customer: string },
  loaded: Loaded,
): Promise<Customer> {
  const data = givenFields(change)
  return transaction(ctx, async (tx) => {
    const { id } = await lockAccount(tx, addressOf(customer))
    await requirePlausible(tx, id, data)
    return tx.db.customer.update({
      ...loaded,
      where: { businessId_id: { businessId: tx.business.id, id } },
      data: { ...data, updatedAt: tx.now },
    })
  })
}

const EARLIEST_JOINING = new Date('1900-01-01T00:00:00Z')

/** What only the moment and the business's other customers can tell about the fields of customer `id`. */
async function requirePlausible(
  tx: TransactionContext,
  id: string,
  { birthday, joinedAt, referredBy }: NewCustomer,
): Promise<void> {
  const issues: FieldIssue[] = []
  const refuse = (path: string, message: string) => issues.push({ path, message })
  if (birthday != null && isAfterToday(birthday, localDate(tx.now, tx.business.timezone)))
    refuse('birthday', 'must not be in the future')
  if (joinedAt != null && joinedAt > tx.now) refuse('joinedAt', 'must not be in the future')
  if (joinedAt != null && joinedAt < EARLIEST_JOINING) refuse('joinedAt', 'must not be before 1900')
  if (referredBy === id) refuse('referredBy', 'must be another customer')
  else if (referredBy != null && !(await exists(tx, referredBy)))
    refuse('referredBy', 'must be the user id of a customer')
  if (issues.length > 0) throw new InvalidInput(issues)
}

const exists = async ({ db, business }: Context, id: string): Promise<boolean> =>
  (await db.customer.count({ where: { businessId: business.id, id, erasedAt: null } })) > 0
