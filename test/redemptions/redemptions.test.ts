import test from 'ava'
import { createTenant, startApp, type Tenant, testClock } from '../helpers/app.js'
import { createCustomer, createReward, createTier, type Resource } from '../helpers/factories.js'

// A Monday at noon in Berlin.
const MONDAY = '2026-06-01T10:00:00Z'

async function setUp(t: Parameters<typeof startApp>[0], start = MONDAY) {
  const clock = testClock(start)
  const app = await startApp(t, { clock })
  const tenant = await createTenant(app, { timezone: 'Europe/Berlin' })
  return { app, clock, tenant }
}

/** A customer with points and a code for a reward. */
async function customerWithCode(
  tenant: Tenant,
  reward: Resource,
  { points = 1000, ...customer }: Record<string, unknown> & { points?: number } = {},
) {
  const { user_id } = await createCustomer(tenant, customer)
  if (points > 0) await tenant.rest('POST /points/issue', { user_id, points })
  const { body } = await tenant.rest('POST /redemptions', { reward_id: reward.id, user_id })
  return { userId: user_id as string, code: body.data?.redemption.code as string, body }
}

const message = async (tenant: Tenant, request: string, body?: unknown) => {
  const answer = await tenant.rest(request, body)
  return `${answer.status} ${answer.body.success ? 'ok' : answer.body.error.message}`
}

test('a redemption is created with its name, cost, type and cashback fixed and no points taken', async (t) => {
  const { tenant } = await setUp(t)
  const reward = await createReward(tenant, {
    name: 'Gutschein ☕',
    points_cost: 300,
    type: 'cashback',
    cashback_cents: 250,
  })
  const { user_id } = await createCustomer(tenant)
  await tenant.rest('POST /points/issue', { user_id, points: 500 })
  const created = await tenant.rest('POST /redemptions', { reward_id: reward.id, user_id })
  t.is(created.status, 201)
  const { redemption, details } = created.body.data
  t.deepEqual(redemption, {
    code: redemption.code,
    status: 'pending',
    reward_name: 'Gutschein ☕',
    points_cost: 300,
    type: 'cashback',
    cashback_cents: 250,
  })
  t.regex(redemption.code, /^[0-9A-HJKMNP-TV-Z]{8}$/)
  t.deepEqual(details, {
    id: details.id,
    reward_id: reward.id,
    user_id,
    delivery_mode: 'in_store',
    fulfilment_status: null,
    shipping_address: null,
    created_at: '2026-06-01T10:00:00.000Z',
    expires_at: '2026-06-02T10:00:00.000Z',
    completed_at: null,
  })
  await tenant.rest(`PATCH /rewards/${reward.id}`, { name: 'Renamed', points_cost: 400, cashback_cents: 1 })
  const completed = await tenant.rest(`POST /redemptions/${redemption.code}/complete`)
  t.is(completed.status, 200)
  t.deepEqual(completed.body.data.redemption, { ...redemption, status: 'completed' })
  const { transaction } = completed.body.data
  t.deepEqual(transaction, {
    id: transaction.id,
    type: 'redeem',
    points: 300,
    created_at: '2026-06-01T10:00:00.000Z',
  })
  t.is((await tenant.rest(`GET /customers/${user_id}/balance`)).body.data.balance, 200)
  t.is((await tenant.rest(`GET /rewards/${reward.id}`)).body.data.reward.redemptions_count, 1)
  const read = await tenant.rest(`GET /redemptions/${redemption.code}`)
  t.is(read.body.data.redemption.status, 'completed')
  t.is(read.body.data.details.completed_at, '2026-06-01T10:00:00.000Z')
})

test('a code is read in any case and with look-alikes folded', async (t) => {
  const { app, tenant } = await setUp(t)
  const reward = await createReward(tenant)
  const { userId } = await customerWithCode(tenant, reward)
  await app.database.db.redemption.updateMany({
    where: { customerId: userId },
    data: { code: '0O1ABCDE'.replace('O', '0') },
  })
  t.is(await message(tenant, 'POST /redemptions/oOlabcde/validate'), '200 ok')
  t.is(await message(tenant, 'POST /redemptions/O0IABCDE/complete'), '200 ok')
  t.is(await message(tenant, 'POST /redemptions/UUUUUUUU/complete'), '404 Redemption not found')
})

