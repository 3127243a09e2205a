import test from 'ava'
import { v7 as uuidv7 } from 'uuid'
import { createTenant, restClient, startApp, type TestApp } from '../helpers/app.js'

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
  const { user_id } = (await rest('POST /customers')).body.data.customer
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

  const poor = (await rest('POST /customers')).body.data.customer
  await rest(`DELETE /customers/${poor.user_id}`)
  t.is((await rest('GET /transactions')).body.data.pagination.total_count, 3, 'nothing to write off, no row')
})

test('points that expired before the erasure are booked as expired, not as written off', async (t) => {
  const app = await startApp(t)
  const { rest, businessId } = await createTenant(app)
  const { user_id } = (await rest('POST /customers')).body.data.customer
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
  const { rest, businessId } = await createTenant(app)
  const { user_id } = (await rest('POST /customers')).body.data.customer
  const bystander = (await rest('POST /customers')).body.data.customer
  await rest('POST /points/issue', { user_id, points: 30 })
  await app.database.db.customer.update({
    where: { businessId_id: { businessId, id: user_id } },
    data: { held: 10 },
  })
  const rewardId = await addReward(app, businessId)
  const redemption = addRedemption(app, businessId, rewardId)
  await redemption('PEND0001', user_id, 'pending', 'in_store')
  await redemption('D0NE0001', user_id, 'completed', 'in_store')
  await redemption('HE1D0001', user_id, 'pending', 'digital')
  await redemption('THERS001', bystander.user_id, 'pending', 'in_store')

  await rest(`DELETE /customers/${user_id}`)
  const after = await app.database.db.redemption.findMany({ where: { businessId }, orderBy: { code: 'asc' } })
  t.deepEqual(
    after.map(({ code, status }) => `${code} ${status}`),
    ['D0NE0001 completed', 'HE1D0001 pending', 'PEND0001 cancelled', 'THERS001 pending'],
  )
  const account = await app.database.db.customer.findUniqueOrThrow({
    where: { businessId_id: { businessId, id: user_id } },
  })
  t.like(account, { balance: 10, held: 10 })
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
  const { user_id } = (await here.rest('POST /customers')).body.data.customer
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

async function addReward(app: TestApp, businessId: string): Promise<string> {
  const id = uuidv7()
  const now = app.clock.now()
  await app.database.db.reward.create({
    data: { businessId, id, name: 'Coffee', pointsCost: 5, createdAt: now, updatedAt: now },
  })
  return id
}

/** Redemptions in states that a client cannot bring about alone. */
const addRedemption =
  (app: TestApp, businessId: string, rewardId: string) =>
  (
    code: string,
    customerId: string,
    status: 'pending' | 'completed',
    deliveryMode: 'in_store' | 'digital',
  ) => {
    const now = app.clock.now()
    const fixed = { rewardName: 'Coffee', type: 'item', pointsCost: 5, cashbackCents: 0 } as const
    return app.database.db.redemption.create({
      data: {
        ...{ businessId, id: uuidv7(), code, rewardId, customerId, status, deliveryMode, ...fixed },
        createdAt: now,
        completedAt: status === 'completed' ? now : null,
      },
    })
  }
