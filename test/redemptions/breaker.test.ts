import type { RequestListener } from 'node:http'
import test, { type ExecutionContext } from 'ava'
import { testClock } from '../helpers/app.js'
import {
  assertAudit,
  customerWith,
  gate,
  PROVISION_FAILED,
  pointsOf,
  said,
  startExternal,
  until,
} from '../helpers/external.js'
import type { Resource } from '../helpers/factories.js'

/**
 * Spec §6: a per-reward circuit breaker stops calling for 60 seconds after 5 consecutive failures. [Taken out and seen
 * failing: the breaker itself (the sixth call), its row (the other instance), the moving of the pause by the probe
 * (100 probes), the reset by a success.]
 */

const fails: RequestListener = (_request, response) => response.writeHead(500).end()
const PAUSE_MS = 60_000

async function setUp(t: ExecutionContext) {
  const clock = testClock()
  const external = await startExternal(t, { clock })
  const user_id = await customerWith(external.tenant, 1_000_000)
  const take = async (reward: Resource, rest = external.tenant.rest) =>
    said(await rest('POST /redemptions', { reward_id: reward.id, user_id }))
  return { ...external, clock, user_id, take }
}

test('after five failures in a row the sixth call opens no socket, on any instance', async (t) => {
  const { app, tenant, mint, internet, user_id, beside, take, reward: create } = await setUp(t)
  const other = await beside()
  const reward = await create({ points_cost: 1 })
  const twin = await create({ points_cost: 1 })
  mint.answer = fails
  for (const rest of [tenant.rest, other, tenant.rest, other, tenant.rest])
    t.is(await take(reward, rest), PROVISION_FAILED)
  t.deepEqual([mint.keys.length, internet.dialled.length], [5, 5])
  mint.answer = mint.receiver
  for (const rest of [other, tenant.rest]) t.is(await take(reward, rest), PROVISION_FAILED)
  t.deepEqual([mint.keys.length, internet.dialled.length], [5, 5])
  t.deepEqual(await pointsOf(tenant, app, user_id), { balance: 1_000_000, held: 0 })
  // Of another reward at the same host nothing is known.
  t.is(await take(twin), '201 ok')
  await assertAudit(app)
})

test('four failures and a success: the count begins anew', async (t) => {
  const { mint, take, reward: create } = await setUp(t)
  const reward = await create({ points_cost: 1 })
  for (const _ of [1, 2]) {
    mint.answer = fails
    for (let call = 0; call < 4; call++) t.is(await take(reward), PROVISION_FAILED)
    mint.answer = mint.receiver
    t.is(await take(reward), '201 ok')
  }
  t.is(mint.keys.length, 10)
})

test('an answer that cannot be used is a failure as a refusal is', async (t) => {
  const { mint, internet, take, reward: create } = await setUp(t)
  const reward = await create({ points_cost: 1 })
  mint.answer = (_request, response) => response.end('{"type":"link","value":"https://x.example"}')
  await take(reward)
  mint.answer = (_request, response) => response.end('no JSON')
  await take(reward)
  mint.answer = (request) => request.socket.destroy()
  await take(reward)
  mint.answer = (_request, response) => response.writeHead(302, { location: '/' }).end()
  await take(reward)
  const addresses = internet.names.get('mint.example.com')!
  internet.names.set('mint.example.com', ['10.0.0.1'])
  await take(reward)
  internet.names.set('mint.example.com', addresses)
  mint.answer = mint.receiver
  t.is(await take(reward), PROVISION_FAILED)
  t.is(mint.keys.length, 4)
})

test('after 60 seconds exactly one of 100 waiting on two instances is a probe', async (t) => {
  const { app, tenant, clock, mint, beside, take, reward: create } = await setUp(t)
  const other = await beside()
  const reward = await create({ points_cost: 1 })
  mint.answer = fails
  for (let call = 0; call < 5; call++) await take(reward)
  const opened = clock.now()
  clock.advance(PAUSE_MS - 1)
  t.is(await take(reward), PROVISION_FAILED)
  t.is(mint.keys.length, 5)

  // Failures take their time, and the pause begins when the last of them is over.
  const longest = Math.max(
    ...(await app.database.db.webhookDelivery.findMany()).map(({ durationMs }) => durationMs),
  )
  clock.set(new Date(opened.getTime() + PAUSE_MS + longest))
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, index) => take(reward, index % 2 ? other : tenant.rest)),
  )
  t.deepEqual(answers, Array(100).fill(PROVISION_FAILED))
  t.is(mint.keys.length, 6)
  await assertAudit(app)
})

test('a probe that fails stops the calls for another 60 seconds; one that succeeds lets all through', async (t) => {
  const { clock, mint, take, reward: create } = await setUp(t)
  const reward = await create({ points_cost: 1 })
  mint.answer = fails
  for (let call = 0; call < 5; call++) await take(reward)
  // Well past the pause, however long the calls took.
  clock.advance(2 * PAUSE_MS)
  t.is(await take(reward), PROVISION_FAILED)
  t.is(mint.keys.length, 6)
  mint.answer = mint.receiver
  clock.advance(PAUSE_MS - 1)
  t.is(await take(reward), PROVISION_FAILED)
  t.is(mint.keys.length, 6)
  clock.advance(PAUSE_MS)
  t.is(await take(reward), '201 ok')
  t.is(await take(reward), '201 ok')
})

test('while the probe is on its way all others are refused, and its success lets the next through', async (t) => {
  const { tenant, clock, mint, beside, take, reward: create } = await setUp(t)
  const other = await beside()
  const reward = await create({ points_cost: 1 })
  mint.answer = fails
  for (let call = 0; call < 5; call++) await take(reward)
  clock.advance(2 * PAUSE_MS)
  const probe = gate()
  mint.answer = probe.before(mint.receiver)
  const answers: string[] = []
  const all = Array.from({ length: 15 }, async (_, index) => {
    answers.push(await take(reward, index % 2 ? other : tenant.rest))
  })
  await until('all others have an answer', () => answers.length === 14)
  t.deepEqual(answers, Array(14).fill(PROVISION_FAILED))
  probe.open()
  await Promise.all(all)
  t.is(answers.at(-1), '201 ok')
  t.is(mint.keys.length, 6)
  t.is(await take(reward), '201 ok')
})
