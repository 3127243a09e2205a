import { type Context, type TransactionContext, transaction } from '../context.js'
import { lockAccount } from '../ledger/customer.js'
import { post, settleExpiry } from '../ledger/ledger.js'
import { addressOf } from './address.js'

/**
 * Erases a person (docs: decisions, Customers): who it was goes, the anonymous ledger stays and still adds up. From
 * then on the customer is not found, the identifiers are free again, and a retry of a write whose stored answer
 * spoke of the customer gets CUSTOMER_ERASED. Throws CUSTOMER_NOT_FOUND.
 */
export function eraseCustomer(ctx: Context, { customer }: { customer: string }): Promise<{ id: string }> {
  return transaction(ctx, async (tx) => {
    const { id } = await writeOffBalance(tx, customer)
    const ofCustomer = { businessId: tx.business.id, customerId: id }
    // A redemption of another mode holds points while its value is on the way: whoever secures it settles it.
    await tx.db.redemption.updateMany({
      where: { ...ofCustomer, status: 'pending', deliveryMode: 'in_store' },
      data: { status: 'cancelled' },
    })
    await tx.db.identifier.deleteMany({ where: ofCustomer })
    // Free text may name the person.
    await tx.db.transaction.updateMany({
      where: { ...ofCustomer, description: { not: null } },
      data: { description: null },
    })
    // Whatever changes a customer locks it first, so no answer with the person in it can be stored in between. The
    // answer to this erasure is stored after it and names nobody: a retry gets it again.
    await tx.db.idempotencyKey.updateMany({
      where: { businessId: tx.business.id, customerIds: { has: id } },
      data: { body: null },
    })
    await tx.db.customer.update({
      where: { businessId_id: { businessId: tx.business.id, id } },
      data: { ...NOBODY, erasedAt: tx.now, updatedAt: tx.now },
    })
    return { id }
  })
}

const NOBODY = {
  displayName: null,
  email: null,
  phone: null,
  birthday: null,
  language: null,
  referredBy: null,
}

/** Locks the customer and takes what is free; held points stay until their redemption is settled. */
async function writeOffBalance(tx: TransactionContext, customer: string): Promise<{ id: string }> {
  const account = await lockAccount(tx, addressOf(customer))
  await settleExpiry(tx, account)
  const free = account.balance - account.held
  if (free > 0) await post(tx, account, { type: 'redeem', source: 'erasure', points: free })
  return account
}
