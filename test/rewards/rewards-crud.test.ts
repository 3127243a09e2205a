import test from 'ava'
import { createApiKey } from '../../src/businesses/accounts.js'
import type { Scope } from '../../src/context.js'
import { createTenant, restClient, startApp, type Tenant, testClock } from '../helpers/app.js'
import { createCustomer, createReward, createTier } from '../helpers/factories.js'
import { statementsDuring } from '../helpers/statements.js'

const app = await startApp({ teardown: (end) => test.after.always(end) })

const NOTHING = '01900000-0000-7000-8000-000000000000'

/** Spec section 2, Reward, and `cashback_cents`. */
const DOCUMENTED = `
  name description points_cost active start_date end_date time_active conditions cooldown_mode cooldown_count
  cooldown_amount cooldown_unit absence_amount absence_unit birthday birthday_window_mode birthday_days_before
  birthday_days_after tier_gate tier_overrides max_redemptions delivery_mode digital_asset_type
  digital_asset_source digital_asset_value digital_webhook_url digital_email_delivery id business_id type image_url
  created_at redemptions_count redemptions_remaining deactivated_by_limit deactivated_by_pool pool_remaining
  digital_webhook_secret cashback_cents`
  .trim()
  .split(/\s+/)
  .sort()

/** A code for the reward, waiting at the counter. */
async function showCode(tenant: Tenant, rewardId: string): Promise<string> {
  const { user_id } = await createCustomer(tenant)
  const { status, body, text } = await tenant.rest('POST /redemptions', { reward_id: rewardId, user_id })
  if (status !== 201) throw new Error(text)
  return body.data.redemption.code
}

test('a reward is created, read, listed and changed as one resource of exactly the documented fields', async (t) => {
  const clock = testClock('2026-06-01T10:00:00.123Z')
  const tenant = await createTenant(await startApp(t, { clock }))
  const created = await tenant.rest('POST /rewards', {
    name: ' Café ☕ 👩‍👩‍👧 ',
    points_cost: 0,
    description: '\u202eright to left\n',
    conditions: 'ﬁ Å Å',
  })
  t.is(created.status, 201)
  t.is(created.body.message, 'Reward created successfully')
  const { reward } = created.body.data
  t.deepEqual(Object.keys(reward).sort(), DOCUMENTED)
  t.like(reward, {
    business_id: tenant.businessId,
    name: ' Café ☕ 👩‍👩‍👧 ',
    description: '\u202eright to left\n',
    conditions: 'ﬁ Å Å',
    created_at: '2026-06-01T10:00:00.123Z',
  })

  const read = await tenant.rest(`GET /rewards/${reward.id.toUpperCase()}`)
  t.is(read.status, 200)
  t.deepEqual(read.body.data, { reward })
  t.deepEqual((await tenant.rest('GET /rewards')).body.data, {
    rewards: [reward],
    pagination: { limit: 50, offset: 0, returned: 1, total_count: 1 },
  })

  clock.advance(1000)
  const changed = await tenant.rest(`PATCH /rewards/${reward.id}`, { name: 'Tea', description: null })
  t.is(changed.status, 200)
  t.deepEqual(changed.body.data, { reward: { ...reward, name: 'Tea', description: null } })
})

test('rewards are listed newest first, in pages with an exact total', async (t) => {
  const clock = testClock()
  const tenant = await createTenant(await startApp(t, { clock }))
  const ids: string[] = []
  for (const pause of [1, 0, 1, 0, 0]) {
    clock.advance(pause)
    ids.unshift((await createReward(tenant)).id)
  }
  const page = async (query: string) => {
    const { rewards, pagination } = (await tenant.rest(`GET /rewards?${query}`)).body.data
    return [rewards.map(({ id }: { id: string }) => id), pagination]
  }
  t.deepEqual(await page('limit=2&offset=1'), [
    ids.slice(1, 3),
    { limit: 2, offset: 1, returned: 2, total_count: 5 },
  ])
  t.deepEqual(await page('offset=4'), [ids.slice(4), { limit: 50, offset: 4, returned: 1, total_count: 5 }])
  for (const query of ['limit=0', 'limit=101', 'offset=-1', 'limit=x', 'active=true'])
    t.is((await tenant.rest(`GET /rewards?${query}`)).status, 400, query)
})

