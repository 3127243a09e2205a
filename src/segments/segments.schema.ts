import * as z from 'zod'
import { customerKey } from '../customers/address.js'
import { IdentifierType } from '../customers/identifiers.schema.js'
import { instant } from '../graphql/bounds.js'
import { builder } from '../graphql/builder.js'
import { DEFAULT_PAGE_SIZE } from '../graphql/connection.js'
import { enumOf } from '../graphql/enums.js'
import { query } from '../graphql/fields.js'
import type { Filter, HourRange, Range } from './filter.js'
import { type Preset, PresetId } from './presets.js'
import { SegmentInput } from './segments.input.js'
import {
  type Explained,
  explainSegment,
  listPresets,
  type SegmentCustomer,
  type SegmentPage,
  segmentPage,
} from './segments.js'

/** How many customers a preview shows unless it says. */
const SAMPLE_SIZE = 10

const RangeType = builder.objectRef<Range>('Range').implement({
  fields: (t) => ({
    min: t.exposeInt('min', { nullable: true }),
    max: t.exposeInt('max', { nullable: true }),
  }),
})

const HourRangeType = builder.objectRef<HourRange>('HourRange').implement({
  fields: (t) => ({ from: t.exposeInt('from'), to: t.exposeInt('to') }),
})

const FilterType = builder.objectRef<Filter>('SegmentFilter').implement({
  description: 'What a preset asks for, as SegmentInput takes it; null = nothing.',
  fields: (t) => ({
    pointsBalance: t.expose('pointsBalance', { type: RangeType, nullable: true }),
    spendUsdEstimated: t.expose('spendUsdEstimated', { type: RangeType, nullable: true }),
    visitCount: t.expose('visitCount', { type: RangeType, nullable: true }),
    redemptionCount: t.expose('redemptionCount', { type: RangeType, nullable: true }),
    lastVisitWithinDays: t.exposeInt('lastVisitWithinDays', { nullable: true }),
    lastVisitNotWithinDays: t.exposeInt('lastVisitNotWithinDays', { nullable: true }),
    joinedWithinDays: t.exposeInt('joinedWithinDays', { nullable: true }),
    joinedBeforeDaysAgo: t.exposeInt('joinedBeforeDaysAgo', { nullable: true }),
    hourOfDay: t.expose('hourOfDay', { type: HourRangeType, nullable: true }),
    dayOfWeek: t.expose('dayOfWeek', { type: ['Int'], nullable: true }),
    timezone: t.exposeString('timezone', { nullable: true }),
    hasRedeemed: t.exposeBoolean('hasRedeemed', { nullable: true }),
    promotionInterest: t.exposeBoolean('promotionInterest', { nullable: true }),
    birthdayInMonth: t.exposeInt('birthdayInMonth', { nullable: true }),
  }),
})

const PresetType = builder.objectRef<Preset>('SegmentPreset').implement({
  description: 'A ready-made segment: its id stands for its filter.',
  fields: (t) => ({
    id: t.expose('id', { type: enumOf('SegmentPresetId', PresetId) }),
    name: t.exposeString('name'),
    description: t.exposeString('description'),
    filter: t.expose('filter', { type: FilterType }),
  }),
})

const CustomerType = builder.objectRef<SegmentCustomer>('SegmentCustomer').implement({
  description: 'A customer of a segment, with the values of the moment that it was asked for.',
  fields: (t) => ({
    userId: t.expose('id', { type: 'UUID' }),
    displayName: t.exposeString('displayName', { nullable: true }),
    pointsBalance: t.expose('pointsBalance', { type: 'SafeInt' }),
    visitCount: t.exposeInt('visitCount'),
    redemptionCount: t.exposeInt('redemptionCount'),
    spendUsdEstimated: t.expose('spendUsdEstimated', {
      type: 'SafeInt',
      description: 'Whole US dollars, rounded down.',
    }),
    lastVisitAt: t.expose('lastVisitAt', { type: 'DateTime', nullable: true }),
    joinedAt: t.expose('joinedAt', { type: 'DateTime' }),
    tierId: t.expose('tierId', {
      type: 'UUID',
      nullable: true,
      description: 'The tier of now; null in the past, where it is not known.',
    }),
    identifiers: t.field({ type: [IdentifierType], resolve: ({ identifiers }) => identifiers as never }),
  }),
})

