import * as z from 'zod'
import { addressFields } from '../customers/address.js'
import {
  DeliveryMode,
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
import { TransactionType } from '../transactions/transactions.schema.js'
import { findRedemption, listRedemptions } from './redemption-reads.js'
import type { RedemptionRow } from './redemption-row.js'
import {
  type Completion,
  cancelRedemption,
  completeRedemption,
  createRedemption,
  type Validation,
  validateRedemption,
} from './redemptions.js'
import { statusAt } from './redemptions.rules.js'

const RedemptionType = builder.prismaObject('Redemption', {
  description:
    'A reward that a customer takes: a code at the counter, a parcel, or a digital value (spec §2).',
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID' }),
    code: t.exposeString('code', { description: 'What the customer shows.' }),
    status: t.field({
      type: enumOf('RedemptionStatus', RedemptionStatus),
      select: { status: true, expiresAt: true },
      resolve: (redemption, _args, ctx) => statusAt(redemption, ctx.now),
    }),
    rewardName: t.exposeString('rewardName', { description: 'As it was when the redemption was created.' }),
    pointsCost: t.exposeInt('pointsCost'),
    type: t.expose('type', { type: enumOf('RewardType', RewardType) }),
    cashbackCents: t.exposeInt('cashbackCents', {
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
    reward: t.relation('reward'),
    customer: t.relation('customer'),
  }),
})

const CompletionType = builder.objectRef<Completion>('RedemptionCompletion').implement({
  fields: (t) => ({
    redemption: t.field({ type: RedemptionType, resolve: (completion) => completion.redemption as never }),
    transaction: t.field({ type: TransactionType, resolve: (completion) => completion.transaction }),
  }),
})

/** One redemption and what goes with it; further members come with the other delivery modes. */
const RedemptionPayload = builder.objectRef<Redemption | RedemptionRow>('RedemptionPayload').implement({
  fields: (t) => ({
    redemption: t.field({ type: RedemptionType, resolve: (redemption) => redemption as never }),
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
  resolve: (ctx, { code }, info) =>
    findRedemption(ctx, code, selection(ctx, info, 'Redemption', [['redemption']])),
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
  errors: [...codeErrors, 'REDEMPTION_NOT_IN_STORE', ...claimErrors],
  resolve: validateRedemption,
})

const CreateRedemption = inputType(
  'CreateRedemptionInput',
  z.strictObject({ rewardId: uuid(), ...addressFields }),
)

mutation('createRedemption', {
  description: 'Gives a customer a code to show at the counter.',
  type: RedemptionPayload,
  input: CreateRedemption,
  scope: 'redemptions:write',
  errors: [
    'CUSTOMER_ADDRESS',
    'CUSTOMER_NOT_FOUND',
    'REWARD_NOT_FOUND',
    'DELIVERY_MODE_UNAVAILABLE',
    ...claimErrors,
  ],
  resolve: createRedemption,
})

const RedemptionByCode = inputType('RedemptionByCodeInput', byCode)

mutation('completeRedemption', {
  description: 'Completes a code at the counter: takes the points and counts the redemption.',
  type: CompletionType,
  input: RedemptionByCode,
  scope: 'redemptions:write',
  rate: 'points',
  errors: [...codeErrors, 'REDEMPTION_NOT_IN_STORE', ...claimErrors],
  resolve: completeRedemption,
})

mutation('cancelRedemption', {
  description: 'Withdraws a pending code.',
  type: RedemptionPayload,
  input: RedemptionByCode,
  scope: 'redemptions:write',
  errors: codeErrors,
  resolve: cancelRedemption,
})