test('deleting cancels the codes that wait, leaves what was redeemed, and the reward is not found', async (t) => {
  const tenant = await createTenant(app)
  const [reward, other] = [
    await createReward(tenant, { points_cost: 0 }),
    await createReward(tenant, { points_cost: 0 }),
  ]
  const [completed, waiting, elsewhere] = [
    await showCode(tenant, reward.id),
    await showCode(tenant, reward.id),
    await showCode(tenant, other.id),
  ]
  await tenant.rest(`POST /redemptions/${completed}/complete`)

  const deleted = await tenant.rest(`DELETE /rewards/${reward.id}`)
  t.is(deleted.status, 200)
  t.deepEqual(deleted.body, { success: true, message: 'Reward deleted successfully', data: {} })

  const statusOf = async (code: string) =>
    (await tenant.rest(`GET /redemptions/${code}`)).body.data.redemption.status
  t.is(await statusOf(completed), 'completed')
  t.is(await statusOf(waiting), 'cancelled')
  t.is(await statusOf(elsewhere), 'pending')

  const { user_id } = await createCustomer(tenant)
  for (const [request, body] of [
    [`GET /rewards/${reward.id}`],
    [`PATCH /rewards/${reward.id}`, { name: 'Tea' }],
    [`DELETE /rewards/${reward.id}`],
    ['POST /redemptions', { reward_id: reward.id, user_id }],
  ] as const) {
    const answer = await tenant.rest(request, body)
    t.is(answer.status, 404, request)
    t.is(answer.body.error.message, 'Reward not found')
  }
  const { rewards, pagination } = (await tenant.rest('GET /rewards')).body.data
  t.deepEqual(
    rewards.map(({ id }: { id: string }) => id),
    [other.id],
  )
  t.is(pagination.total_count, 1)
})

test('a reward of another business, no reward and no id are one 404, and stay untouched', async (t) => {
  const [owner, stranger] = [await createTenant(app), await createTenant(app)]
  const reward = await createReward(owner, { points_cost: 0 })
  const code = await showCode(owner, reward.id)
  for (const id of [reward.id, NOTHING, 'no-uuid', '%00'])
    for (const [method, body] of [['GET'], ['PATCH', { name: 'Mine' }], ['DELETE']] as const) {
      const answer = await stranger.rest(`${method} /rewards/${id}`, body)
      t.is(answer.status, 404)
      t.deepEqual(answer.body, { success: false, error: { message: 'Reward not found' } })
    }
  t.deepEqual((await stranger.rest('GET /rewards')).body.data.rewards, [])
  t.deepEqual((await owner.rest(`GET /rewards/${reward.id}`)).body.data.reward, reward)
  t.is((await owner.rest(`GET /redemptions/${code}`)).body.data.redemption.status, 'pending')
})

test('a bad field is refused before the reward is looked for, and a contradiction after', async (t) => {
  const { rest } = await createTenant(app)
  t.is((await rest(`PATCH /rewards/${NOTHING}`, { points_cost: -1 })).status, 400)
  t.is((await rest(`PATCH /rewards/${NOTHING}`, {})).status, 400)
  t.is((await rest(`PATCH /rewards/${NOTHING}`, { cooldown_mode: 'limit' })).status, 404)
})

test('a key that may read rewards may not write them, and one without a scope for them neither', async (t) => {
  const tenant = await createTenant(app)
  const { id } = await createReward(tenant)
  const restWith = async (...scopes: Scope[]) => {
    const { key } = await createApiKey(
      app.database,
      app.secrets,
      { businessId: tenant.businessId, name: 'scoped', scopes },
      new Date(),
    )
    return restClient(app.url, key)
  }
  const reader = await restWith('rewards:read')
  t.is((await reader(`GET /rewards/${id}`)).status, 200)
  t.is((await reader('GET /rewards')).status, 200)
  for (const [request, body] of [
    ['POST /rewards', { name: 'Tea', points_cost: 1 }],
    [`PATCH /rewards/${id}`, { name: 'Tea' }],
    [`DELETE /rewards/${id}`],
  ] as const) {
    const { status, body: answer } = await reader(request, body)
    t.is(status, 403, request)
    t.is(answer.error.message, 'Insufficient scope: rewards:write')
  }
  const stranger = await restWith('rewards:write')
  t.is((await stranger('GET /rewards')).body.error.message, 'Insufficient scope: rewards:read')
})

