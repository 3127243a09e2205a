import test from 'ava'
import { v7 as uuidv7 } from 'uuid'
import type { Prisma } from '../../src/database/generated/prisma/client.js'
import { createTenant, restClient, startApp, type TestApp } from '../helpers/app.js'
import { createCustomer, createReward, type Resource } from '../helpers/factories.js'
import { untilWaiting } from '../helpers/locks.js'

const key = (name: string) => ({ 'Idempotency-Key': name })
const NOT_FOUND =
  '{"success":false,"error":{"message":"Customer not found. Check the user_id or identifier."}}'

test('an erased customer is not found anywhere and leaves no personal text in the database', async (t) => {
  const app = await startApp(t)
  const { rest, graph } = await createTenant(app)
  const person = { display_name: 'Quux Person', email: 'quux@example.com', phone: '+49 30 987654321' }
  const created = await rest('POST /customers', {
    ...person,
    birthday: '1971-03-07',
    language: 'de-AT',
    identifiers: [{ value: 'quux-crm', label: 'quux label' }],
  })
  const { user_id } = created.body.data.customer
  await rest('POST /points/issue', { user_id, points: 7, description: 'for quux' })
  t.true(await databaseHolds(app, 'quux'))

  const erased = await rest('DELETE /customers/quux-crm')
  t.is(erased.status, 200)
  t.deepEqual(erased.body, { success: true, message: 'Customer erased successfully', data: {} })
  for (const text of ['quux', '987654321', '1971-03-07', 'de-AT'])
    t.false(await databaseHolds(app, text), text)

  for (const request of [
    ...['', '/balance', '/identifiers'].map((below) => `GET /customers/${user_id}${below}`),
    `GET /customers/lookup?user_id=${user_id}`,
    'GET /customers/quux-crm',
    `DELETE /customers/${user_id}`,
  ])
    t.is((await rest(request)).text, NOT_FOUND, request)
  t.is((await rest(`PATCH /customers/${user_id}`, { display_name: 'x' })).text, NOT_FOUND)
  t.is((await rest(`POST /customers/${user_id}/identifiers`, { value: 'x' })).text, NOT_FOUND)
  t.is((await rest('POST /points/issue', { user_id, points: 1 })).text, NOT_FOUND)
  t.is((await rest('POST /customers', { referred_by: user_id })).status, 400)
  t.is((await rest('GET /customers')).body.data.pagination.total_count, 0)
  const { data } = await graph('{ customers(search: "quux") { totalCount nodes { id } } }')
  t.deepEqual(data.customers, { totalCount: 0, nodes: [] })

  t.is((await rest('POST /customers', { identifiers: [{ value: 'quux-crm' }] })).status, 201)
})

test('the balance is written off in the ledger, which stays', async (t) => {
  const { rest } = await createTenant(await startApp(t))
  const { user_id } = await createCustomer({ rest })
  await rest('POST /points/issue', { user_id, points: 50, amount: null })
  await rest('POST /points/redeem', { user_id, points: 8 })
  await rest(`DELETE /customers/${user_id}`)
  const { transactions, pagination } = (await rest('GET /transactions')).body.data
  t.is(pagination.total_count, 3)
  t.like(transactions[0], { type: 'redeem', source: 'erasure', status: 'completed', points: 42, user_id })
  t.deepEqual(
    transactions.map(({ type, points }: { type: string; points: number }) => `${type} ${points}`),
    ['redeem 42', 'redeem 8', 'earn 50'],
  )

  const poor = await createCustomer({ rest })
  await rest(`DELETE /customers/${poor.user_id}`)
  t.is((await rest('GET /transactions')).body.data.pagination.total_count, 3, 'nothing to write off, no row')
})

test('points that expired before the erasure are booked as expired, not as written off', async (t) => {
  const app = await startApp(t)
  const { rest, businessId } = await createTenant(app)
  const { user_id } = await createCustomer({ rest })
  await rest('POST /points/issue', { user_id, points: 5 })
  const long = new Date(Date.now() - 90 * 24 * 60 * 60 * 1000)
  await rest('PATCH /settings', { points_expire_after_days: 30 })
  await app.database.db.business.update({ where: { id: businessId }, data: { pointsExpireSince: long } })
  await app.database.db.customer.updateMany({ where: { businessId }, data: { lastVisitAt: long } })
  await rest(`DELETE /customers/${user_id}`)
  const { transactions } = (await rest('GET /transactions')).body.data
  t.deepEqual(
    transactions.map(({ source }: { source: string }) => source),
    ['expiry', 'api'],
  )
})

