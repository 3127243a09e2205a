import test from 'ava'
import { createTenant, restClient, startApp } from '../helpers/app.js'
import {
  assertAudit,
  createExternalReward,
  customerWith,
  PROVISION_FAILED,
  said,
  startExternal,
} from '../helpers/external.js'
import { createReward, type Resource } from '../helpers/factories.js'

const SECRET = /^whsec_[A-Za-z0-9_-]{43}$/
const rotate = ({ id }: Resource) => `POST /rewards/${id}/webhook/rotate-secret`
const probe = ({ id }: Resource) => `POST /rewards/${id}/webhook/test`

const LOG = `query ($rewardId: UUID!) {
  webhookDeliveries(rewardId: $rewardId) {
    totalCount nodes { id rewardId redemptionId test ok status reason durationMs createdAt }
  }
}`

test('the secret is shown three times in its life: at creation, at the switch to external, at rotation', async (t) => {
  const { tenant, mint, reward: create } = await startExternal(t)
  const { rest, graph } = tenant
  const reward = await create()
  const shown = [reward.digital_webhook_secret as string]
  const patched = async (change: object) => {
    const { body } = await rest(`PATCH /rewards/${reward.id}`, change)
    return body.data.reward.digital_webhook_secret as string | null
  }
  t.is(await patched({ digital_asset_source: 'pool' }), null)
  shown.push((await patched({ digital_asset_source: 'external', digital_webhook_url: mint.url }))!)
  const rotated = await rest(rotate(reward))
  t.is(rotated.status, 200)
  t.deepEqual(Object.keys(rotated.body.data), ['digital_webhook_secret'])
  shown.push(rotated.body.data.digital_webhook_secret)
  t.is(new Set(shown).size, 3)
  for (const secret of shown) t.regex(secret, SECRET)

  const user_id = await customerWith(tenant, 100)
  mint.secrets.push(shown[2]!)
  const texts = [
    (await rest(`GET /rewards/${reward.id}`)).text,
    (await rest('GET /rewards')).text,
    (await rest(`PATCH /rewards/${reward.id}`, { name: 'Other' })).text,
    (await rest(`PATCH /rewards/${reward.id}`, { digital_webhook_url: `${mint.url}/2` })).text,
    (await rest(`PATCH /rewards/${reward.id}`, { digital_asset_source: 'external' })).text,
    (await rest(probe(reward))).text,
    (await rest('POST /redemptions', { reward_id: reward.id, user_id })).text,
    JSON.stringify(await graph(LOG, { rewardId: reward.id })),
    JSON.stringify(await graph('{ rewards { nodes { digitalWebhookSecret digitalWebhookUrl } } }')),
  ]
  for (const text of texts) for (const secret of shown) t.false(text.includes(secret), text)
})

test('a rotated secret signs the very next call, on every instance', async (t) => {
  const { tenant, mint, beside, reward: create } = await startExternal(t)
  const other = await beside()
  const reward = await create()
  const user_id = await customerWith(tenant, 1000)
  const take = async () => said(await other('POST /redemptions', { reward_id: reward.id, user_id }))
  t.is(await take(), '201 ok')
  const { digital_webhook_secret } = (await tenant.rest(rotate(reward))).body.data
  // The receiver knows the old secret only: what is signed with the new one is refused there, and charged to nobody.
  t.is(await take(), PROVISION_FAILED)
  mint.secrets.splice(0, 1, digital_webhook_secret)
  t.is(await take(), '201 ok')
  t.is((await tenant.rest(`GET /customers/${user_id}/balance`)).body.data.balance, 800)
})

test('a new URL keeps the secret and is asked from then on', async (t) => {
  const { tenant, mint, internet, reward: create } = await startExternal(t)
  const reward = await create()
  let asked = 0
  const url = await internet.serve('other.example.com', (request, response) => {
    asked++
    mint.receiver(request, response)
  })
  t.is((await tenant.rest(`PATCH /rewards/${reward.id}`, { digital_webhook_url: url })).status, 200)
  const user_id = await customerWith(tenant, 100)
  t.is(said(await tenant.rest('POST /redemptions', { reward_id: reward.id, user_id })), '201 ok')
  t.deepEqual([asked, mint.keys.length], [1, 0])
})

test('only an external reward has a secret to rotate and a webhook to test', async (t) => {
  const { app, tenant, reward: create } = await startExternal(t)
  const counter = await createReward(tenant)
  for (const request of [rotate(counter), probe(counter)])
    t.is(said(await tenant.rest(request)), '400 REWARD_NOT_EXTERNALLY_SOURCED')
  const reward = await create()
  const stranger = await createTenant(app)
  for (const request of [rotate(reward), probe(reward)])
    t.is(said(await stranger.rest(request)), '404 Reward not found')
  await tenant.rest(`DELETE /rewards/${reward.id}`)
  for (const request of [rotate(reward), probe(reward)])
    t.is(said(await tenant.rest(request)), '404 Reward not found')
  const of = await stranger.graph(LOG, { rewardId: reward.id })
  t.is(of.data.webhookDeliveries.totalCount, 0)
})