test('a repeated write with one Idempotency-Key has one effect and one answer, refusals too', async (t) => {
  const tenant = await createTenant(app)
  const twice = async (request: string, body?: object) => {
    const send = () => tenant.rest(request, body, { 'Idempotency-Key': request })
    const [first, second] = [await send(), await send()]
    t.is(second.text, first.text)
    t.is(second.headers.get('idempotency-replayed'), 'true', request)
    return first
  }
  const { id } = (await twice('POST /rewards', { name: 'Tea', points_cost: 1 })).body.data.reward
  t.is((await twice(`PATCH /rewards/${id}`, { max_redemptions: 3 })).status, 200)
  t.is((await twice(`DELETE /rewards/${id}`)).status, 200)
  t.is((await twice(`PATCH /rewards/${NOTHING}`, { name: 'Tea' })).status, 404)
  t.is((await tenant.rest('GET /rewards')).body.data.pagination.total_count, 0)
})

test('the graph creates, changes, pages and deletes the same rewards, in its own spelling', async (t) => {
  const tenant = await createTenant(app)
  const { graph } = tenant
  const tier = await createTier(tenant)
  const created = await graph(
    `mutation ($input: CreateRewardInput!) {
      createReward(input: $input) { id name timeActive tierGate { mode tierId } tierOverrides { tierId earlyAccessHours } }
    }`,
    {
      input: {
        name: 'Tea',
        pointsCost: 5,
        timeActive: { monday: { active: true, start: '08:00', end: '12:00' } },
        tierGate: { mode: 'only', tierId: tier.id },
        tierOverrides: [{ tierId: tier.id, earlyAccessHours: 2 }],
      },
    },
  )
  const { id, ...shown } = created.data.createReward
  t.deepEqual(shown, {
    name: 'Tea',
    timeActive: { monday: { active: true, start: '08:00', end: '12:00' } },
    tierGate: { mode: 'only', tierId: tier.id },
    tierOverrides: [{ tierId: tier.id, earlyAccessHours: 2 }],
  })
  const UPDATE = 'mutation ($input: UpdateRewardInput!) { updateReward(input: $input) { active pointsCost } }'
  const changed = await graph(UPDATE, { input: { id, active: false, pointsCost: 6 } })
  t.deepEqual(changed.data.updateReward, { active: false, pointsCost: 6 })

  const refused = await graph(UPDATE, { input: { id, cooldownMode: 'limit' } })
  t.deepEqual(refused.errors![0].extensions.fields[0], {
    path: 'cooldownCount',
    message: 'required when cooldownMode is limit',
  })
  t.is((await graph(UPDATE, { input: { id } })).errors![0].extensions.code, 'EMPTY_UPDATE')

  const second = await createReward(tenant)
  const PAGE =
    'query ($after: String) { rewards(first: 1, after: $after) { totalCount nodes { id } pageInfo { endCursor hasNextPage } } }'
  const first = (await graph(PAGE)).data.rewards
  t.deepEqual([first.totalCount, first.nodes[0].id, first.pageInfo.hasNextPage], [2, second.id, true])
  const last = (await graph(PAGE, { after: first.pageInfo.endCursor })).data.rewards
  t.deepEqual([last.nodes[0].id, last.pageInfo.hasNextPage], [id, false])

  const DELETE = 'mutation ($input: DeleteRewardInput!) { deleteReward(input: $input) { id } }'
  t.deepEqual((await graph(DELETE, { input: { id } })).data.deleteReward, { id })
  t.is((await graph(DELETE, { input: { id } })).errors![0].extensions.code, 'REWARD_NOT_FOUND')
})

test('a list of rewards with their overrides costs as many statements as one reward', async (t) => {
  const own = await startApp(t)
  const tenant = await createTenant(own)
  const tier = await createTier(tenant)
  const add = () => createReward(tenant, { tier_overrides: [{ tier_id: tier.id }] })
  const listing = async () => {
    const sent = await statementsDuring(own, () => tenant.rest('GET /rewards'))
    return sent.filter((sql) => sql.includes('reward')).length
  }
  await add()
  const forOne = await listing()
  await Promise.all(Array.from({ length: 20 }, add))
  t.is(await listing(), forOne)
})
