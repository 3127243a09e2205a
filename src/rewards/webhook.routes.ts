import type { Route } from '../rest/route.js'

export const webhookRoutes: Route[] = [
  {
    method: 'post',
    path: '/rewards/:id/webhook/rotate-secret',
    operation: /* GraphQL */ `mutation ($input: RewardWebhookInput!) {
      rotateWebhookSecret(input: $input) { digital_webhook_secret: digitalWebhookSecret }
    }`,
    params: { id: 'input.id' },
    notFound: 'REWARD_NOT_FOUND',
    data: 'unwrap',
    status: 200,
    message: 'Webhook secret rotated; store it now, it is not shown again',
  },
  {
    method: 'post',
    path: '/rewards/:id/webhook/test',
    operation: /* GraphQL */ `mutation ($input: RewardWebhookInput!) {
      testWebhook(input: $input) {
        ok url request_headers: requestHeaders { name value } request_body: requestBody
        status value expires_at: expiresAt duration_ms: durationMs reason
      }
    }`,
    params: { id: 'input.id' },
    notFound: 'REWARD_NOT_FOUND',
    data: 'unwrap',
    status: 200,
    message: 'Webhook test call made',
    addition: true,
  },
]