test('a test call says what was sent and what came back, and mints nothing', async (t) => {
  const { tenant, mint, reward: create } = await startExternal(t)
  const reward = await create({ digital_asset_type: 'link' })
  const { status, body } = await tenant.rest(probe(reward))
  t.is(status, 200)
  const { request_headers, request_body, duration_ms, ...answer } = body.data
  t.deepEqual(answer, {
    ok: true,
    url: mint.url,
    status: 200,
    value: 'https://shop.example.com/gifts/test',
    expires_at: null,
    reason: null,
  })
  t.true(Number.isInteger(duration_ms) && duration_ms >= 0)
  const sent = JSON.parse(request_body)
  t.regex(sent.idempotency_key, /^test_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  t.deepEqual(sent, {
    event: 'reward.provision',
    test: true,
    idempotency_key: sent.idempotency_key,
    redemption_id: null,
    reward_id: reward.id,
    business_id: tenant.businessId,
    user_id: null,
    asset_type: 'link',
    requested_at: sent.requested_at,
  })
  const headers = Object.fromEntries(
    request_headers.map(({ name, value }: { name: string; value: string }) => [name, value]),
  )
  t.is(headers['Idempotency-Key'], sent.idempotency_key)
  t.is(headers['X-Service-Event'], 'reward.provision')
  t.deepEqual(mint.keys, [sent.idempotency_key])
  t.deepEqual(mint.minted(), {})
})

test('a failed test call says why', async (t) => {
  const { tenant, mint, internet, reward: create } = await startExternal(t)
  const reward = await create()
  const tested = async () => {
    const { ok, status, value, reason } = (await tenant.rest(probe(reward))).body.data
    return [ok, status, value, reason]
  }
  mint.answer = (_request, response) => response.writeHead(403).end('no')
  t.deepEqual(await tested(), [false, 403, null, 'status_not_2xx'])
  mint.answer = (_request, response) => response.end('{"type":"link","value":"https://x.example"}')
  t.deepEqual(await tested(), [false, 200, null, 'type_mismatch'])
  internet.names.set('mint.example.com', ['10.0.0.1'])
  t.deepEqual(await tested(), [false, null, null, 'address_not_public'])
  internet.names.delete('mint.example.com')
  t.deepEqual(await tested(), [false, null, null, 'dns_failed'])
})

test('an Idempotency-Key means nothing to a test call: each is made', async (t) => {
  const { tenant, mint, reward: create } = await startExternal(t)
  const reward = await create()
  const key = { 'Idempotency-Key': 'k' }
  for (const _ of [1, 2]) {
    const { status, headers } = await tenant.rest(probe(reward), undefined, key)
    t.deepEqual([status, headers.get('idempotency-replayed')], [200, null])
  }
  await tenant.graph(
    'mutation ($id: UUID!) { testWebhook(input: { id: $id }) { ok } }',
    { id: reward.id },
    key,
  )
  t.is(new Set(mint.keys).size, 3)
})

test('the breaker neither counts nor stops test calls', async (t) => {
  const { tenant, mint, reward: create } = await startExternal(t)
  const reward = await create()
  const user_id = await customerWith(tenant, 1000)
  const take = async () => said(await tenant.rest('POST /redemptions', { reward_id: reward.id, user_id }))
  mint.answer = (_request, response) => response.writeHead(500).end()
  for (let call = 0; call < 6; call++) await tenant.rest(probe(reward))
  mint.answer = mint.receiver
  t.is(await take(), '201 ok')
  mint.answer = (_request, response) => response.writeHead(500).end()
  for (let call = 0; call < 5; call++) t.is(await take(), PROVISION_FAILED)
  mint.answer = mint.receiver
  // A test call gets through, and its success closes nothing.
  t.true((await tenant.rest(probe(reward))).body.data.ok)
  t.is(await take(), PROVISION_FAILED)
})

test('every call stands in the delivery log of its reward, newest first, without secrets and values', async (t) => {
  const { app, tenant, mint, reward: create } = await startExternal(t)
  const reward = await create()
  const user_id = await customerWith(tenant, 1000)
  const take = () => tenant.rest('POST /redemptions', { reward_id: reward.id, user_id })
  const { asset, details } = (await take()).body.data
  mint.answer = (_request, response) => response.writeHead(500).end('oops')
  for (let call = 0; call < 6; call++) await take()
  await tenant.rest(probe(reward))
  // Another reward's calls are not among them.
  await tenant.rest(probe(await create()))

  const answer = await tenant.graph(LOG, { rewardId: reward.id })
  const { totalCount, nodes } = answer.data.webhookDeliveries
  t.is(totalCount, 8)
  const brief = nodes.map(({ test: ofTest, ok, status, reason }: Resource) => [ofTest, ok, status, reason])
  const failed = [false, false, 500, 'status_not_2xx']
  t.deepEqual(brief, [
    [true, false, 500, 'status_not_2xx'],
    [false, false, null, 'circuit_open'],
    ...[failed, failed, failed, failed, failed],
    [false, true, 200, null],
  ])
  t.like(nodes.at(-1), { rewardId: reward.id, redemptionId: details.id })
  t.is(nodes[0].redemptionId, null)
  t.true(nodes.every(({ durationMs }: Resource) => durationMs >= 0 && durationMs < 60_000))
  const { rows } = await app.database.pool.query(
    'SELECT webhook_deliveries::text AS text FROM webhook_deliveries',
  )
  for (const { text } of rows)
    for (const secret of [reward.digital_webhook_secret, asset.value, 'oops']) t.false(text.includes(secret))
  await assertAudit(app)
})

test('a key without the scope rewards:write neither rotates nor tests', async (t) => {
  const { app, tenant, mint } = await startExternal(t)
  const reward = await createExternalReward(tenant, mint)
  await app.database.db.apiKey.update({ where: { id: tenant.keyId }, data: { scopes: ['rewards:read'] } })
  const fresh = await startApp(t, { beside: app })
  const reader = restClient(fresh.url, tenant.key)
  for (const request of [rotate(reward), probe(reward)])
    t.is(said(await reader(request)), '403 Insufficient scope: rewards:write')
  t.deepEqual(mint.keys, [])
})
