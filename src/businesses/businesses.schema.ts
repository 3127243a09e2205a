import Big from 'big.js'
import * as z from 'zod'
import type { Context } from '../context.js'
import { BusinessStatus } from '../database/generated/prisma/client.js'
import { decimal, int } from '../graphql/bounds.js'
import { builder } from '../graphql/builder.js'
import { enumOf } from '../graphql/enums.js'
import { mutation, query } from '../graphql/fields.js'
import { inputType } from '../graphql/input.js'
import { currency, timezone } from './bounds.js'
import { type BusinessRow, type KeyRow, readBusiness, readKey, updateSettings } from './businesses.js'

const BusinessType = builder.objectRef<BusinessRow>('Business').implement({
  description: 'A business and the settings of its program (spec §2; docs: decisions, Settings).',
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID' }),
    name: t.exposeString('name'),
    email: t.exposeString('email'),
    status: t.expose('status', { type: enumOf('BusinessStatus', BusinessStatus) }),
    country: t.exposeString('country', { description: 'ISO 3166-1 alpha-2.' }),
    timezone: t.exposeString('timezone', { description: 'IANA zone in which all rules are judged.' }),
    currency: t.exposeString('currency', { description: 'ISO 4217.' }),
    earnPointsPerUnit: t.field({ type: 'Decimal', resolve: (row) => plain(row.earnPointsPerUnit) }),
    pointSpendValue: t.field({
      type: 'Decimal',
      description: 'Money per point; the inverse of earnPointsPerUnit unless set.',
      resolve: (row) =>
        row.pointSpendValue === null
          ? new Big(1).div(row.earnPointsPerUnit).round(6).toString()
          : plain(row.pointSpendValue),
    }),
    usdRate: t.field({ type: 'Decimal', resolve: (row) => plain(row.usdRate) }),
    redemptionTtlHours: t.exposeInt('redemptionTtlHours'),
    pointsExpireAfterDays: t.exposeInt('pointsExpireAfterDays', { nullable: true }),
  }),
})

const plain = (decimalText: string): string => new Big(decimalText).toString()

const ApiKeyType = builder.objectRef<KeyRow>('ApiKey').implement({
  description: 'An API key, as far as it may be shown (spec §2).',
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID' }),
    name: t.exposeString('name'),
    prefix: t.exposeString('prefix'),
  }),
})

const Viewer = builder.objectRef<{ business: BusinessRow; apiKey: KeyRow }>('Viewer').implement({
  description: 'Who a key belongs to.',
  fields: (t) => ({
    business: t.field({ type: BusinessType, resolve: (viewer) => viewer.business }),
    apiKey: t.field({ type: ApiKeyType, resolve: (viewer) => viewer.apiKey }),
  }),
})

query('viewer', {
  description: 'The business and the API key of this request: a connectivity check.',
  type: Viewer,
  args: z.strictObject({}),
  resolve: (ctx: Context) => readKey(ctx),
})

query('business', {
  description: 'The business of this request with its settings.',
  type: BusinessType,
  args: z.strictObject({}),
  scope: 'settings:read',
  resolve: (ctx: Context) => readBusiness(ctx),
})

const UpdateSettings = inputType(
  'UpdateSettingsInput',
  z.strictObject({
    timezone: timezone().optional(),
    currency: currency().optional(),
    earnPointsPerUnit: decimal(9, 6, { positive: true }).optional(),
    pointSpendValue: decimal(9, 6).nullish().describe('Null = the inverse of earnPointsPerUnit.'),
    usdRate: decimal(9, 6, { positive: true }).optional(),
    redemptionTtlHours: int(1, 8760).optional(),
    pointsExpireAfterDays: int(1, 3650).nullish().describe('Null = points never expire.'),
  }),
)

mutation('updateSettings', {
  description: 'Changes settings of the program; an absent field stays as it is.',
  type: BusinessType,
  input: UpdateSettings,
  scope: 'settings:write',
  errors: ['EMPTY_UPDATE'],
  resolve: updateSettings,
})
