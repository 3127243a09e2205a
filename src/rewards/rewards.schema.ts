import * as z from 'zod'
import {
  BirthdayWindowMode,
  CooldownMode,
  DeliveryMode,
  DigitalAssetSource,
  DigitalAssetType,
  RewardType as RewardTypes,
  TierGateMode,
  TimeUnit,
} from '../database/generated/prisma/client.js'
import { uuid } from '../graphql/bounds.js'
import { builder } from '../graphql/builder.js'
import { connectionType, nodePaths, pageArgs, pageComplexity } from '../graphql/connection.js'
import { enumOf } from '../graphql/enums.js'
import { mutation, query, selection } from '../graphql/fields.js'
import { isActive } from './activity.rules.js'
import { CreateReward, DeleteReward, UpdateReward } from './rewards.input.js'
import {
  createReward,
  deleteReward,
  listRewards,
  readReward,
  type ShownReward,
  updateReward,
} from './rewards.js'
import type { RewardTerms } from './terms.rules.js'

const CooldownModeEnum = enumOf('CooldownMode', CooldownMode)
const TimeUnitEnum = enumOf('TimeUnit', TimeUnit)

const TierGate = builder.objectRef<NonNullable<RewardTerms['tierGate']>>('TierGate').implement({
  description: 'Restricts a reward to a tier: from it upwards by rank (minimum), or to it alone (only).',
  fields: (t) => ({
    mode: t.expose('mode', { type: enumOf('TierGateMode', TierGateMode) }),
    tierId: t.expose('tierId', { type: 'UUID' }),
  }),
})

builder.prismaObject('RewardTierOverride', {
  name: 'TierOverride',
  description: 'What a reward does differently for customers of one tier; null inherits from the reward.',
  select: { position: true },
  fields: (t) => ({
    tierId: t.expose('tierId', { type: 'UUID' }),
    cooldownMode: t.expose('cooldownMode', { type: CooldownModeEnum, nullable: true }),
    cooldownCount: t.exposeInt('cooldownCount', { nullable: true }),
    cooldownAmount: t.exposeInt('cooldownAmount', { nullable: true }),
    cooldownUnit: t.expose('cooldownUnit', { type: TimeUnitEnum, nullable: true }),
    earlyAccessHours: t.exposeInt('earlyAccessHours', { nullable: true }),
  }),
})

