import * as z from 'zod'
import { addressFields } from '../customers/address.js'
import {
  DeliveryMode,
  DigitalAssetType,
  FulfilmentStatus,
  type Redemption,
  RedemptionStatus,
  RewardType,
} from '../database/generated/prisma/client.js'
import { oneOf, text, uuid } from '../graphql/bounds.js'
import { builder } from '../graphql/builder.js'
import { connectionType, nodePaths, pageArgs, pageComplexity } from '../graphql/connection.js'
import { enumOf } from '../graphql/enums.js'
import { mutation, query, selection } from '../graphql/fields.js'
import { inputType } from '../graphql/input.js'
import { usableBalance } from '../ledger/expiry.rules.js'
import type { LedgerRow } from '../ledger/ledger.js'
import { TransactionType } from '../transactions/transactions.schema.js'
import { cancelRedemption, fulfilRedemption } from './fulfilment.js'
import type { Taken } from './immediate.js'
import { findRedemption, listRedemptions } from './redemption-reads.js'
import type { RedemptionRow } from './redemption-row.js'
import { completeRedemption, createRedemption, type Validation, validateRedemption } from './redemptions.js'
import { statusAt } from './redemptions.rules.js'
import { openAddress, ShippingAddressInput, ShippingAddressType } from './shipping-address.js'

// Without a `select` of its own, for the type or for a column: Pothos would load a row again that SQL has read whole.
const RedemptionType = builder.prismaObject('Redemption', {
  description:
    'A reward that a customer takes: a code at the counter, a parcel, or a digital value (spec §2).',
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID' }),
    code: t.exposeString('code', { description: 'What the customer shows.' }),
    status: t.field({
      type: enumOf('RedemptionStatus', RedemptionStatus),
      resolve: (redemption, _args, ctx) => statusAt(redemption, ctx.now),
    }),
    rewardName: t.exposeString('rewardName', { description: 'As it was when the redemption was created.' }),
    pointsCost: t.exposeInt('pointsCost'),
    type: t.expose('type', { type: enumOf('RewardType', RewardType) }),
    cashbackCents: t.expose('cashbackCents', {
      type: 'SafeInt',
      description: "With the customer's tier boost; 0 for other types.",
    }),
    rewardId: t.expose('rewardId', { type: 'UUID' }),
    userId: t.expose('customerId', { type: 'UUID' }),
    deliveryMode: t.expose('deliveryMode', { type: enumOf('DeliveryMode', DeliveryMode) }),
    fulfilmentStatus: t.expose('fulfilmentStatus', {
      type: enumOf('FulfilmentStatus', FulfilmentStatus),
      nullable: true,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', nullable: true }),
    completedAt: t.expose('completedAt', { type: 'DateTime', nullable: true }),
    shippingAddress: t.field({
      type: ShippingAddressType,
      nullable: true,
      resolve: ({ shippingAddress }, _args, ctx) => shippingAddress && openAddress(ctx, shippingAddress),
    }),
    carrier: t.exposeString('carrier', { nullable: true }),
    trackingNumber: t.exposeString('trackingNumber', { nullable: true }),
    shippedAt: t.expose('shippedAt', { type: 'DateTime', nullable: true }),
    deliveredAt: t.expose('deliveredAt', { type: 'DateTime', nullable: true }),
    reward: t.relation('reward'),
    customer: t.relation('customer'),
  }),
})

const CompletionType = builder.objectRef<Taken>('RedemptionCompletion').implement({
  fields: (t) => ({
    redemption: t.field({ type: RedemptionType, resolve: (completion) => completion.redemption as never }),
    transaction: t.field({ type: TransactionType, resolve: (completion) => completion.transaction }),
  }),
})

/** A digital value as it is handed over, in the answer that does so and nowhere else. */
const DigitalAsset = builder
  .objectRef<{ type: DigitalAssetType; value: string; expiresAt: Date | null }>('DigitalAsset')
  .implement({
    fields: (t) => ({
      type: t.expose('type', { type: enumOf('DigitalAssetType', DigitalAssetType) }),
      value: t.exposeString('value'),
      expiresAt: t.expose('expiresAt', { type: 'DateTime', nullable: true }),
    }),
  })

interface Payload {
  redemption: Redemption | RedemptionRow
  transaction: LedgerRow | null
}

const RedemptionPayload = builder.objectRef<Payload>('RedemptionPayload').implement({
  description: 'A redemption and what happened with it.',
  fields: (t) => ({
    redemption: t.field({ type: RedemptionType, resolve: ({ redemption }) => redemption as never }),
    transaction: t.field({
      type: TransactionType,
      nullable: true,
      description: 'The row that took the points or gave them back, where this request did so.',
      resolve: ({ transaction }) => transaction,
    }),
  }),
})

const CreatedRedemption = builder
  .objectRef<Payload & { redemption: RedemptionRow }>('CreatedRedemption')
  .implement({
    description: 'A new redemption; a digital one with its value.',
    fields: (t) => ({
      redemption: t.field({ type: RedemptionType, resolve: ({ redemption }) => redemption as never }),
      transaction: t.field({
        type: TransactionType,
        nullable: true,
        description: 'The row that took the points; null for a code, which takes them when it is completed.',
        resolve: ({ transaction }) => transaction,
      }),
      asset: t.field({
        type: DigitalAsset,
        nullable: true,
        resolve: ({ redemption: { assetType, assetValue, assetExpiresAt } }, _args, ctx) =>
          assetType && assetValue
            ? { type: assetType, value: ctx.secrets.open(assetValue), expiresAt: assetExpiresAt }
            : null,
      }),
    }),
  })

