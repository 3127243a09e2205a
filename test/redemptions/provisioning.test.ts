import { once } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import test from 'ava'
import Stripe from 'stripe'
import { testClock } from '../helpers/app.js'
import {
  assertAudit,
  customerWith,
  gate,
  PROVISION_FAILED,
  pointsOf,
  said,
  startExternal,
} from '../helpers/external.js'
import { createCustomer, createTier } from '../helpers/factories.js'

/** Guards that were taken out and seen failing stand in brackets at their test. */

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** A business whose server writes down what it is sent, as it came, before it answers. */
async function withRecorder(t: Parameters<typeof startExternal>[0], moment: string) {
  const external = await startExternal(t, { clock: testClock(moment) })
  const calls: {
    method: string
    url: string
    headers: IncomingHttpHeaders
    names: string[]
    body: string
  }[] = []
  external.mint.answer = async (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    await once(request, 'end')
    calls.push({
      method: request.method!,
      url: request.url!,
      headers: request.headers,
      names: request.rawHeaders.filter((_, index) => index % 2 === 0),
      body: Buffer.concat(chunks).toString('utf8'),
    })
    const { asset_type } = JSON.parse(calls.at(-1)!.body)
    const value = asset_type === 'link' ? 'https://shop.example/ä?1' : 'CODE-Ä-1'
    response
      .writeHead(201)
      .end(JSON.stringify({ type: asset_type, value, expires_at: '2030-01-01T00:00:00+02:00' }))
  }
  return { ...external, calls }
}

test('the call is to the letter of the specification: headers, body, signature, ids only', async (t) => {
  const { tenant, reward: create, calls } = await withRecorder(t, '2026-06-01T10:00:00.123Z')
  const reward = await create({ digital_asset_type: 'link' })
  const { user_id } = await createCustomer(tenant, { display_name: 'Ada Quux', email: 'ada@example.com' })
  await tenant.rest('POST /points/issue', { user_id, points: 100 })
  const { status, body } = await tenant.rest('POST /redemptions', { reward_id: reward.id, user_id })
  t.is(status, 201)
  const { id } = body.data.details
  t.is(calls.length, 1)
  const [call] = calls
  t.deepEqual([call!.method, call!.url], ['POST', '/provision'])
  t.deepEqual(JSON.parse(call!.body), {
    event: 'reward.provision',
    test: false,
    idempotency_key: id,
    redemption_id: id,
    reward_id: reward.id,
    business_id: tenant.businessId,
    user_id,
    asset_type: 'link',
    requested_at: '2026-06-01T10:00:00.123Z',
  })
  const seconds = Date.parse('2026-06-01T10:00:00Z') / 1000
  const { 'x-service-signature': signature, ...headers } = call!.headers
  t.deepEqual(headers, {
    host: 'mint.example.com',
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(call!.body)),
    'x-service-event': 'reward.provision',
    'x-service-timestamp': String(seconds),
    'idempotency-key': id,
    'user-agent': 'Service-Webhooks/1.0',
    'accept-encoding': 'identity',
    connection: 'close',
  })
  for (const name of [
    'X-Service-Event',
    'X-Service-Timestamp',
    'X-Service-Signature',
    'Idempotency-Key',
    'User-Agent',
  ])
    t.true(call!.names.includes(name), name)
  t.regex(signature as string, new RegExp(`^t=${seconds},v1=[0-9a-f]{64}$`))

  t.deepEqual(body.data.asset, {
    type: 'link',
    value: 'https://shop.example/ä?1',
    expires_at: '2029-12-31T22:00:00.000Z',
  })
  t.like(body.data.redemption, { status: 'completed', points_cost: 100 })
  t.like(body.data.transaction, { type: 'redeem', points: 100 })
})

