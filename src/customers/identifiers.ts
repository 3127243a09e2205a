import { v7 as uuidv7 } from 'uuid'
import { type Context, type TransactionContext, transaction } from '../context.js'
import { type Identifier, Prisma } from '../database/generated/prisma/client.js'
import { AppError } from '../errors.js'
import { lockAccount } from '../ledger/customer.js'
import { givenFields } from '../patch.js'
import { addressOf } from './address.js'

/** A customer's id in the business's own systems, to be attached. */
export interface NewIdentifier {
  value: string
  label?: string | null | undefined
}

/** Whom and which identifier a call is about. */
interface IdentifierAddress {
  /** A user id or an attached identifier value. */
  customer: string
  id: string
}

/** Attaches identifiers to a customer of the running transaction. Throws IDENTIFIER_TAKEN. */
export async function attach(
  tx: TransactionContext,
  customerId: string,
  identifiers: readonly NewIdentifier[],
): Promise<Identifier[]> {
  const rows = identifiers.map(({ value, label = null }) => ({
    businessId: tx.business.id,
    id: uuidv7(),
    customerId,
    value,
    label,
    createdAt: tx.now,
  }))
  await refusingTaken(tx.db.identifier.createMany({ data: rows }))
  return rows
}

/** Attaches an identifier to a customer. Throws CUSTOMER_NOT_FOUND or IDENTIFIER_TAKEN. */
export function addIdentifier(
  ctx: Context,
  { customer, ...identifier }: NewIdentifier & { customer: string },
): Promise<Identifier> {
  return transaction(ctx, async (tx) => {
    const { id } = await lockAccount(tx, addressOf(customer))
    const [attached] = await attach(tx, id, [identifier])
    return attached!
  })
}

/**
 * Changes an identifier; what is absent stays. Throws EMPTY_UPDATE, CUSTOMER_NOT_FOUND, IDENTIFIER_NOT_FOUND or
 * IDENTIFIER_TAKEN.
 */
export function updateIdentifier(
  ctx: Context,
  { customer, id, ...change }: IdentifierAddress & Partial<NewIdentifier>,
): Promise<Identifier> {
  const data = givenFields(change)
  return transaction(ctx, async (tx) => {
    const { id: customerId } = await lockAccount(tx, addressOf(customer))
    const where = { businessId: tx.business.id, id, customerId }
    const [updated] = await refusingTaken(tx.db.identifier.updateManyAndReturn({ where, data }))
    if (!updated) throw new AppError('IDENTIFIER_NOT_FOUND')
    return updated
  })
}

/** Detaches an identifier; its value is free again. Throws CUSTOMER_NOT_FOUND or IDENTIFIER_NOT_FOUND. */
export function deleteIdentifier(ctx: Context, { customer, id }: IdentifierAddress): Promise<{ id: string }> {
  return transaction(ctx, async (tx) => {
    const { id: customerId } = await lockAccount(tx, addressOf(customer))
    const { count } = await tx.db.identifier.deleteMany({
      where: { businessId: tx.business.id, id, customerId },
    })
    if (count === 0) throw new AppError('IDENTIFIER_NOT_FOUND')
    return { id }
  })
}

/** The unique index decides, so that of two at once one is refused; the value is the only thing that can collide. */
async function refusingTaken<T>(write: Promise<T>): Promise<T> {
  try {
    return await write
  } catch (error) {
    if (error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002')
      throw new AppError('IDENTIFIER_TAKEN')
    throw error
  }
}
