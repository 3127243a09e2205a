import * as z from 'zod'
import { DowngradePolicy, type Tier, TierMetric, TierPeriod } from '../database/generated/prisma/client.js'
import { boolean, decimal, int, oneOf, text, uuid } from '../graphql/bounds.js'
import { builder } from '../graphql/builder.js'
import { enumOf } from '../graphql/enums.js'
import { mutation, query, selection } from '../graphql/fields.js'
import { inputType } from '../graphql/input.js'
import { MAX_BALANCE } from '../ledger/ledger.js'
import { readTierSettings, updateTierSettings } from './tier-settings.js'
import { createTier, deleteTier, listTiers, updateTier } from './tiers.js'
import type { TierRules } from './tiers.rules.js'

const MAX_RANK = 1_000_000
const MAX_BONUS_POINTS = 1_000_000
const MAX_BOOST_PERCENT = 1000
const MAX_PERIOD_MONTHS = 120

type Given = Pick<
  Tier,
  'pointsMultiplier' | 'cashbackBoostPercent' | 'referralBonusPoints' | 'tierReachBonusPoints'
>

const TierBenefits = builder.objectRef<Given>('TierBenefits').implement({
  description: 'What a tier gives to the customers in it.',
  fields: (t) => ({
    pointsMultiplier: t.expose('pointsMultiplier', {
      type: 'Decimal',
      description: 'Of the points that amounts earn.',
    }),
    cashbackBoostPercent: t.exposeInt('cashbackBoostPercent', {
      description: 'Added to the cashback of redemptions.',
    }),
    referralBonusPoints: t.exposeInt('referralBonusPoints', {
      description: 'For each customer brought, at their first earning.',
    }),
    tierReachBonusPoints: t.exposeInt('tierReachBonusPoints', {
      description: 'Once, when the tier is reached or passed.',
    }),
  }),
})

const TierType = builder.prismaObject('Tier', {
  description: 'A level that customers reach (docs: decisions, tiers).',
  select: { rank: true },
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID' }),
    name: t.exposeString('name'),
    rank: t.exposeInt('rank', { description: 'Unique within the business; a higher rank is a better tier.' }),
    minPoints: t.exposeInt('minPoints', {
      description: 'What the metric must reach: points, or whole units of the currency.',
    }),
    benefits: t.field({
      type: TierBenefits,
      select: {
        pointsMultiplier: true,
        cashbackBoostPercent: true,
        referralBonusPoints: true,
        tierReachBonusPoints: true,
      },
      resolve: (tier) => tier,
    }),
  }),
})

const TierSettingsType = builder.objectRef<TierRules>('TierSettings').implement({
  description: 'How customers come by their tiers.',
  fields: (t) => ({
    enabled: t.exposeBoolean('enabled', { description: 'While it is off, nobody moves.' }),
    metric: t.expose('metric', { type: enumOf('TierMetric', TierMetric) }),
    period: t.expose('period', { type: enumOf('TierPeriod', TierPeriod) }),
    periodMonths: t.exposeInt('periodMonths', { nullable: true, description: 'Of a rolling period.' }),
    downgradePolicy: t.expose('downgradePolicy', { type: enumOf('DowngradePolicy', DowngradePolicy) }),
  }),
})

query('tiers', {
  description: 'The tiers of the business, lowest rank first.',
  type: [TierType],
  args: z.strictObject({}),
  scope: 'tiers:read',
  resolve: (ctx, _args, info) => listTiers(ctx, selection(ctx, info)),
})

const TierSystemType = builder.objectRef<{ settings: TierRules; tiers: Tier[] }>('TierSystem').implement({
  description: 'The tier system of a business (spec §4, GET /tiers).',
  fields: (t) => ({
    settings: t.field({ type: TierSettingsType, resolve: ({ settings }) => settings }),
    tiers: t.field({ type: [TierType], resolve: ({ tiers }) => tiers }),
  }),
})

query('tierSystem', {
  description: 'The settings of the tier system, and all tiers, lowest rank first.',
  type: TierSystemType,
  args: z.strictObject({}),
  scope: 'tiers:read',
  resolve: async (ctx, _args, info) => ({
    settings: await readTierSettings(ctx),
    tiers: await listTiers(ctx, selection(ctx, info, 'Tier', [['tiers']])),
  }),
})

const bonus = () => int(0, MAX_BONUS_POINTS).default(0)
const isMultiplier = (value: string): boolean => Number(value) >= 1 && Number(value) <= 10

const Benefits = inputType(
  'TierBenefitsInput',
  z.strictObject(
    {
      pointsMultiplier: decimal(2, 2).refine(isMultiplier, 'must be from 1 to 10').default('1'),
      cashbackBoostPercent: int(0, MAX_BOOST_PERCENT).default(0),
      referralBonusPoints: bonus(),
      tierReachBonusPoints: bonus(),
    },
    'must be an object',
  ),
  'Replaced whole: what is left out gives nothing.',
)

const name = text(1, 200)
const rank = int(0, MAX_RANK)
const minPoints = int(0, MAX_BALANCE)

const CreateTier = inputType(
  'CreateTierInput',
  z.strictObject({ name, rank, minPoints, benefits: Benefits.optional() }),
)

mutation('createTier', {
  description: 'Adds a tier; customers who reach it are moved by a job.',
  type: TierType,
  input: CreateTier,
  scope: 'tiers:write',
  errors: ['TIER_LIMIT_REACHED', 'TIER_RANK_TAKEN'],
  resolve: (ctx, input, info) => createTier(ctx, input, selection(ctx, info)),
})

const UpdateTier = inputType(
  'UpdateTierInput',
  z.strictObject({
    id: uuid(),
    name: name.optional(),
    rank: rank.optional(),
    minPoints: minPoints.optional(),
    benefits: Benefits.optional(),
  }),
)

mutation('updateTier', {
  description: 'Changes a tier; customers who reach it now are moved by a job.',
  type: TierType,
  input: UpdateTier,
  scope: 'tiers:write',
  errors: ['EMPTY_UPDATE', 'TIER_NOT_FOUND', 'TIER_RANK_TAKEN'],
  resolve: (ctx, input, info) => updateTier(ctx, input, selection(ctx, info)),
})

const DeletedTier = builder.objectRef<{ id: string }>('DeletedTier').implement({
  fields: (t) => ({ id: t.expose('id', { type: 'UUID' }) }),
})

mutation('deleteTier', {
  description: 'Deletes a tier: its benefits end at once, customers in it are moved by a job.',
  type: DeletedTier,
  input: inputType('DeleteTierInput', z.strictObject({ id: uuid() })),
  scope: 'tiers:write',
  errors: ['TIER_NOT_FOUND', 'TIER_IN_USE'],
  resolve: deleteTier,
})

const UpdateTierSettings = inputType(
  'UpdateTierSettingsInput',
  z.strictObject({
    enabled: boolean().optional(),
    metric: oneOf('TierMetric', TierMetric).optional(),
    period: oneOf('TierPeriod', TierPeriod).optional(),
    periodMonths: int(1, MAX_PERIOD_MONTHS).nullish().describe('Required when period is rolling.'),
    downgradePolicy: oneOf('DowngradePolicy', DowngradePolicy).optional(),
  }),
)

mutation('updateTierSettings', {
  description: 'Changes how customers come by their tiers; they are moved by a job.',
  type: TierSettingsType,
  input: UpdateTierSettings,
  scope: 'tiers:write',
  errors: ['EMPTY_UPDATE'],
  resolve: updateTierSettings,
})
