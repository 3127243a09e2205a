import test from 'ava'
import { createTenant, startApp } from '../helpers/app.js'

test('smoke', async (t) => {
  const app = await startApp(t)
  const { rest, graph, businessId } = await createTenant(app)
  const me = await rest('GET /me')
  console.log(me.status, me.text, [...me.headers])
  const id = '0190a0a0-0000-7000-8000-000000000001'
  await app.database.db.customer.create({ data: { businessId, id, joinedAt: new Date(), createdAt: new Date(), updatedAt: new Date() } })
  console.log((await rest('POST /points/issue', { user_id: id, amount: '12.50' }, { 'Idempotency-Key': 'a' })).text)
  const again = await rest('POST /points/issue', { amount: '12.50', user_id: id }, { 'Idempotency-Key': 'a' })
  console.log(again.text, again.headers.get('idempotency-replayed'))
  console.log((await rest('POST /points/issue', { user_id: id, points: 0, foo: 1, amount: 'x', occurred_at: 'y' })).text)
  console.log((await rest('POST /points/redeem', { user_id: id, points: 100 }, { 'Idempotency-Key': 'b' })).text)
  console.log((await rest('POST /points/redeem', { user_id: id, points: 2 }, { 'Idempotency-Key': 'c' })).text)
  console.log((await rest('GET /transactions?limit=1')).text)
  console.log((await rest('GET /transactions?limit=1000&foo=1&type=x')).text)
  console.log((await rest(`GET /customers/${id}/balance`)).text)
  console.log((await rest(`GET /customers/nobody/balance`)).text)
  console.log((await rest(`PATCH /settings`, { timezone: 'Europe/Berlin', points_expire_after_days: 30 })).text)
  console.log((await rest(`PATCH /settings`, { timezone: '+02:00', currency: 'ABC', foo: null })).text)
  console.log((await rest(`PUT /settings`, {})).text, (await rest(`GET /nope`)).text)
  console.log(JSON.stringify(await graph(`{ viewer { business { name } } transactions(first: 1) { totalCount nodes { id points } pageInfo { hasNextPage endCursor } } }`)))
  console.log(JSON.stringify(await graph(`mutation { issuePoints(input: { userId: "${id}", points: 0 }) { balance { balance } } }`)))
  t.pass()
})
