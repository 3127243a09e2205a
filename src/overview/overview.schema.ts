import * as z from 'zod'
import { int } from '../graphql/bounds.js'
import { builder } from '../graphql/builder.js'
import { query } from '../graphql/fields.js'
import { type DayFigures, type Overview, overviewOf, type TierShare, type TopReward } from './overview.js'
import { MAX_OVERVIEW_DAYS, type PointFigures, sumOf } from './overview.rules.js'

const Figures = builder.interfaceRef<PointFigures>('PointFigures').implement({
  description:
    'What happened to points. Earned less redeemed, expired and written off is what the balances changed by.',
  fields: (t) => ({
    pointsEarned: t.expose('pointsEarned', { type: 'SafeInt', description: 'Less what was reversed.' }),
    pointsRedeemed: t.expose('pointsRedeemed', { type: 'SafeInt', description: 'Less what was refunded.' }),
    pointsExpired: t.expose('pointsExpired', { type: 'SafeInt' }),
    pointsWrittenOff: t.expose('pointsWrittenOff', {
      type: 'SafeInt',
      description: 'Of customers who were erased.',
    }),
    redemptions: t.expose('redemptions', { type: 'SafeInt', description: 'Rewards that were redeemed.' }),
    visits: t.expose('visits', { type: 'SafeInt', description: 'Customers who came, once a day.' }),
  }),
})

const Totals = builder.objectRef<PointFigures>('OverviewTotals').implement({ interfaces: [Figures] })

const Day = builder.objectRef<DayFigures>('OverviewDay').implement({
  interfaces: [Figures],
  fields: (t) => ({ date: t.expose('date', { type: 'Date' }) }),
})

const Tier = builder.objectRef<TierShare>('TierShare').implement({
  description: 'How many customers have a tier; all null for those without one.',
  fields: (t) => ({
    tierId: t.expose('tierId', { type: 'UUID', nullable: true }),
    name: t.exposeString('name', { nullable: true }),
    rank: t.exposeInt('rank', { nullable: true }),
    members: t.expose('members', { type: 'SafeInt' }),
    activeMembers: t.expose('activeMembers', { type: 'SafeInt' }),
  }),
})

const Reward = builder.objectRef<TopReward>('TopReward').implement({
  fields: (t) => ({
    rewardId: t.expose('rewardId', { type: 'UUID' }),
    name: t.exposeString('name'),
    redemptions: t.expose('redemptions', { type: 'SafeInt' }),
    points: t.expose('points', { type: 'SafeInt', description: 'That were paid for it.' }),
  }),
})

const count = async (overview: Overview, of: 'members' | 'activeMembers') =>
  (await overview.tiers()).reduce((sum, tier) => sum + tier[of], 0)

const OverviewType = builder.objectRef<Overview>('Overview').implement({
  description: "The last days of a business, in its own time zone; a day is that of the rows' occurredAt.",
  fields: (t) => ({
    from: t.field({ type: 'Date', resolve: ({ days }) => days[0]!.date }),
    to: t.field({ type: 'Date', description: 'Today.', resolve: ({ days }) => days.at(-1)!.date }),
    timezone: t.exposeString('timezone'),
    members: t.field({
      type: 'SafeInt',
      description: 'All customers.',
      resolve: (overview) => count(overview, 'members'),
    }),
    activeMembers: t.field({
      type: 'SafeInt',
      description: 'Those whose last visit was in these days.',
      resolve: (overview) => count(overview, 'activeMembers'),
    }),
    pointsOutstanding: t.field({
      type: 'SafeInt',
      description: 'The sum of all balances, now.',
      resolve: (overview) => overview.outstanding(),
    }),
    totals: t.field({ type: Totals, resolve: async (overview) => sumOf(await overview.byDay()) }),
    byDay: t.field({
      type: [Day],
      description: 'Every day, oldest first.',
      resolve: (overview) => overview.byDay(),
    }),
    tiers: t.field({
      type: [Tier],
      description: 'From the lowest; those without a tier first.',
      resolve: (overview) => overview.tiers(),
    }),
    topRewards: t.field({
      type: [Reward],
      description: 'The most redeemed in these days.',
      resolve: (overview) => overview.topRewards(),
    }),
  }),
})

query('overview', {
  description: 'What a dashboard shows: figures of the last 7, 30 or 90 days and by day, tiers, top rewards.',
  type: OverviewType,
  args: z.strictObject({
    days: int(1, MAX_OVERVIEW_DAYS).default(30).describe('How many, today included.'),
    topRewards: int(1, 50).default(5).describe('How many of them.'),
  }),
  scope: 'transactions:read',
  // Reads the rows of three months at most.
  complexity: () => ({ field: 1_000, multiplier: 1 }),
  resolve: overviewOf,
})
