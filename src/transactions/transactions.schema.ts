import Big from 'big.js'
import * as z from 'zod'
import {
  TransactionSource,
  TransactionStatus,
  TransactionType as TransactionTypes,
} from '../database/generated/prisma/client.js'
import { instant, oneOf, text, uuid } from '../graphql/bounds.js'
import { builder } from '../graphql/builder.js'
import { connectionType, pageArgs, pageComplexity } from '../graphql/connection.js'
import { enumOf } from '../graphql/enums.js'
import { query } from '../graphql/fields.js'
import type { LedgerRow } from '../ledger/ledger.js'
import { majorUnits } from '../points/earning.rules.js'
import { listTransactions } from './transactions.js'

const ref = builder.objectRef<LedgerRow>('Transaction')

/** A row of the ledger (spec §2, transaction; the further fields: docs/decisions.md). */
export const TransactionType = ref.implement({
  description: 'A row of the ledger: points earned or redeemed.',
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID' }),
    type: t.expose('type', { type: enumOf('TransactionType', TransactionTypes) }),
    status: t.expose('status', { type: enumOf('TransactionStatus', TransactionStatus) }),
    points: t.exposeInt('points', { description: 'At least 0; the type says the direction.' }),
    userId: t.expose('customerId', { type: 'UUID' }),
    deviceId: t.expose('deviceId', {
      type: 'UUID',
      nullable: true,
      description: 'The terminal; null for rows of the API.',
    }),
    locationId: t.expose('locationId', { type: 'UUID', nullable: true }),
    source: t.expose('source', { type: enumOf('TransactionSource', TransactionSource) }),
    rewardId: t.expose('rewardId', { type: 'UUID', nullable: true }),
    redemptionId: t.expose('redemptionId', { type: 'UUID', nullable: true }),
    reversesId: t.expose('reversesId', { type: 'UUID', nullable: true }),
    amount: t.field({
      type: 'Decimal',
      nullable: true,
      resolve: ({ amountMinor, currency }) =>
        amountMinor === null || currency === null ? null : majorUnits(amountMinor, currency),
    }),
    multiplier: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Of the points of an amount: that of the tier times that of the promotion.',
      resolve: ({ multiplier }) => (multiplier === null ? null : new Big(multiplier).toFixed()),
    }),
    promotionId: t.expose('promotionId', { type: 'UUID', nullable: true }),
    description: t.exposeString('description', { nullable: true }),
    tierId: t.expose('tierId', {
      type: 'UUID',
      nullable: true,
      description: 'The tier that multiplied the points, or whose bonus this is.',
    }),
    occurredAt: t.expose('occurredAt', { type: 'DateTime' }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
})

const TransactionFilter = z
  .strictObject({
    ...pageArgs,
    type: oneOf('TransactionType', TransactionTypes).nullish(),
    status: oneOf('TransactionStatus', TransactionStatus).nullish(),
    userId: uuid().nullish().describe('Of this customer; not together with identifier.'),
    identifier: text(1, 200).nullish().describe("Of the customer with this id of the business's own."),
    deviceId: uuid().nullish().describe('Of this terminal.'),
    from: instant().nullish().describe('Booked (createdAt) at this moment or later.'),
    to: instant().nullish().describe('Booked before this moment.'),
  })
  .refine(({ from, to }) => !from || !to || from < to, { path: ['to'], message: 'must be later than from' })

query('transactions', {
  description: 'The ledger of the business, newest first.',
  type: connectionType('Transaction', TransactionType),
  args: TransactionFilter,
  scope: 'transactions:read',
  errors: ['CUSTOMER_ADDRESS'],
  complexity: pageComplexity,
  resolve: listTransactions,
})
