import { type Context, type TransactionContext, transaction } from '../context.js'
import { catalogue } from '../errors.js'
import { lockAccount } from '../ledger/customer.js'
import { settleExpiry, writeOff } from '../ledger/ledger.js'
import { withdrawFromRaffles } from '../raffles/withdrawal.js'
import { addressOf } from './address.js'

/**
 * Erases a person (docs: decisions, Customers): who it was goes, the anonymous ledger stays and still adds up. From
 * then on the customer is not found, the identifiers are free again, and a retry of a write whose stored answer
 * spoke of the customer gets CUSTOMER_ERASED. Throws CUSTOMER_NOT_FOUND.
 */
export function eraseCustomer(ctx: Context, { customer }: { customer: string }): Promise<{ id: string }> {
  return transaction(ctx, async (tx) => {
    const id = await writeOffBalance(tx, customer)
    await cancelCodes(tx, id)
    await removePersonalData(tx, id)
    await blankStoredAnswers(tx, id)
    return { id }
  })
}

/** Locks the customer and takes what is free, refunds of raffles included; held points stay until their redemption is settled. */
async function writeOffBalance(tx: TransactionContext, customer: string): Promise<string> {
  const account = await lockAccount(tx, addressOf(customer))
  await settleExpiry(tx, account)
  await withdrawFromRaffles(tx, account)
  await writeOff(tx, account)
  return account.id
}

/**
 * Only codes for the counter: a digital redemption that is pending holds points, and whoever secures its value cancels
 * it then.
 */
async function cancelCodes({ db, business }: TransactionContext, customerId: string): Promise<void> {
  await db.redemption.updateMany({
    where: { businessId: business.id, customerId, status: 'pending', deliveryMode: 'in_store' },
    data: { status: 'cancelled' },
  })
}

async function removePersonalData({ db, business, now }: TransactionContext, id: string): Promise<void> {
  const ofCustomer = { businessId: business.id, customerId: id }
  await db.identifier.deleteMany({ where: ofCustomer })
  await db.redemption.updateMany({
    where: { ...ofCustomer, deliveryMode: 'shipping' },
    data: { shippingAddress: null, trackingNumber: null },
  })
  await db.mail.deleteMany({ where: { ...ofCustomer, status: 'waiting' } })
  // Free text: a mail server's complaint repeats the address, a description or comment may name the person.
  await db.mail.updateMany({ where: { ...ofCustomer, lastError: { not: null } }, data: { lastError: null } })
  await db.transaction.updateMany({
    where: { ...ofCustomer, description: { not: null } },
    data: { description: null },
  })
  await db.review.updateMany({ where: { ...ofCustomer, comment: { not: null } }, data: { comment: null } })
  await db.importRow.updateMany({ where: ofCustomer, data: { identifier: null, description: null } })
  await db.customer.update({
    where: { businessId_id: { businessId: business.id, id } },
    data: { ...NOBODY, erasedAt: now, updatedAt: now },
  })
}

const NOBODY = {
  displayName: null,
  email: null,
  phone: null,
  birthday: null,
  language: null,
  referredBy: null,
  claimFailures: [],
}

/**
 * Whatever changes a customer locks it first, so no answer with the person in it can be stored in between. The
 * answer to this erasure is stored after it and names nobody: a retry gets it again. What calls out is answered
 * without a lock: its key is settled now, so that its answer is not stored.
 */
async function blankStoredAnswers({ db, business }: TransactionContext, id: string): Promise<void> {
  const aboutCustomer = { businessId: business.id, customerIds: { has: id } }
  await db.idempotencyKey.updateMany({ where: aboutCustomer, data: { body: null } })
  await db.idempotencyKey.updateMany({
    where: { ...aboutCustomer, status: null },
    data: { status: catalogue.CUSTOMER_ERASED.status, leaseUntil: null },
  })
}
