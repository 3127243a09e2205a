import * as z from 'zod'
import { int, text } from '../graphql/bounds.js'
import { builder } from '../graphql/builder.js'
import { mutation, query, selection } from '../graphql/fields.js'
import { inputType } from '../graphql/input.js'
import { MAX_BALANCE } from '../ledger/ledger.js'
import { createTier, listTiers } from './tiers.js'

const MAX_RANK = 1_000_000

const TierType = builder.prismaObject('Tier', {
  description: 'A level that customers reach (docs: decisions, tiers).',
  select: { rank: true },
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID' }),
    name: t.exposeString('name'),
    rank: t.exposeInt('rank', { description: 'Unique within the business; a higher rank is a better tier.' }),
    minPoints: t.exposeInt('minPoints', { description: 'What the metric of the tiers must reach.' }),
  }),
})

query('tiers', {
  description: 'The tiers of the business, lowest rank first.',
  type: [TierType],
  args: z.strictObject({}),
  scope: 'tiers:read',
  resolve: (ctx, _args, info) => listTiers(ctx, selection(ctx, info)),
})

const CreateTier = inputType(
  'CreateTierInput',
  z.strictObject({ name: text(1, 200), rank: int(0, MAX_RANK), minPoints: int(0, MAX_BALANCE) }),
)

mutation('createTier', {
  description: 'Adds a tier.',
  type: TierType,
  input: CreateTier,
  scope: 'tiers:write',
  errors: ['TIER_RANK_TAKEN'],
  resolve: (ctx, input, info) => createTier(ctx, input, selection(ctx, info)),
})