test("Stripe's own verifier accepts the signature, and nothing that was changed", async (t) => {
  const now = new Date()
  const { tenant, reward: create, calls } = await withRecorder(t, now.toISOString())
  const reward = await create()
  const user_id = await customerWith(tenant, 100)
  t.is((await tenant.rest('POST /redemptions', { reward_id: reward.id, user_id })).status, 201)
  const { body, headers } = calls[0]!
  const signature = headers['x-service-signature'] as string
  const { webhooks } = new Stripe('sk_test_none')
  const verify = (changed: { body?: string; signature?: string; secret?: string; at?: number } = {}) =>
    webhooks.constructEvent(
      changed.body ?? body,
      changed.signature ?? signature,
      changed.secret ?? reward.digital_webhook_secret,
      300,
      undefined,
      changed.at ?? Math.floor(now.getTime()),
    )
  t.deepEqual(verify() as unknown, JSON.parse(body))
  t.throws(() => verify({ body: body.replace('false', 'true') }))
  t.throws(() => verify({ secret: `${reward.digital_webhook_secret}x` }))
  const [, seconds] = /^t=(\d+)/.exec(signature)!
  t.throws(() => verify({ signature: signature.replace(seconds!, String(Number(seconds) + 1)) }))
  t.throws(() => verify({ at: now.getTime() + 301_000 }))
})

test('points are held while the value is fetched: nobody spends them, and the balance is shown unreduced', async (t) => {
  const { tenant, app, mint, reward: create } = await startExternal(t)
  const reward = await create({ points_cost: 70 })
  const shop = await create({
    points_cost: 31,
    digital_asset_source: 'static',
    digital_asset_value: 'X',
    digital_webhook_url: null,
  })
  const user_id = await customerWith(tenant, 100)
  const held = gate()
  mint.answer = held.before(mint.receiver)
  const first = tenant.rest('POST /redemptions', { reward_id: reward.id, user_id })
  await held.arrived
  t.deepEqual(await pointsOf(tenant, app, user_id), { balance: 100, held: 70 })
  const listed = (await tenant.rest('GET /transactions?status=pending')).body.data
  t.is(listed.pagination.total_count, 1)
  t.like(listed.transactions[0], { type: 'redeem', source: 'reward', points: 70, user_id })
  for (const [request, body] of [
    ['POST /redemptions', { reward_id: reward.id, user_id }],
    ['POST /redemptions', { reward_id: shop.id, user_id }],
    ['POST /points/redeem', { user_id, points: 31 }],
  ] as const)
    t.is(said(await tenant.rest(request, body)), '409 INSUFFICIENT_POINTS:30', request)
  t.is(said(await tenant.rest('POST /points/redeem', { user_id, points: 30 })), '200 ok')
  held.open()
  t.is(said(await first), '201 ok')
  t.deepEqual(await pointsOf(tenant, app, user_id), { balance: 0, held: 0 })
  t.is((await tenant.rest('GET /transactions?status=pending')).body.data.pagination.total_count, 0)
  t.is(mint.keys.length, 1)
  await assertAudit(app)
})

test('a slot of the cap is kept while the value is fetched, and free again when there is none', async (t) => {
  const { tenant, app, mint, reward: create } = await startExternal(t)
  const reward = await create({ points_cost: 1, max_redemptions: 1 })
  const [ada, bob] = [await customerWith(tenant, 10), await customerWith(tenant, 10)]
  const take = (user_id: string) => tenant.rest('POST /redemptions', { reward_id: reward.id, user_id })
  const held = gate()
  mint.answer = held.before((_request, response) => response.writeHead(500).end())
  const first = take(ada)
  await held.arrived
  t.is(said(await take(bob)), '409 REDEMPTION_LIMIT_REACHED:1')
  // The slot is taken, but no redemption is completed: the reward is still on.
  const read = async () => (await tenant.rest(`GET /rewards/${reward.id}`)).body.data.reward
  t.like(await read(), { redemptions_count: 0, active: true, deactivated_by_limit: false })
  const lowered = await tenant.rest(`PATCH /rewards/${reward.id}`, { max_redemptions: null })
  t.is(said(lowered), '200 ok')
  t.is(said(await tenant.rest(`PATCH /rewards/${reward.id}`, { max_redemptions: 1 })), '200 ok')
  held.open()
  t.is(said(await first), PROVISION_FAILED)
  mint.answer = mint.receiver
  t.is(said(await take(bob)), '201 ok')
  t.like(await read(), { redemptions_count: 1, active: false, deactivated_by_limit: true })
  await assertAudit(app)
})

