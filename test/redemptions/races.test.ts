import test from 'ava'
import { audit } from '../../src/audit/audit.js'
import { createTenant, restClient, startApp, type TestApp } from '../helpers/app.js'
import { createCustomer, createReward } from '../helpers/factories.js'

/** Two instances of the service on one database, and clients that take them in turn. */
async function twoInstances(t: Parameters<typeof startApp>[0]) {
  const one = await startApp(t)
  const two = await startApp(t, { beside: one })
  const tenant = await createTenant(one)
  const clients = [tenant.rest, restClient(two.url, tenant.key)]
  return { app: one, tenant, on: (index: number) => clients[index % 2]! }
}

/** Every invariant holds; says by name what does not. */
async function assertAudit(app: TestApp): Promise<void> {
  const { checks } = await audit(app.database)
  const broken = checks.filter((check) => check.broken > 0)
  if (broken.length > 0) throw new Error(JSON.stringify(broken))
}

const range = (length: number) => Array.from({ length }, (_, index) => index)

/** How often each status and message came. */
const tally = (answers: { status: number; body: { success: boolean; error?: { message: string } } }[]) => {
  const counts: Record<string, number> = {}
  for (const { status, body } of answers) {
    const outcome = body.success ? String(status) : `${status} ${body.error!.message}`
    counts[outcome] = (counts[outcome] ?? 0) + 1
  }
  return counts
}

test('of 200 concurrent completions of one code on two instances exactly one takes the points', async (t) => {
  const { app, tenant, on } = await twoInstances(t)
  const reward = await createReward(tenant, { points_cost: 100 })
  const { user_id } = await createCustomer(tenant)
  await tenant.rest('POST /points/issue', { user_id, points: 1000 })
  const { code } = (await tenant.rest('POST /redemptions', { reward_id: reward.id, user_id })).body.data
    .redemption
  const answers = await Promise.all(
    range(200).map((index) => on(index)(`POST /redemptions/${code}/complete`)),
  )
  t.deepEqual(tally(answers), { 200: 1, '409 REDEMPTION_NOT_PENDING:completed': 199 })
  t.is((await tenant.rest(`GET /customers/${user_id}/balance`)).body.data.balance, 900)
  await assertAudit(app)
})

test('a cap of 50 lets exactly 50 of 300 customers through, on two instances', async (t) => {
  const { app, tenant, on } = await twoInstances(t)
  const reward = await createReward(tenant, { points_cost: 1, max_redemptions: 50 })
  const codes: string[] = []
  for (const _ of range(300)) {
    const { user_id } = await createCustomer(tenant)
    await tenant.rest('POST /points/issue', { user_id, points: 5 })
    const { body } = await tenant.rest('POST /redemptions', { reward_id: reward.id, user_id })
    codes.push(body.data.redemption.code)
  }
  const answers = await Promise.all(
    codes.map((code, index) => on(index)(`POST /redemptions/${code}/complete`)),
  )
  t.deepEqual(tally(answers), { 200: 50, '409 REDEMPTION_LIMIT_REACHED:50': 250 })
  const { body } = await tenant.rest(`GET /rewards/${reward.id}`)
  t.like(body.data.reward, { redemptions_count: 50, active: false, deactivated_by_limit: true })
  await assertAudit(app)
})

test('a balance for one redemption pays for exactly one of 100 concurrent ones', async (t) => {
  const { app, tenant, on } = await twoInstances(t)
  const reward = await createReward(tenant, { points_cost: 70 })
  const { user_id } = await createCustomer(tenant)
  await tenant.rest('POST /points/issue', { user_id, points: 100 })
  const codes = await Promise.all(
    range(100).map(async () => {
      const { body } = await tenant.rest('POST /redemptions', { reward_id: reward.id, user_id })
      return body.data.redemption.code as string
    }),
  )
  const answers = await Promise.all(
    codes.map((code, index) => on(index)(`POST /redemptions/${code}/complete`)),
  )
  t.deepEqual(tally(answers), { 200: 1, '409 INSUFFICIENT_POINTS:30': 99 })
  await assertAudit(app)
})

test('a cooldown of one lets one of 50 concurrent codes of a customer through', async (t) => {
  const { app, tenant, on } = await twoInstances(t)
  const reward = await createReward(tenant, { points_cost: 1, cooldown_mode: 'once' })
  const { user_id } = await createCustomer(tenant)
  await tenant.rest('POST /points/issue', { user_id, points: 100 })
  const codes = await Promise.all(
    range(50).map(async () => {
      const { body } = await tenant.rest('POST /redemptions', { reward_id: reward.id, user_id })
      return body.data.redemption.code as string
    }),
  )
  const answers = await Promise.all(
    codes.map((code, index) => on(index)(`POST /redemptions/${code}/complete`)),
  )
  t.deepEqual(tally(answers), { 200: 1, '409 REDEMPTION_COOLDOWN_ACTIVE:0': 49 })
  await assertAudit(app)
})

test('earnings, redemptions and reversals of one customer from two instances leave every sum right', async (t) => {
  const { app, tenant, on } = await twoInstances(t)
  const { user_id } = await createCustomer(tenant)
  await tenant.rest('POST /points/issue', { user_id, points: 500 })
  const answers = await Promise.all(
    range(120).map(async (index) => {
      if (index % 3 === 0) return on(index)('POST /points/redeem', { user_id, points: 37 })
      const issued = await on(index)('POST /points/issue', { user_id, amount: `${index}.25` })
      if (index % 3 === 1) return issued
      return on(index + 1)(`POST /transactions/${issued.body.data.transaction.id}/reverse`)
    }),
  )
  t.true(answers.every(({ status }) => status === 200 || status === 409))
  await assertAudit(app)
})