const PaginationType = builder.objectRef<SegmentPage>('SegmentPagination').implement({
  fields: (t) => ({
    limit: t.exposeInt('limit'),
    offset: t.exposeInt('offset'),
    returned: t.int({ resolve: ({ customers }) => customers.length }),
    totalCount: t.expose('totalCount', { type: 'SafeInt' }),
  }),
})

const PageType = builder.objectRef<SegmentPage>('SegmentPage').implement({
  fields: (t) => ({
    customers: t.expose('customers', { type: [CustomerType] }),
    pagination: t.field({ type: PaginationType, resolve: (page) => page }),
  }),
})

const PreviewType = builder.objectRef<SegmentPage>('SegmentPreview').implement({
  fields: (t) => ({
    count: t.expose('totalCount', { type: 'SafeInt', description: 'How many customers there are.' }),
    sample: t.expose('customers', { type: [CustomerType], description: 'Some of them.' }),
  }),
})

const ExplainedType = builder.objectRef<Explained>('SegmentCondition').implement({
  fields: (t) => ({
    field: t.exposeString('field', { description: 'Of SegmentInput.' }),
    asked: t.exposeString('asked', { description: 'The value that was asked for, as JSON.' }),
    holds: t.exposeBoolean('holds'),
    seen: t.exposeString('seen', { nullable: true, description: 'The value that the customer has.' }),
  }),
})

const ExplanationType = builder
  .objectRef<{ userId: string; matches: boolean; conditions: Explained[] }>('SegmentExplanation')
  .implement({
    fields: (t) => ({
      userId: t.expose('userId', { type: 'UUID' }),
      matches: t.exposeBoolean('matches'),
      conditions: t.expose('conditions', { type: [ExplainedType] }),
    }),
  })

const asOf = instant()
  .nullish()
  .describe('A moment in the past: the segment as it was then (docs: decisions, Segments).')

const complexity = (defaultLimit: number) => (args: Record<string, unknown>) => {
  const { pagination } = (args.input ?? {}) as Partial<SegmentInput>
  return { field: 1, multiplier: pagination?.limit ?? defaultLimit }
}

query('segmentPresets', {
  description: 'The ready-made segments.',
  type: [PresetType],
  args: z.strictObject({}),
  scope: 'segments:read',
  resolve: (ctx) => [...listPresets(ctx)],
})

query('segmentCustomers', {
  description: 'The customers of a segment, ordered by id.',
  type: PageType,
  args: z.strictObject({ input: SegmentInput, asOf }),
  scope: 'segments:read',
  complexity: complexity(DEFAULT_PAGE_SIZE),
  resolve: (ctx, args) => segmentPage(ctx, { ...args, defaultLimit: DEFAULT_PAGE_SIZE }),
})

query('segmentPreview', {
  description: 'How many customers a segment has, and some of them.',
  type: PreviewType,
  args: z.strictObject({ input: SegmentInput, asOf }),
  scope: 'segments:read',
  complexity: complexity(SAMPLE_SIZE),
  resolve: (ctx, args) => segmentPage(ctx, { ...args, defaultLimit: SAMPLE_SIZE }),
})

query('segmentExplanation', {
  description: 'Why a customer is in a segment, or is not: each condition with the value seen.',
  type: ExplanationType,
  args: z.strictObject({ input: SegmentInput, customer: customerKey(), asOf }),
  scope: 'segments:read',
  errors: ['CUSTOMER_NOT_FOUND'],
  resolve: (ctx, args) => explainSegment(ctx, args),
})