test('a cooldown counts the redemption whose value is on its way: of 30 at once on two instances one is called for', async (t) => {
  const { tenant, app, mint, beside, reward: create } = await startExternal(t)
  const other = await beside()
  const reward = await create({ points_cost: 1, cooldown_mode: 'once' })
  const user_id = await customerWith(tenant, 100)
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, index) =>
      (index % 2 ? other : tenant.rest)('POST /redemptions', { reward_id: reward.id, user_id }),
    ),
  )
  const tally = answers.map(said).sort()
  t.deepEqual(tally, ['201 ok', ...Array.from({ length: 29 }, () => '409 REDEMPTION_COOLDOWN_ACTIVE:0')])
  t.is(mint.keys.length, 1)
  await assertAudit(app)
})

test('a cooldown, a cap, a tier gate and the balance are asked before the business is', async (t) => {
  const { tenant, app, mint, reward: create } = await startExternal(t)
  const gold = await createTier(tenant)
  const user_id = await customerWith(tenant, 100)
  const take = async (overrides: Record<string, unknown>) =>
    said(await tenant.rest('POST /redemptions', { reward_id: (await create(overrides)).id, user_id }))
  t.is(await take({ points_cost: 101 }), '409 INSUFFICIENT_POINTS:100')
  t.is(await take({ tier_gate: { mode: 'minimum', tier_id: gold.id } }), '409 REDEMPTION_NOT_ELIGIBLE:tier')
  t.is(await take({ active: false }), '409 REDEMPTION_NOT_ELIGIBLE:inactive')
  const limited = await create({
    points_cost: 1,
    cooldown_mode: 'limit',
    cooldown_count: 1,
    cooldown_amount: 1,
    cooldown_unit: 'hour',
  })
  const again = () => tenant.rest('POST /redemptions', { reward_id: limited.id, user_id })
  t.is(said(await again()), '201 ok')
  t.regex(said(await again()), /^409 REDEMPTION_COOLDOWN_ACTIVE:3(600|59\d)$/)
  t.is(mint.keys.length, 1)
  await assertAudit(app)
})

test('a redemption that failed gives the cooldown back and leaves a failed row', async (t) => {
  const { tenant, app, mint, reward: create } = await startExternal(t)
  const reward = await create({ points_cost: 1, cooldown_mode: 'once' })
  const user_id = await customerWith(tenant, 10)
  const take = () => tenant.rest('POST /redemptions', { reward_id: reward.id, user_id })
  mint.answer = (_request, response) => response.writeHead(503).end()
  t.is(said(await take()), PROVISION_FAILED)
  mint.answer = mint.receiver
  const taken = await take()
  t.is(said(taken), '201 ok')
  t.not(mint.keys[0], mint.keys[1])
  const rows = (await tenant.rest('GET /transactions?type=redeem')).body.data.transactions
  t.deepEqual(rows.map(({ status }: { status: string }) => status).sort(), ['completed', 'failed'])
  await assertAudit(app)
})

test('what the business sent is in the answer and nowhere else', async (t) => {
  const { tenant, app, mint, reward: create } = await startExternal(t)
  const reward = await create()
  const user_id = await customerWith(tenant, 100)
  const { body } = await tenant.rest('POST /redemptions', { reward_id: reward.id, user_id })
  const { value } = body.data.asset
  t.deepEqual(mint.minted()[body.data.details.id]!.value, value)
  const { code } = body.data.redemption
  for (const request of [
    `GET /redemptions/${code}`,
    'GET /redemptions',
    `GET /rewards/${reward.id}`,
    'GET /transactions',
  ])
    t.false((await tenant.rest(request)).text.includes(value), request)
  const { rows } = await app.database.pool.query('SELECT asset_value FROM redemptions')
  t.false(rows[0].asset_value.includes(value))
  t.regex(body.data.details.id, UUID)
  t.is(said(await tenant.rest(`POST /redemptions/${code}/complete`)), '400 REDEMPTION_NOT_IN_STORE:digital')
  t.is(
    said(await tenant.rest(`POST /redemptions/${code}/cancel`)),
    '409 REDEMPTION_NOT_CANCELLABLE:completed',
  )
})
