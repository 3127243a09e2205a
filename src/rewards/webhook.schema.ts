import * as z from 'zod'
import type { WebhookDelivery } from '../database/generated/prisma/client.js'
import { uuid } from '../graphql/bounds.js'
import { builder } from '../graphql/builder.js'
import { connectionType, pageArgs, pageComplexity } from '../graphql/connection.js'
import { mutation, query } from '../graphql/fields.js'
import { inputType } from '../graphql/input.js'
import { listDeliveries } from './deliveries.js'
import { rotateWebhookSecret, testWebhook, type WebhookTest } from './webhook.js'

const RewardWebhook = inputType('RewardWebhookInput', z.strictObject({ id: uuid().describe('The reward.') }))

const RotatedSecret = builder.objectRef<{ secret: string }>('RotatedWebhookSecret').implement({
  fields: (t) => ({
    digitalWebhookSecret: t.exposeString('secret', { description: 'Shown this once; store it now.' }),
  }),
})

mutation('rotateWebhookSecret', {
  description: 'Makes a new signing secret for an external reward; the old one is void at once.',
  type: RotatedSecret,
  input: RewardWebhook,
  scope: 'rewards:write',
  errors: ['REWARD_NOT_FOUND', 'REWARD_NOT_EXTERNALLY_SOURCED'],
  resolve: rotateWebhookSecret,
})

const Header = builder.objectRef<{ name: string; value: string }>('HttpHeader').implement({
  fields: (t) => ({ name: t.exposeString('name'), value: t.exposeString('value') }),
})

const WebhookTestType = builder.objectRef<WebhookTest>('WebhookTest').implement({
  description:
    'A test call to a webhook: what was sent, what came back, how long it took, why it was refused.',
  fields: (t) => ({
    ok: t.boolean({ resolve: ({ failure }) => failure === null }),
    url: t.exposeString('url'),
    requestHeaders: t.field({
      type: [Header],
      resolve: ({ request }) => Object.entries(request.headers).map(([name, value]) => ({ name, value })),
    }),
    requestBody: t.string({ resolve: ({ request }) => request.body }),
    status: t.exposeInt('status', {
      nullable: true,
      description: 'HTTP status of the answer, if there was one.',
    }),
    value: t.string({ nullable: true, resolve: ({ asset }) => asset?.value ?? null }),
    expiresAt: t.field({
      type: 'DateTime',
      nullable: true,
      resolve: ({ asset }) => asset?.expiresAt ?? null,
    }),
    durationMs: t.exposeInt('durationMs'),
    reason: t.string({ nullable: true, resolve: ({ failure }) => failure }),
  }),
})

mutation('testWebhook', {
  description: 'Calls the webhook of an external reward as a redemption would, marked as a test.',
  type: WebhookTestType,
  input: RewardWebhook,
  scope: 'rewards:write',
  errors: ['REWARD_NOT_FOUND', 'REWARD_NOT_EXTERNALLY_SOURCED'],
  storesNothing: true,
  resolve: testWebhook,
})

const ref = builder.objectRef<WebhookDelivery>('WebhookDelivery')
const WebhookDeliveryType = ref.implement({
  description: 'One call to a webhook; no secrets, no values.',
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID' }),
    rewardId: t.expose('rewardId', { type: 'UUID' }),
    redemptionId: t.expose('redemptionId', { type: 'UUID', nullable: true, description: 'Null for a test.' }),
    test: t.exposeBoolean('test'),
    ok: t.exposeBoolean('ok'),
    status: t.exposeInt('status', { nullable: true }),
    reason: t.exposeString('reason', { nullable: true }),
    durationMs: t.exposeInt('durationMs'),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
})

query('webhookDeliveries', {
  description: 'The calls to webhooks, newest first; of one reward or of all.',
  type: connectionType('WebhookDelivery', WebhookDeliveryType),
  args: z.strictObject({ ...pageArgs, rewardId: uuid().nullish() }),
  scope: 'rewards:read',
  complexity: pageComplexity,
  resolve: listDeliveries,
})