test('pending codes are cancelled; what is completed and what holds points stays', async (t) => {
  const app = await startApp(t)
  const tenant = await createTenant(app)
  const { rest, businessId } = tenant
  const reward = await createReward(tenant, { points_cost: 5 })
  const [ada, bob] = [await createCustomer(tenant), await createCustomer(tenant)]
  for (const { user_id } of [ada, bob]) await rest('POST /points/issue', { user_id, points: 30 })
  const take = async ({ user_id }: Resource): Promise<string> => {
    const { body } = await rest('POST /redemptions', { reward_id: reward.id, user_id })
    return body.data.redemption.code
  }
  const [pending, completed, theirs] = [await take(ada), await take(ada), await take(bob)]
  await rest(`POST /redemptions/${completed}/complete`)
  const onTheWay = '0NTHEWAY'
  await addRedemption(
    app,
    { businessId, customerId: ada.user_id, rewardId: reward.id },
    {
      code: onTheWay,
      deliveryMode: 'digital',
    },
  )
  const account = { businessId_id: { businessId, id: ada.user_id } }
  await app.database.db.customer.update({ where: account, data: { held: 10 } })

  await rest(`DELETE /customers/${ada.user_id}`)
  const statuses = {
    [pending]: 'cancelled',
    [completed]: 'completed',
    [theirs]: 'pending',
    [onTheWay]: 'pending',
  }
  for (const [code, status] of Object.entries(statuses))
    t.is((await rest(`GET /redemptions/${code}`)).body.data.redemption.status, status)
  const after = await app.database.db.customer.findUnique({ where: account })
  t.like(after, { balance: 10, held: 10 })
})

test('addresses of parcels and waiting mail go', async (t) => {
  const app = await startApp(t)
  const tenant = await createTenant(app)
  const { businessId } = tenant
  const { user_id } = await createCustomer(tenant)
  const reward = await createReward(tenant)
  const of = { businessId, customerId: user_id, rewardId: reward.id }
  const parcel = await addRedemption(app, of, {
    code: 'PARCE100',
    status: 'completed',
    completedAt: new Date(),
    deliveryMode: 'shipping',
    fulfilmentStatus: 'shipped',
    shippingAddress: new Uint8Array([1]),
    trackingNumber: 'JD0001',
  })
  const addMail = (mail: { status: 'waiting' | 'dead'; lastError?: string }) =>
    app.database.db.mail.create({
      data: {
        ...{ businessId, id: uuidv7(), customerId: user_id, redemptionId: parcel.id },
        ...{ nextAttemptAt: new Date(), createdAt: new Date() },
        ...mail,
      },
    })
  await addMail({ status: 'waiting' })
  await addMail({ status: 'dead', lastError: 'no such user ada@example.com' })

  t.is((await tenant.rest(`DELETE /customers/${user_id}`)).status, 200)
  const [redemption] = await app.database.db.redemption.findMany({ where: { businessId } })
  t.like(redemption, { fulfilmentStatus: 'shipped', shippingAddress: null, trackingNumber: null })
  const mails = await app.database.db.mail.findMany({ where: { businessId } })
  t.deepEqual(
    mails.map(({ status, lastError }) => ({ status, lastError })),
    [{ status: 'dead', lastError: null }],
  )
})

test('a retry of a write that spoke of the customer gets 410, a retry of the erasure its own answer', async (t) => {
  const { rest, graph } = await createTenant(await startApp(t))
  const body = { display_name: 'Ada', identifiers: [{ value: 'ada' }] }
  const created = await rest('POST /customers', body, key('create'))
  const { user_id } = created.body.data.customer
  const bystander = await rest('POST /customers', { display_name: 'Bob' }, key('bystander'))
  const writes: [string, unknown, Record<string, string>][] = [
    ['POST /customers', body, key('create')],
    ['PATCH /customers/ada', { phone: '110' }, key('patch')],
    ['POST /customers/ada/identifiers', { value: 'ada-2' }, key('attach')],
    ['POST /points/issue', { user_id, points: 5 }, key('issue')],
    ['POST /points/redeem', { user_id, points: 500 }, key('refused')],
  ]
  for (const write of writes) t.not((await rest(...write)).status, 410)
  const mutation = 'mutation { updateCustomer(input: { customer: "ada", language: "de" }) { displayName } }'
  t.is((await graph(mutation, {}, key('graph'))).errors, undefined)

  const erased = await rest('DELETE /customers/ada', undefined, key('erase'))
  t.is(erased.status, 200)
  for (const write of writes) {
    const replayed = await rest(...write)
    t.is(replayed.status, 410, write[0])
    t.is(replayed.text, '{"success":false,"error":{"message":"CUSTOMER_ERASED"}}')
  }
  t.is((await graph(mutation, {}, key('graph'))).errors?.[0].extensions.code, 'CUSTOMER_ERASED')

  const again = await rest('DELETE /customers/ada', undefined, key('erase'))
  t.is(again.text, erased.text)
  t.is(again.headers.get('idempotency-replayed'), 'true')
  const bob = await rest('POST /customers', { display_name: 'Bob' }, key('bystander'))
  t.is(bob.text, bystander.text)
})