test('a completed, cancelled or expired code is refused by its status', async (t) => {
  const { clock, tenant } = await setUp(t)
  const reward = await createReward(tenant, { points_cost: 1 })
  const first = await customerWithCode(tenant, reward)
  t.is(await message(tenant, `POST /redemptions/${first.code}/complete`), '200 ok')
  t.is(
    await message(tenant, `POST /redemptions/${first.code}/complete`),
    '409 REDEMPTION_NOT_PENDING:completed',
  )
  const second = await customerWithCode(tenant, reward)
  t.is(await message(tenant, `POST /redemptions/${second.code}/cancel`), '200 ok')
  t.is(
    await message(tenant, `POST /redemptions/${second.code}/complete`),
    '409 REDEMPTION_NOT_PENDING:cancelled',
  )
  t.is(
    await message(tenant, `POST /redemptions/${second.code}/cancel`),
    '409 REDEMPTION_NOT_PENDING:cancelled',
  )
  const third = await customerWithCode(tenant, reward)
  clock.advance(24 * 3_600_000 - 1)
  t.is(await message(tenant, `POST /redemptions/${third.code}/validate`), '200 ok')
  clock.advance(1)
  t.is(await message(tenant, `POST /redemptions/${third.code}/complete`), '409 REDEMPTION_EXPIRED')
  t.is((await tenant.rest(`GET /redemptions/${third.code}`)).body.data.redemption.status, 'expired')
  const expired = await tenant.rest('GET /redemptions?status=expired')
  t.deepEqual(
    expired.body.data.redemptions.map((row: { code: string }) => row.code),
    [third.code],
  )
  t.is((await tenant.rest('GET /redemptions?status=pending')).body.data.pagination.total_count, 0)
})

test('completing checks cooldown, eligibility, cap and balance in this order', async (t) => {
  const { app, tenant } = await setUp(t)
  const reward = await createReward(tenant, { points_cost: 100, cooldown_mode: 'once', max_redemptions: 10 })
  const { userId, code } = await customerWithCode(tenant, reward, { points: 150 })
  const again = (await tenant.rest('POST /redemptions', { reward_id: reward.id, user_id: userId })).body.data
    .redemption
  const complete = () => message(tenant, `POST /redemptions/${again.code}/complete`)
  await tenant.rest(`POST /redemptions/${code}/complete`)
  await tenant.rest(`PATCH /rewards/${reward.id}`, { max_redemptions: 1 })
  await tenant.rest(`PATCH /rewards/${reward.id}`, { active: false })
  t.is(await complete(), '409 REDEMPTION_COOLDOWN_ACTIVE:0')
  await tenant.rest(`PATCH /rewards/${reward.id}`, { cooldown_mode: 'none' })
  t.is(await complete(), '409 REDEMPTION_NOT_ELIGIBLE:inactive')
  await app.database.db.reward.updateMany({
    where: { businessId: tenant.businessId, id: reward.id },
    data: { offByHand: false, deactivatedByLimit: true },
  })
  t.is(await complete(), '409 REDEMPTION_LIMIT_REACHED:1')
  await tenant.rest(`PATCH /rewards/${reward.id}`, { max_redemptions: null })
  t.is(await complete(), '409 INSUFFICIENT_POINTS:50')
  await tenant.rest('POST /points/issue', { user_id: userId, points: 50 })
  t.is(await complete(), '200 ok')
})

test('a cooldown of two a day frees a place when the earlier completion is a day old', async (t) => {
  const { clock, tenant } = await setUp(t)
  const reward = await createReward(tenant, {
    points_cost: 1,
    cooldown_mode: 'limit',
    cooldown_count: 2,
    cooldown_amount: 1,
    cooldown_unit: 'day',
  })
  const { user_id } = await createCustomer(tenant)
  await tenant.rest('POST /points/issue', { user_id, points: 100 })
  const redeem = async () => {
    const { body } = await tenant.rest('POST /redemptions', { reward_id: reward.id, user_id })
    return body.success
      ? message(tenant, `POST /redemptions/${body.data.redemption.code}/complete`)
      : body.error.message
  }
  t.is(await redeem(), '200 ok')
  clock.advance(3_600_000)
  t.is(await redeem(), '200 ok')
  t.is(await redeem(), `REDEMPTION_COOLDOWN_ACTIVE:${23 * 3600}`)
  clock.advance(23 * 3_600_000 - 1500)
  t.is(await redeem(), 'REDEMPTION_COOLDOWN_ACTIVE:2')
  clock.advance(1500)
  t.is(await redeem(), '200 ok')
})