/** Spec §2, Reward. Loads the columns that are asked for, and those that order lists. */
export const RewardType = builder.prismaObject('Reward', {
  description: 'Something that customers get for points.',
  select: { id: true, createdAt: true },
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID' }),
    businessId: t.expose('businessId', { type: 'UUID' }),
    name: t.exposeString('name'),
    description: t.exposeString('description', { nullable: true }),
    type: t.expose('type', { type: enumOf('RewardType', RewardTypes) }),
    cashbackCents: t.exposeInt('cashbackCents', { nullable: true }),
    pointsCost: t.exposeInt('pointsCost'),
    active: t.boolean({
      select: { offByHand: true, deactivatedByLimit: true, deactivatedByPool: true },
      resolve: isActive,
    }),
    startDate: t.expose('startDate', { type: 'Date', nullable: true }),
    endDate: t.expose('endDate', { type: 'Date', nullable: true }),
    timeActive: t.expose('timeActive', { type: 'WeekSchedule', nullable: true }),
    conditions: t.exposeString('conditions', { nullable: true }),
    cooldownMode: t.expose('cooldownMode', { type: CooldownModeEnum }),
    cooldownCount: t.exposeInt('cooldownCount', { nullable: true }),
    cooldownAmount: t.exposeInt('cooldownAmount', { nullable: true }),
    cooldownUnit: t.expose('cooldownUnit', { type: TimeUnitEnum, nullable: true }),
    absenceAmount: t.exposeInt('absenceAmount', { nullable: true }),
    absenceUnit: t.expose('absenceUnit', { type: TimeUnitEnum, nullable: true }),
    birthday: t.exposeBoolean('birthday'),
    birthdayWindowMode: t.expose('birthdayWindowMode', {
      type: enumOf('BirthdayWindowMode', BirthdayWindowMode),
      nullable: true,
    }),
    birthdayDaysBefore: t.exposeInt('birthdayDaysBefore', { nullable: true }),
    birthdayDaysAfter: t.exposeInt('birthdayDaysAfter', { nullable: true }),
    tierGate: t.field({
      type: TierGate,
      nullable: true,
      select: { tierGateMode: true, tierGateTierId: true },
      resolve: ({ tierGateMode: mode, tierGateTierId: tierId }) =>
        mode === null || tierId === null ? null : { mode, tierId },
    }),
    tierOverrides: t.relation('tierOverrides', { query: { orderBy: { position: 'asc' } } }),
    maxRedemptions: t.exposeInt('maxRedemptions', { nullable: true }),
    redemptionsCount: t.exposeInt('redemptionsCount', { description: 'Completed redemptions.' }),
    redemptionsRemaining: t.int({
      nullable: true,
      description: 'Null without a cap.',
      select: { maxRedemptions: true, redemptionsCount: true },
      resolve: ({ maxRedemptions, redemptionsCount }) =>
        maxRedemptions === null ? null : maxRedemptions - redemptionsCount,
    }),
    deactivatedByLimit: t.exposeBoolean('deactivatedByLimit'),
    deactivatedByPool: t.exposeBoolean('deactivatedByPool'),
    deliveryMode: t.expose('deliveryMode', { type: enumOf('DeliveryMode', DeliveryMode) }),
    digitalAssetType: t.expose('digitalAssetType', {
      type: enumOf('DigitalAssetType', DigitalAssetType),
      nullable: true,
    }),
    digitalAssetSource: t.expose('digitalAssetSource', {
      type: enumOf('DigitalAssetSource', DigitalAssetSource),
    }),
    digitalAssetValue: t.exposeString('digitalAssetValue', { nullable: true }),
    digitalWebhookUrl: t.exposeString('digitalWebhookUrl', { nullable: true }),
    digitalWebhookSecret: t.string({
      nullable: true,
      description: 'Shown once, in the answer that made it: creating as or switching to external.',
      resolve: (reward: Pick<ShownReward, 'id' | 'revealedSecret'>) => reward.revealedSecret ?? null,
    }),
    digitalEmailDelivery: t.exposeBoolean('digitalEmailDelivery'),
    poolRemaining: t.int({
      nullable: true,
      description: 'Unclaimed values; null without a pool.',
      select: { digitalAssetSource: true, poolAvailable: true },
      resolve: ({ digitalAssetSource, poolAvailable }) =>
        digitalAssetSource === 'pool' ? poolAvailable : null,
    }),
    imageUrl: t.string({
      nullable: true,
      select: { imageKey: true },
      resolve: ({ imageKey }, _args, ctx) => (imageKey === null ? null : ctx.images.urlOf(imageKey)),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
})

query('reward', {
  description: 'A reward.',
  type: RewardType,
  args: z.strictObject({ id: uuid() }),
  scope: 'rewards:read',
  errors: ['REWARD_NOT_FOUND'],
  resolve: (ctx, args, info) => readReward(ctx, args, selection(ctx, info)),
})

query('rewards', {
  description: 'The rewards of the business, newest first.',
  type: connectionType('Reward', RewardType),
  args: z.strictObject(pageArgs),
  scope: 'rewards:read',
  complexity: pageComplexity,
  resolve: (ctx, args, info) => listRewards(ctx, args, selection(ctx, info, 'Reward', nodePaths)),
})

mutation('createReward', {
  description: 'Adds a reward.',
  type: RewardType,
  input: CreateReward,
  scope: 'rewards:write',
  resolve: (ctx, input, info) => createReward(ctx, input, selection(ctx, info)),
})

mutation('updateReward', {
  description: 'Changes a reward; an absent field stays as it is.',
  type: RewardType,
  input: UpdateReward,
  scope: 'rewards:write',
  errors: [
    'EMPTY_UPDATE',
    'REWARD_NOT_FOUND',
    'REWARD_LIMIT_BELOW_CURRENT',
    'REWARD_LIMIT_REACHED',
    'DIGITAL_POOL_EXHAUSTED',
  ],
  resolve: (ctx, input, info) => updateReward(ctx, input, selection(ctx, info)),
})

const DeletedReward = builder.objectRef<{ id: string }>('DeletedReward').implement({
  fields: (t) => ({ id: t.expose('id', { type: 'UUID' }) }),
})

mutation('deleteReward', {
  description: 'Deletes a reward and cancels its pending redemptions; what was redeemed stays.',
  type: DeletedReward,
  input: DeleteReward,
  scope: 'rewards:write',
  errors: ['REWARD_NOT_FOUND'],
  resolve: deleteReward,
})