test('an erasure among writes on two instances leaves a ledger that adds up and no answer to replay', async (t) => {
  const one = await startApp(t)
  const two = await startApp(t, { beside: one })
  const here = await createTenant(one)
  const there = restClient(two.url, here.key)
  const { user_id } = await createCustomer(here)
  const send = (n: number) => {
    const rest = n % 2 === 0 ? here.rest : there
    const headers = key(`write-${n}`)
    if (n === 7 || n === 8) return rest(`DELETE /customers/${user_id}`, undefined, headers)
    if (n % 3 === 0) return rest(`PATCH /customers/${user_id}`, { display_name: `name ${n}` }, headers)
    if (n % 3 === 1) return rest(`POST /customers/${user_id}/identifiers`, { value: `v${n}` }, headers)
    return rest('POST /points/issue', { user_id, points: n }, headers)
  }
  const numbers = Array.from({ length: 24 }, (_, n) => n)
  const first = await Promise.all(numbers.map(send))
  const second = await Promise.all(numbers.map(send))
  t.is(first.filter(({ body }) => body.message === 'Customer erased successfully').length, 1)
  for (const n of numbers) {
    const [answer, replay] = [first[n]!, second[n]!]
    if (answer.status === 404 || answer.body.message === 'Customer erased successfully')
      t.is(replay.text, answer.text)
    else t.is(replay.status, 410)
  }

  const { db } = one.database
  const where = { businessId: here.businessId, customerId: user_id }
  const rows = await db.transaction.findMany({ where })
  t.is(
    rows.reduce((sum, row) => sum + (row.type === 'earn' ? row.points : -row.points), 0),
    0,
  )
  t.is(await db.identifier.count({ where }), 0)
  const id = { businessId: here.businessId, id: user_id }
  t.like(await db.customer.findUnique({ where: { businessId_id: id } }), { balance: 0, displayName: null })
})

test('whatever changes a customer waits for an erasure under way and then finds nobody', async (t) => {
  const app = await startApp(t)
  const { rest, businessId } = await createTenant(app)
  const created = await rest('POST /customers', { identifiers: [{ value: 'ada' }, { value: 'ada-2' }] })
  const { user_id, identifiers } = created.body.data.customer
  const one = `/customers/${user_id}/identifiers/${identifiers[0].id}`
  const erasing = await app.database.pool.connect()
  t.teardown(() => erasing.release())
  await erasing.query('BEGIN')
  await erasing.query('UPDATE customers SET erased_at = now() WHERE business_id = $1 AND id = $2', [
    businessId,
    user_id,
  ])
  const writes = [
    rest(`PATCH /customers/${user_id}`, { display_name: 'Ada' }),
    rest('PATCH /customers/ada', { display_name: 'Ada' }),
    rest(`POST /customers/${user_id}/identifiers`, { value: 'ada-3' }),
    rest(`PATCH ${one}`, { value: 'ada-4' }),
    rest(`DELETE ${one}`),
    rest('DELETE /customers/ada'),
  ]
  await untilWaiting(app, writes.length)
  await erasing.query('COMMIT')
  for (const answer of await Promise.all(writes)) t.is(answer.text, NOT_FOUND)
  const values = await app.database.db.identifier.findMany({ orderBy: { value: 'asc' } })
  t.deepEqual(
    values.map(({ value }) => value),
    ['ada', 'ada-2'],
  )
})

/** Whether any row of any table shows a text. */
async function databaseHolds(app: TestApp, text: string): Promise<boolean> {
  const { pool } = app.database
  const tables = await pool.query(`SELECT tablename FROM pg_tables WHERE schemaname = 'public'`)
  for (const { tablename } of tables.rows) {
    const { rowCount } = await pool.query(
      `SELECT FROM "${tablename}" AS each WHERE each::text ILIKE '%' || $1 || '%' LIMIT 1`,
      [text],
    )
    if (rowCount) return true
  }
  return false
}

/** A redemption in a state that a client cannot bring about alone. */
function addRedemption(
  app: TestApp,
  of: { businessId: string; customerId: string; rewardId: string },
  state: Pick<Prisma.RedemptionUncheckedCreateInput, 'code' | 'deliveryMode'> &
    Partial<Prisma.RedemptionUncheckedCreateInput>,
) {
  const fixed = { rewardName: 'Coffee', type: 'item', pointsCost: 10, cashbackCents: 0 } as const
  return app.database.db.redemption.create({
    data: { ...of, ...fixed, id: uuidv7(), status: 'pending', createdAt: app.clock.now(), ...state },
  })
}