test('a visit after the code was created does not undo the absence that earned it', async (t) => {
  const { clock, tenant } = await setUp(t)
  const reward = await createReward(tenant, { points_cost: 1, absence_amount: 30, absence_unit: 'day' })
  const { user_id } = await createCustomer(tenant)
  await tenant.rest('POST /points/issue', { user_id, points: 100 })
  const create = { reward_id: reward.id, user_id }
  clock.advance(29 * 86_400_000)
  t.is(await message(tenant, 'POST /redemptions', create), '409 REDEMPTION_NOT_ELIGIBLE:absence')
  clock.advance(86_400_000)
  const { body } = await tenant.rest('POST /redemptions', create)
  clock.advance(60_000)
  await tenant.rest('POST /points/issue', { user_id, points: 5 })
  clock.advance(60_000)
  t.is(await message(tenant, 'POST /redemptions', create), '409 REDEMPTION_NOT_ELIGIBLE:absence')
  t.is(await message(tenant, `POST /redemptions/${body.data.redemption.code}/complete`), '200 ok')
})

test('schedule, birthday and tier gate are judged in the zone of the business at completion', async (t) => {
  const { clock, tenant } = await setUp(t)
  const gold = await createTier(tenant, { name: 'Gold', rank: 2 })
  const scheduled = await createReward(tenant, {
    points_cost: 1,
    time_active: { monday: { active: true, start: '09:00', end: '13:00' } },
  })
  const early = await customerWithCode(tenant, scheduled)
  clock.set('2026-06-01T10:59:59Z')
  t.is(await message(tenant, `POST /redemptions/${early.code}/validate`), '200 ok')
  clock.set('2026-06-01T11:00:00Z')
  t.is(
    await message(tenant, `POST /redemptions/${early.code}/complete`),
    '409 REDEMPTION_NOT_ELIGIBLE:schedule',
  )

  const birthday = await createReward(tenant, { points_cost: 1, birthday: true })
  const born = await customerWithCode(tenant, birthday, { birthday: '--06-01' })
  t.is(await message(tenant, `POST /redemptions/${born.code}/validate`), '200 ok')
  clock.set('2026-06-01T22:00:00Z')
  t.is(
    await message(tenant, `POST /redemptions/${born.code}/complete`),
    '409 REDEMPTION_NOT_ELIGIBLE:birthday',
  )

  const gated = await createReward(tenant, {
    points_cost: 1,
    tier_gate: { mode: 'minimum', tier_id: gold.id },
  })
  const plain = await customerWithCode(tenant, gated)
  t.is(plain.body.error.message, 'REDEMPTION_NOT_ELIGIBLE:tier')
})

test('the redemption that reaches the cap switches the reward off, and raising the cap switches it on', async (t) => {
  const { tenant } = await setUp(t)
  const reward = await createReward(tenant, { points_cost: 0, max_redemptions: 1 })
  const first = await customerWithCode(tenant, reward)
  const second = await customerWithCode(tenant, reward)
  t.is(await message(tenant, `POST /redemptions/${first.code}/complete`), '200 ok')
  const off = (await tenant.rest(`GET /rewards/${reward.id}`)).body.data.reward
  t.like(off, { active: false, deactivated_by_limit: true, redemptions_count: 1, redemptions_remaining: 0 })
  t.is(await message(tenant, `POST /redemptions/${second.code}/complete`), '409 REDEMPTION_LIMIT_REACHED:1')
  await tenant.rest(`PATCH /rewards/${reward.id}`, { max_redemptions: 2 })
  const on = (await tenant.rest(`GET /rewards/${reward.id}`)).body.data.reward
  t.like(on, { active: true, deactivated_by_limit: false, redemptions_remaining: 1 })
  t.is(await message(tenant, `POST /redemptions/${second.code}/complete`), '200 ok')
})

test('validating shows the conditions and the customer and changes nothing', async (t) => {
  const { tenant } = await setUp(t)
  const reward = await createReward(tenant, { points_cost: 10, conditions: 'One per table' })
  const { code, userId } = await customerWithCode(tenant, reward, { display_name: 'Zoë', points: 40 })
  const validated = await tenant.rest(`POST /redemptions/${code}/validate`)
  t.is(validated.status, 200)
  t.like(validated.body.data, {
    conditions: 'One per table',
    customer: { user_id: userId, display_name: 'Zoë', balance: 40 },
  })
  t.is(validated.body.data.redemption.status, 'pending')
  t.is((await tenant.rest(`GET /customers/${userId}/balance`)).body.data.balance, 40)
})

