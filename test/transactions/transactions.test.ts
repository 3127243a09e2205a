import test from 'ava'
import { v7 as uuidv7 } from 'uuid'
import { closeTransactionDays } from '../../src/transactions/transaction-days.js'
import { createTenant, startApp, testClock } from '../helpers/app.js'
import { createCustomer } from '../helpers/factories.js'
import { bookRows, plannedRow } from './ledger-rows.js'

test('REST filters by customer, terminal and time, in the query names of the contract', async (t) => {
  const clock = testClock('2026-06-01T10:00:00Z')
  const app = await startApp(t, { clock })
  const tenant = await createTenant(app)
  const { user_id } = await createCustomer(tenant, { identifiers: [{ value: 'card & 1' }] })
  const other = await createCustomer(tenant)
  const device_id = uuidv7()
  await bookRows(app, tenant, [
    plannedRow(new Date('2026-05-01T10:00:00Z'), { customerId: user_id, deviceId: device_id, points: 1 }),
    plannedRow(new Date('2026-05-02T10:00:00Z'), { customerId: user_id, type: 'redeem', points: 2 }),
    plannedRow(new Date('2026-05-03T10:00:00Z'), { customerId: other.user_id, points: 3 }),
  ])
  const points = async (query: string) => {
    const { body } = await tenant.rest(`GET /transactions?${query}`)
    const found = body.data.transactions.map((row: { points: number }) => row.points)
    t.is(body.data.pagination.total_count, found.length)
    return found
  }
  t.deepEqual(await points(`user_id=${user_id.toUpperCase()}`), [2, 1])
  t.deepEqual(await points('identifier=card%20%26%201&type=redeem'), [2])
  t.deepEqual(await points(`device_id=${device_id}`), [1])
  t.deepEqual(await points('from=2026-05-02T10:00:00Z'), [3, 2])
  t.deepEqual(await points('to=2026-05-02T10:00:00Z'), [1])
  t.deepEqual(await points('from=2026-05-02T12:00:00%2B02:00&to=2026-05-03T10:00:00Z&status=completed'), [2])
  t.deepEqual(await points('identifier=nobody'), [])
  t.deepEqual(await points(`user_id=${uuidv7()}`), [])
})

test('filters that are malformed or contradict each other are refused by name', async (t) => {
  const { rest } = await createTenant(await startApp(t))
  const refusals: Record<string, string> = {
    'user_id=7': 'user_id: must be a UUID',
    'device_id=7': 'device_id: must be a UUID',
    'from=yesterday': 'from: must be an ISO 8601 timestamp with a time zone',
    'from=2026-05-02T10:00:00': 'from: must be an ISO 8601 timestamp with a time zone',
    'from=2026-05-02T10:00:00Z&to=2026-05-01T10:00:00Z': 'to: must be later than from',
    'from=2026-05-02T10:00:00Z&to=2026-05-02T10:00:00Z': 'to: must be later than from',
    'to=2026-02-30T10:00:00Z&limit=0':
      'to: must be an ISO 8601 timestamp with a time zone; limit: must be at least 1',
    'identifier=': 'identifier: must not be empty',
    [`user_id=${uuidv7()}&identifier=card`]: 'Provide exactly one of user_id or identifier.',
  }
  for (const [query, message] of Object.entries(refusals)) {
    const { status, body } = await rest(`GET /transactions?${query}`)
    const said = (text: string) => text.split('; ').sort()
    t.is(status, 400, query)
    t.deepEqual(said(body.error.message), said(message), query)
  }
})

test("another business's customer, terminal or identifier finds nothing", async (t) => {
  const app = await startApp(t)
  const [mine, theirs] = [await createTenant(app), await createTenant(app)]
  const { user_id } = await createCustomer(theirs, { identifiers: [{ value: 'card' }] })
  const device_id = uuidv7()
  await bookRows(app, theirs, [plannedRow(new Date(), { customerId: user_id, deviceId: device_id })])
  const count = async (query: string) =>
    (await mine.rest(`GET /transactions?${query}`)).body.data.pagination.total_count
  t.is(await count(''), 0)
  t.is(await count(`user_id=${user_id}`), 0)
  t.is(await count('identifier=card'), 0)
  t.is(await count(`device_id=${device_id}`), 0)
  t.is(await count('from=2020-01-01T00:00:00Z'), 0)
})

test('the ledger of an erased customer is still listed by the user id', async (t) => {
  const tenant = await createTenant(await startApp(t))
  const { user_id } = await createCustomer(tenant, { identifiers: [{ value: 'card' }] })
  await tenant.rest('POST /points/issue', { user_id, points: 10 })
  await tenant.rest(`DELETE /customers/${user_id}`)
  const sources = async (query: string) =>
    (await tenant.rest(`GET /transactions?${query}`)).body.data.transactions.map(
      ({ source }: { source: string }) => source,
    )
  t.deepEqual(await sources(`user_id=${user_id}`), ['erasure', 'api'])
  t.deepEqual(await sources('identifier=card'), [])
})

test('total_count is exact while rows are written: never behind what was answered, never ahead of what was asked', async (t) => {
  const app = await startApp(t)
  const tenant = await createTenant(app)
  const { user_id } = await createCustomer(tenant)
  const from = new Date(Date.now() - 1000).toISOString()
  let [asked, answered] = [0, 0]
  const write = async () => {
    for (let n = 0; n < 15; n++) {
      asked++
      await tenant.rest('POST /points/issue', { user_id, points: 1 })
      answered++
    }
  }
  const read = async (query: string) => {
    for (let n = 0; n < 15; n++) {
      const least = answered
      const total = (await tenant.rest(`GET /transactions?limit=1${query}`)).body.data.pagination.total_count
      t.true(least <= total && total <= asked, `${least} <= ${total} <= ${asked}`)
    }
  }
  await Promise.all([write(), write(), write(), read(''), read(`&from=${from}`), read('&type=earn')])
  const { body } = await tenant.rest(`GET /transactions?from=${from}&user_id=${user_id}`)
  t.is(body.data.pagination.total_count, 45)
})

test('a day is closed once, however many instances do so, and not before a whole day after its end', async (t) => {
  const clock = testClock('2026-06-01T10:00:00Z')
  const one = await startApp(t, { clock })
  const two = await startApp(t, { beside: one, clock })
  const tenant = await createTenant(one)
  const { user_id: customerId } = await createCustomer(tenant)
  await bookRows(one, tenant, [
    plannedRow(new Date('2025-01-01T00:00:00Z'), { customerId }),
    plannedRow(new Date('2026-06-01T23:59:59.999Z'), { customerId, type: 'redeem' }),
    plannedRow(new Date('2026-06-02T00:00:00Z'), { customerId }),
  ])
  const closed = async (now: string) => {
    clock.set(now)
    const counts = await Promise.all([one, two, one, two].map(closeTransactionDays))
    return counts.reduce((sum, count) => sum + count, 0)
  }
  t.is(await closed('2026-06-02T23:59:59Z'), 1)
  t.is(await closed('2026-06-03T00:00:00Z'), 1)
  t.is(await closed('2026-06-03T12:00:00Z'), 0)
  const days = await one.database.db.transactionDay.findMany({ orderBy: { day: 'asc' } })
  t.deepEqual(
    days.map(({ day, earnCount, redeemCount }) => [day.toISOString().slice(0, 10), earnCount, redeemCount]),
    [
      ['2025-01-01', 1, 0],
      ['2026-06-01', 0, 1],
    ],
  )
})
