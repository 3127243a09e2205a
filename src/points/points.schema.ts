import * as z from 'zod'
import { addressFields, addressOf, customerKey } from '../customers/address.js'
import { instant, uuid } from '../graphql/bounds.js'
import { builder } from '../graphql/builder.js'
import { mutation, query } from '../graphql/fields.js'
import { inputType } from '../graphql/input.js'
import type { CustomerAccount } from '../ledger/customer.js'
import { pointsExpireAt, usableBalance } from '../ledger/expiry.rules.js'
import type { LedgerRow } from '../ledger/ledger.js'
import { TransactionType } from '../transactions/transactions.schema.js'
import { description, points, purchaseAmount } from './bounds.js'
import { issuePoints, readBalance, redeemPoints, reverseTransaction } from './points.js'

export const CustomerBalance = builder.objectRef<CustomerAccount>('CustomerBalance').implement({
  description: 'A balance and when it ends (spec §2, Customer balance).',
  fields: (t) => ({
    userId: t.expose('id', { type: 'UUID' }),
    balance: t.int({ resolve: (account, _args, ctx) => usableBalance(account, account, ctx.now) }),
    pointsExpireAt: t.field({
      type: 'DateTime',
      nullable: true,
      resolve: (account, _args, ctx) => {
        const expireAt = pointsExpireAt(account, account)
        return expireAt !== null && expireAt <= ctx.now ? null : expireAt
      },
    }),
    lastVisitAt: t.expose('lastVisitAt', { type: 'DateTime', nullable: true }),
  }),
})

/** A booking and the balance after it. */
export const PointsResult = builder
  .objectRef<{ transaction: LedgerRow; balance: CustomerAccount }>('PointsResult')
  .implement({
    fields: (t) => ({
      transaction: t.field({ type: TransactionType, resolve: (result) => result.transaction as never }),
      balance: t.field({ type: CustomerBalance, resolve: (result) => result.balance }),
    }),
  })

const IssuePoints = inputType(
  'IssuePointsInput',
  z
    .strictObject({
      ...addressFields,
      points: points().nullish().describe('Exactly so many; or give amount.'),
      amount: purchaseAmount()
        .nullish()
        .describe("Money spent, in the business's currency; earns by its settings."),
      locationId: uuid().nullish(),
      description: description().nullish(),
      occurredAt: instant().nullish().describe('When it happened, if earlier than now.'),
    })
    .refine(({ points, amount }) => (points == null) !== (amount == null), {
      path: ['points'],
      message: 'give exactly one of points and amount',
    }),
)

mutation('issuePoints', {
  description: 'Gives a customer points.',
  type: PointsResult,
  input: IssuePoints,
  scope: 'points:write',
  alsoFor: 'terminals',
  rate: 'points',
  errors: ['CUSTOMER_ADDRESS', 'CUSTOMER_NOT_FOUND', 'BALANCE_LIMIT_REACHED'],
  resolve: issuePoints,
})

const RedeemPoints = inputType(
  'RedeemPointsInput',
  z.strictObject({ ...addressFields, points: points(), description: description().nullish() }),
)

mutation('redeemPoints', {
  description: 'Takes points from a customer.',
  type: PointsResult,
  input: RedeemPoints,
  scope: 'points:write',
  rate: 'points',
  errors: ['CUSTOMER_ADDRESS', 'CUSTOMER_NOT_FOUND', 'INSUFFICIENT_POINTS'],
  resolve: redeemPoints,
})

const ReverseTransaction = inputType('ReverseTransactionInput', z.strictObject({ id: uuid() }))

mutation('reverseTransaction', {
  description: 'Takes back an earning, whole and once (returned goods).',
  type: PointsResult,
  input: ReverseTransaction,
  scope: 'points:write',
  errors: [
    'TRANSACTION_NOT_FOUND',
    'TRANSACTION_NOT_REVERSIBLE',
    'TRANSACTION_ALREADY_REVERSED',
    'INSUFFICIENT_POINTS',
  ],
  resolve: reverseTransaction,
})

query('customerBalance', {
  description: 'The balance of a customer, by user id or attached identifier.',
  type: CustomerBalance,
  args: z.strictObject({ customer: customerKey() }),
  scope: 'customers:read',
  alsoFor: 'terminals',
  errors: ['CUSTOMER_NOT_FOUND'],
  resolve: (ctx, { customer }) => readBalance(ctx, addressOf(customer)),
})