test('expired points cannot pay for a redemption', async (t) => {
  const { clock, tenant } = await setUp(t)
  await tenant.rest('PATCH /settings', { points_expire_after_days: 10, redemption_ttl_hours: 8760 })
  const reward = await createReward(tenant, { points_cost: 10 })
  const { code, userId } = await customerWithCode(tenant, reward, { points: 40 })
  // Given on 1 June in Berlin; good to the end of 11 June there.
  clock.set('2026-06-11T21:59:59Z')
  t.is(await message(tenant, `POST /redemptions/${code}/validate`), '200 ok')
  clock.set('2026-06-11T22:00:00Z')
  t.is(await message(tenant, `POST /redemptions/${code}/complete`), '409 INSUFFICIENT_POINTS:0')
  t.is((await tenant.rest(`GET /customers/${userId}/balance`)).body.data.balance, 0)
})

test("another business's code, reward and customer are not found", async (t) => {
  const { app, tenant } = await setUp(t)
  const other = await createTenant(app)
  const reward = await createReward(tenant, { points_cost: 1 })
  const { code, userId } = await customerWithCode(tenant, reward)
  const theirs = await createReward(other, { points_cost: 1 })
  const their = await createCustomer(other)
  for (const request of ['complete', 'validate', 'cancel'])
    t.is(await message(other, `POST /redemptions/${code}/${request}`), '404 Redemption not found')
  t.is(await message(other, `GET /redemptions/${code}`), '404 Redemption not found')
  t.is(
    await message(other, 'POST /redemptions', { reward_id: reward.id, user_id: their.user_id }),
    '404 Reward not found',
  )
  t.is(
    await message(other, 'POST /redemptions', { reward_id: theirs.id, user_id: userId }),
    '404 Customer not found. Check the user_id or identifier.',
  )
  t.is((await other.rest('GET /redemptions')).body.data.pagination.total_count, 0)
})

test('a customer is addressed by exactly one of user_id and identifier', async (t) => {
  const { tenant } = await setUp(t)
  const reward = await createReward(tenant, { points_cost: 0 })
  const { user_id } = await createCustomer(tenant, { identifiers: [{ value: 'C-7' }] })
  const one = 'Provide exactly one of user_id or identifier.'
  t.is(await message(tenant, 'POST /redemptions', { reward_id: reward.id }), `400 ${one}`)
  t.is(
    await message(tenant, 'POST /redemptions', { reward_id: reward.id, user_id, identifier: 'C-7' }),
    `400 ${one}`,
  )
  t.is(await message(tenant, 'POST /redemptions', { reward_id: reward.id, identifier: 'C-7' }), '201 ok')
})

test('a code of a deleted reward is cancelled', async (t) => {
  const { tenant } = await setUp(t)
  const reward = await createReward(tenant, { points_cost: 1 })
  const { code } = await customerWithCode(tenant, reward)
  await tenant.rest(`DELETE /rewards/${reward.id}`)
  t.is(await message(tenant, `POST /redemptions/${code}/complete`), '409 REDEMPTION_NOT_PENDING:cancelled')
})

test('the graph answers a redemption with its reward and customer in one request', async (t) => {
  const { tenant } = await setUp(t)
  const reward = await createReward(tenant, { name: 'Cake', points_cost: 1 })
  const { code, userId } = await customerWithCode(tenant, reward)
  const completed = await tenant.graph(
    `mutation ($code: String!) { completeRedemption(input: { code: $code }) {
       redemption { status reward { name redemptionsCount } customer { id balance } } transaction { points }
     } }`,
    { code },
  )
  t.deepEqual(completed.data.completeRedemption, {
    redemption: {
      status: 'completed',
      reward: { name: 'Cake', redemptionsCount: 1 },
      customer: { id: userId, balance: 999 },
    },
    transaction: { points: 1 },
  })
  const again = await tenant.graph(
    'mutation ($code: String!) { completeRedemption(input: { code: $code }) { transaction { points } } }',
    { code },
  )
  t.is(again.errors?.[0].extensions.code, 'REDEMPTION_NOT_PENDING')
  t.is(again.errors?.[0].message, 'REDEMPTION_NOT_PENDING:completed')
})
