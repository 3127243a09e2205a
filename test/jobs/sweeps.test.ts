import test from 'ava'
import { quickAddJob } from 'graphile-worker'
import pino from 'pino'
import { audit } from '../../src/audit/audit.js'
import { dropIdempotencyKeys, expirePoints, expireRedemptions, type Sweep } from '../../src/jobs/sweeps.js'
import { startJobs } from '../../src/jobs/worker.js'
import { createTenant, startApp, type TestApp, testClock } from '../helpers/app.js'
import { createCustomer, createReward } from '../helpers/factories.js'

const DAY_MS = 24 * 60 * 60 * 1000
const range = (length: number) => Array.from({ length }, (_, index) => index)

async function twoInstances(t: Parameters<typeof startApp>[0]) {
  const clock = testClock('2026-06-01T10:00:00Z')
  const one = await startApp(t, { clock })
  const two = await startApp(t, { beside: one, clock })
  return { clock, one, two, tenant: await createTenant(one, { timezone: 'Europe/Berlin' }) }
}

/** Sweeps from both instances at once, twice each; returns how many rows they settled together. */
async function sweepTogether(sweep: Sweep, ...apps: TestApp[]): Promise<number> {
  const settled = await Promise.all([...apps, ...apps].map((app) => sweep(app)))
  return settled.reduce((sum, count) => sum + count, 0)
}

async function pendingCodes({ one, tenant }: Awaited<ReturnType<typeof twoInstances>>, count: number) {
  const reward = await createReward(tenant, { points_cost: 0 })
  const { user_id } = await createCustomer(tenant)
  for (const _ of range(count)) await tenant.rest('POST /redemptions', { reward_id: reward.id, user_id })
  return () =>
    one.database.db.redemption.groupBy({ by: ['status'], _count: true, orderBy: { status: 'asc' } })
}

test('100 codes past their time expire once each, however many instances sweep', async (t) => {
  const instances = await twoInstances(t)
  const { clock, one, two } = instances
  const statuses = await pendingCodes(instances, 100)
  t.is(await sweepTogether(expireRedemptions, one, two), 0)
  clock.advance(DAY_MS)
  t.is(await sweepTogether(expireRedemptions, one, two), 100)
  t.deepEqual(await statuses(), [{ status: 'expired', _count: 100 }])
})

test('the points of 100 customers who stayed away expire once each, however many instances sweep', async (t) => {
  const { clock, one, two, tenant } = await twoInstances(t)
  await tenant.rest('PATCH /settings', { points_expire_after_days: 30 })
  for (const index of range(100)) {
    const { user_id } = await createCustomer(tenant)
    await tenant.rest('POST /points/issue', { user_id, points: index + 1 })
  }
  const { user_id: faithful } = await createCustomer(tenant)
  clock.set('2026-06-20T10:00:00Z')
  await tenant.rest('POST /points/issue', { user_id: faithful, points: 7 })
  clock.set('2026-07-01T21:59:59Z')
  t.is(await sweepTogether(expirePoints, one, two), 0)
  // The end of 1 July in Berlin: 30 days after the local day of the visit.
  clock.set('2026-07-01T22:00:00Z')
  t.is(await sweepTogether(expirePoints, one, two), 100)
  const rows = await one.database.db.transaction.aggregate({
    where: { source: 'expiry' },
    _count: true,
    _sum: { points: true },
  })
  t.deepEqual([rows._count, rows._sum.points], [100, 5050])
  t.is((await tenant.rest(`GET /customers/${faithful}/balance`)).body.data.balance, 7)
  t.true((await audit(one.database)).checks.every(({ broken }) => broken === 0))
})

test('100 stored answers go after 24 hours, once each', async (t) => {
  const { clock, one, two, tenant } = await twoInstances(t)
  const { user_id } = await createCustomer(tenant)
  for (const index of range(100))
    await tenant.rest('POST /points/issue', { user_id, points: 1 }, { 'Idempotency-Key': `key ${index}` })
  clock.advance(DAY_MS - 1)
  t.is(await sweepTogether(dropIdempotencyKeys, one, two), 0)
  clock.advance(1)
  t.is(await sweepTogether(dropIdempotencyKeys, one, two), 100)
  t.is(await one.database.db.idempotencyKey.count(), 0)
})

test('the worker of either instance runs a sweep that is asked for', async (t) => {
  const instances = await twoInstances(t)
  const { clock, one, two } = instances
  const statuses = await pendingCodes(instances, 3)
  clock.advance(DAY_MS)
  const log = pino({ level: 'silent' })
  const jobs = await Promise.all(
    [one, two].map((app) => startJobs({ ...app, mailer: undefined }, app.databaseUrl, log)),
  )
  t.teardown(() => Promise.all(jobs.map((each) => each.stop())))
  await quickAddJob({ pgPool: one.database.pool }, 'expire_redemptions', {})
  for (let tries = 0; tries < 200; tries++) {
    const [first] = await statuses()
    if (first?.status === 'expired') break
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  t.deepEqual(await statuses(), [{ status: 'expired', _count: 3 }])
})

test('a sweep leaves other businesses and customers with nothing due alone', async (t) => {
  const { clock, one, tenant } = await twoInstances(t)
  const other = await createTenant(one)
  await tenant.rest('PATCH /settings', { points_expire_after_days: 1 })
  for (const each of [tenant, other]) {
    const { user_id } = await createCustomer(each, { identifiers: [{ value: 'x' }] })
    await each.rest('POST /points/issue', { user_id, points: 10 })
  }
  clock.advance(3 * DAY_MS)
  t.is(await expirePoints(one), 1)
  t.is((await other.rest('GET /customers/x/balance')).body.data.balance, 10)
  t.is(await expirePoints(one), 0)
})