const ValidatedCustomer = builder.objectRef<Validation['account']>('ValidatedCustomer').implement({
  description: 'Whom the person at the counter has before them.',
  fields: (t) => ({
    userId: t.expose('id', { type: 'UUID' }),
    displayName: t.exposeString('displayName', { nullable: true }),
    balance: t.int({ resolve: (account, _args, ctx) => usableBalance(account, account, ctx.now) }),
  }),
})

const ValidationType = builder.objectRef<Validation>('RedemptionValidation').implement({
  fields: (t) => ({
    redemption: t.field({ type: RedemptionType, resolve: (validation) => validation.redemption as never }),
    conditions: t.exposeString('conditions', { nullable: true }),
    customer: t.field({ type: ValidatedCustomer, resolve: (validation) => validation.account }),
  }),
})

/** Refusals of `checkClaim`, shared by creating, validating and completing. */
const claimErrors = [
  'REDEMPTION_COOLDOWN_ACTIVE',
  'REDEMPTION_NOT_ELIGIBLE',
  'REDEMPTION_LIMIT_REACHED',
  'DIGITAL_POOL_EXHAUSTED',
  'INSUFFICIENT_POINTS',
] as const
const codeErrors = ['REDEMPTION_NOT_FOUND', 'REDEMPTION_EXPIRED', 'REDEMPTION_NOT_PENDING'] as const

const byCode = z.strictObject({ code: text(1, 100).describe('Any case; look-alike characters are folded.') })

query('redemption', {
  description: 'A redemption by its code.',
  type: RedemptionPayload,
  args: byCode,
  scope: 'redemptions:read',
  errors: ['REDEMPTION_NOT_FOUND'],
  resolve: async (ctx, { code }, info) => ({
    redemption: await findRedemption(ctx, code, selection(ctx, info, 'Redemption', [['redemption']])),
    transaction: null,
  }),
})

query('redemptions', {
  description: 'Redemptions, newest first.',
  type: connectionType('Redemption', RedemptionType as never),
  args: z.strictObject({
    ...pageArgs,
    status: oneOf('RedemptionStatus', RedemptionStatus).nullish(),
    deliveryMode: oneOf('DeliveryMode', DeliveryMode).nullish(),
    fulfilmentStatus: oneOf('FulfilmentStatus', FulfilmentStatus).nullish(),
    rewardId: uuid().nullish(),
    userId: uuid().nullish(),
  }),
  scope: 'redemptions:read',
  complexity: pageComplexity,
  resolve: (ctx, args, info) => listRedemptions(ctx, args, selection(ctx, info, 'Redemption', nodePaths)),
})

query('validateRedemption', {
  description: 'Everything that completing a code would check, without any effect.',
  type: ValidationType,
  args: byCode,
  scope: 'redemptions:read',
  alsoFor: 'terminals',
  errors: [...codeErrors, 'REDEMPTION_NOT_IN_STORE', ...claimErrors],
  resolve: validateRedemption,
})

const CreateRedemption = inputType(
  'CreateRedemptionInput',
  z.strictObject({ rewardId: uuid(), ...addressFields, shippingAddress: ShippingAddressInput.nullish() }),
)

mutation('createRedemption', {
  description:
    'Redeems a reward for a customer: gives a code to show at the counter, or takes the points and hands the value over.',
  type: CreatedRedemption,
  input: CreateRedemption,
  scope: 'redemptions:write',
  errors: [
    'CUSTOMER_ADDRESS',
    'CUSTOMER_NOT_FOUND',
    'REWARD_NOT_FOUND',
    ...claimErrors,
    'DIGITAL_PROVISION_FAILED',
  ],
  resolve: createRedemption,
})

const RedemptionByCode = inputType('RedemptionByCodeInput', byCode)

mutation('completeRedemption', {
  description: 'Completes a code at the counter: takes the points and counts the redemption.',
  type: CompletionType,
  input: RedemptionByCode,
  scope: 'redemptions:write',
  alsoFor: 'terminals',
  rate: 'points',
  errors: [...codeErrors, 'REDEMPTION_NOT_IN_STORE', ...claimErrors],
  resolve: completeRedemption,
})

mutation('cancelRedemption', {
  description: 'Withdraws a pending code; cancels or takes back a parcel and gives its points back.',
  type: RedemptionPayload,
  input: RedemptionByCode,
  scope: 'redemptions:write',
  errors: [...codeErrors, 'REDEMPTION_NOT_CANCELLABLE'],
  resolve: cancelRedemption,
})

const FulfilRedemption = inputType(
  'FulfilRedemptionInput',
  byCode.extend({
    status: z
      .enum(['shipped', 'delivered'], { error: 'must be one of shipped, delivered' })
      .meta({ graphql: 'FulfilmentStep' }),
    carrier: text(1, 100).nullish(),
    trackingNumber: text(1, 100).nullish(),
  }),
)

mutation('fulfilRedemption', {
  description: 'Says that a parcel was shipped or delivered.',
  type: RedemptionPayload,
  input: FulfilRedemption,
  scope: 'redemptions:write',
  errors: ['REDEMPTION_NOT_FOUND', 'REDEMPTION_NOT_SHIPPING', 'REDEMPTION_NOT_FULFILLABLE'],
  resolve: async (ctx, input) => ({ redemption: await fulfilRedemption(ctx, input), transaction: null }),
})
