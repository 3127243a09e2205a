import test from 'ava'
import { audit } from '../../src/audit/audit.js'
import { settleReferrals } from '../../src/tiers/referrals.js'
import { createTenant, restClient, startApp, type Tenant } from '../helpers/app.js'
import { createCustomer, createTier, enableTiers } from '../helpers/factories.js'

const app = await startApp({ teardown: (end) => test.after.always(end) })

const range = (length: number) => Array.from({ length }, (_, index) => index)

/** A business whose lowest tier, reached with the first point, pays 50 points for each customer brought. */
async function program(referralBonusPoints = 50) {
  const tenant = await createTenant(app)
  await enableTiers(tenant)
  await createTier(tenant, { minPoints: 1, benefits: { referralBonusPoints } })
  return tenant
}

async function memberOf(tenant: Tenant, points = 1): Promise<string> {
  const { user_id } = await createCustomer(tenant)
  if (points > 0) await tenant.rest('POST /points/issue', { user_id, points })
  return user_id
}

const balanceOf = async ({ rest }: Tenant, id: string): Promise<number> =>
  (await rest(`GET /customers/${id}/balance`)).body.data.balance

const brokenIn = async ({ businessId }: Tenant) =>
  (await audit(app.database, businessId)).checks.filter(({ broken }) => broken > 0)

test('of 20 first earnings at once on two instances exactly one pays the referrer, who is told apart by source', async (t) => {
  const tenant = await program()
  const beside = await startApp(t, { beside: app })
  const clients = [tenant.rest, restClient(beside.url, tenant.key)]
  const referrer = await memberOf(tenant)
  const { user_id } = await createCustomer(tenant, { referred_by: referrer })
  await Promise.all(
    range(20).map((index) => clients[index % 2]!('POST /points/issue', { user_id, points: 2 })),
  )
  t.is(await settleReferrals(app), 0)
  t.is(await balanceOf(tenant, referrer), 51)
  t.is(await balanceOf(tenant, user_id), 40)
  const { data } = await tenant.graph('{ transactions { nodes { source userId points } } }')
  const bonuses = data.transactions.nodes.filter(({ source }: { source: string }) => source === 'referral')
  t.deepEqual(bonuses, [{ source: 'referral', userId: referrer, points: 50 }])
  t.deepEqual(await brokenIn(tenant), [])
})

test('customers who brought each other and earn at once are both paid: none waits for the other', async (t) => {
  const tenant = await program()
  const people = await Promise.all(range(12).map(() => memberOf(tenant, 0)))
  // In a ring: each is brought by the next one.
  for (const [index, id] of people.entries())
    await tenant.rest(`PATCH /customers/${id}`, { referred_by: people[(index + 1) % people.length] })
  const answers = await Promise.all(
    people.map((user_id) => tenant.rest('POST /points/issue', { user_id, points: 1 })),
  )
  t.true(answers.every(({ status }) => status === 200))
  t.is(await app.database.db.referral.count({ where: { businessId: tenant.businessId, settledAt: null } }), 0)
  t.is(await app.database.db.referral.count({ where: { businessId: tenant.businessId } }), 12)
  t.deepEqual(await brokenIn(tenant), [])
})

test('what a crash left unpaid a sweep pays once, however many instances sweep', async (t) => {
  const tenant = await program()
  const referrer = await memberOf(tenant)
  const { user_id } = await createCustomer(tenant)
  // As if the process had gone down between the two commits.
  await app.database.db.referral.create({
    data: { businessId: tenant.businessId, customerId: user_id, referrerId: referrer, createdAt: new Date() },
  })
  const settled = await Promise.all(range(6).map(() => settleReferrals(app)))
  t.is(
    settled.reduce((sum, count) => sum + count),
    1,
  )
  t.is(await balanceOf(tenant, referrer), 51)
})

test('a referrer without a tier, or whose tier gives nothing, is never paid for that customer', async (t) => {
  const tenant = await program()
  const referrer = await memberOf(tenant, 0)
  const { user_id } = await createCustomer(tenant, { referred_by: referrer })
  await tenant.rest('POST /points/issue', { user_id, points: 1 })
  await tenant.rest('POST /points/issue', { user_id: referrer, points: 1 })
  await tenant.rest('POST /points/issue', { user_id, points: 1 })
  t.is(await balanceOf(tenant, referrer), 1)
  t.deepEqual(await brokenIn(tenant), [])
})

test('only the first earning counts: a referrer who is named later is not paid, nor is one for 0 points', async (t) => {
  const tenant = await program()
  const referrer = await memberOf(tenant)
  const late = await memberOf(tenant)
  await tenant.rest(`PATCH /customers/${late}`, { referred_by: referrer })
  await tenant.rest('POST /points/issue', { user_id: late, points: 1 })
  t.is(await balanceOf(tenant, referrer), 1)

  const { user_id } = await createCustomer(tenant, { referred_by: referrer })
  await tenant.rest('POST /points/issue', { user_id, amount: '0.00' })
  t.is(await balanceOf(tenant, referrer), 1)
  await tenant.rest('POST /points/issue', { user_id, points: 1 })
  t.is(await balanceOf(tenant, referrer), 51)
})

test('a referrer who was erased is not paid, and the earning is none the worse for it', async (t) => {
  const tenant = await program()
  const referrer = await memberOf(tenant)
  const { user_id } = await createCustomer(tenant, { referred_by: referrer })
  await tenant.rest(`DELETE /customers/${referrer}`)
  t.is((await tenant.rest('POST /points/issue', { user_id, points: 1 })).status, 200)
  t.is(await settleReferrals(app), 0)
  t.deepEqual(await brokenIn(tenant), [])
})

test('an earning with an Idempotency-Key pays the referrer as well, and its replay does not', async (t) => {
  const tenant = await program()
  const referrer = await memberOf(tenant)
  const { user_id } = await createCustomer(tenant, { referred_by: referrer })
  const headers = { 'Idempotency-Key': 'first' }
  for (const _ of range(2)) await tenant.rest('POST /points/issue', { user_id, points: 1 }, headers)
  t.is(await balanceOf(tenant, referrer), 51)
})
