import test from 'ava'
import { createTenant, restClient, startApp } from '../helpers/app.js'
import { createCustomer } from '../helpers/factories.js'
import { untilWaiting } from '../helpers/locks.js'

test('an identifier is attached, changed, listed and detached', async (t) => {
  const { rest, graph } = await createTenant(await startApp(t))
  const { user_id } = await createCustomer({ rest })
  const added = await rest(`POST /customers/${user_id}/identifiers`, { value: 'till-1', label: 'Till' })
  t.is(added.status, 201)
  t.is(added.body.message, 'Identifier added successfully')
  const { identifier } = added.body.data
  t.deepEqual(Object.keys(identifier), ['id', 'value', 'label', 'created_at'])
  t.like(identifier, { value: 'till-1', label: 'Till' })

  // By the value itself from now on, also to add the next one.
  const second = await rest('POST /customers/till-1/identifiers', { value: 'web-1' })
  t.is(second.body.data.identifier.label, null)
  const relabelled = await rest(`PATCH /customers/web-1/identifiers/${identifier.id}`, { label: null })
  t.deepEqual(relabelled.body.data.identifier, { ...identifier, label: null })
  const renamed = await rest(`PATCH /customers/${user_id}/identifiers/${identifier.id.toUpperCase()}`, {
    value: 'till-2',
    label: '',
  })
  t.deepEqual(renamed.body.data.identifier, { ...identifier, value: 'till-2', label: '' })
  t.is((await rest('GET /customers/till-1')).status, 404)
  const listed = await rest('GET /customers/till-2/identifiers')
  t.deepEqual(listed.body.data, { identifiers: [renamed.body.data.identifier, second.body.data.identifier] })

  const deleted = await rest(`DELETE /customers/${user_id}/identifiers/${identifier.id}`)
  t.is(deleted.status, 200)
  t.deepEqual(deleted.body.data, {})
  t.is((await rest('GET /customers/till-2')).status, 404)
  const again = await rest(`DELETE /customers/${user_id}/identifiers/${identifier.id}`)
  t.is(again.status, 404)
  t.is(again.body.error.message, 'Identifier not found')
  t.is((await rest(`PATCH /customers/${user_id}/identifiers/x`, { value: 'y' })).text, again.text)

  const { data, errors } = await graph(
    `mutation ($customer: String!, $id: UUID!) {
       deleteIdentifier(input: { customer: $customer, id: $id }) { id }
       addIdentifier(input: { customer: $customer, value: "till-2" }) { value label }
     }`,
    { customer: user_id, id: second.body.data.identifier.id },
  )
  t.is(errors, undefined)
  t.deepEqual(data.deleteIdentifier, { id: second.body.data.identifier.id })
  t.deepEqual(data.addIdentifier, { value: 'till-2', label: null })
})

test('a value belongs to one customer of a business, byte for byte', async (t) => {
  const { rest } = await createTenant(await startApp(t))
  // One letter in two normal forms, in two cases, with a blank at its end: all different bytes.
  const values = ['caf\u00e9', 'cafe\u0301', 'CAF\u00c9', 'caf\u00e9 ', 'x']
  const owners = new Map<string, string>()
  for (const value of values) {
    const created = await rest('POST /customers', { identifiers: [{ value }] })
    t.is(created.status, 201, value)
    owners.set(value, created.body.data.customer.user_id)
  }
  for (const [value, owner] of owners) {
    const read = await rest(`GET /customers/${encodeURIComponent(value)}`)
    t.is(read.body.data.customer.user_id, owner, value)
    const free = (await rest('POST /customers', { identifiers: [{ value: `free-${owner}` }] })).body.data
      .customer
    for (const taken of [
      await rest('POST /customers', { identifiers: [{ value: 'unused' }, { value }] }),
      await rest(`POST /customers/${free.user_id}/identifiers`, { value }),
      await rest(`PATCH /customers/${free.user_id}/identifiers/${free.identifiers[0].id}`, { value }),
      await rest(`POST /customers/${owner}/identifiers`, { value }, { 'Idempotency-Key': owner }),
      await rest(`POST /customers/${owner}/identifiers`, { value }, { 'Idempotency-Key': owner }),
    ]) {
      t.is(taken.status, 409)
      t.is(taken.body.error.message, 'IDENTIFIER_TAKEN')
    }
  }
  t.is((await rest('GET /customers/unused')).status, 404)
  // The five, and the five that tried to take over from them: no refused customer was left behind.
  t.is((await rest('GET /customers')).body.data.pagination.total_count, 10)
})

test('any value that is allowed addresses its customer in a path', async (t) => {
  const { rest } = await createTenant(await startApp(t))
  const values = [
    ...[
      'a/b',
      '/',
      'a//b/',
      'identifiers',
      'balance',
      'a b',
      ' ',
      'a+b',
      'a%2Fb',
      '100%',
      '...',
      '.a.',
      'a?b=c#d',
    ],
    ...['ключ-☕-🦄', 'a:b@c', "'; DROP TABLE customers; --", 'lookups', 'x'.repeat(200), '🦄'.repeat(200)],
  ]
  for (const value of values) {
    const created = await rest('POST /customers', { identifiers: [{ value }] })
    t.is(created.status, 201, value)
    const { customer } = created.body.data
    const path = `/customers/${encodeURIComponent(value)}`
    t.deepEqual((await rest(`GET ${path}`)).body.data, { customer }, value)
    t.is((await rest(`GET ${path}/balance`)).body.data.user_id, customer.user_id, value)
    const label = await rest(`PATCH ${path}/identifiers/${customer.identifiers[0].id}`, { label: 'L' })
    t.is(label.body.data.identifier.value, value)
    const found = await rest(`GET /customers/lookup?identifier=${encodeURIComponent(value)}`)
    t.is(found.body.data.customer.user_id, customer.user_id, value)
  }
})

test('of many who claim one value at once on two instances one gets it, and the others leave nothing', async (t) => {
  const one = await startApp(t)
  const two = await startApp(t, { beside: one })
  const here = await createTenant(one)
  const there = restClient(two.url, here.key)
  const owner = await createCustomer(here, { identifiers: [{ value: 'old' }] })
  const adder = await createCustomer(here)
  const before = 2

  const attempts = Array.from({ length: 24 }, (_, n) => {
    const rest = n % 2 === 0 ? here.rest : there
    const headers: Record<string, string> = n % 4 < 2 ? {} : { 'Idempotency-Key': `attempt-${n}` }
    if (n % 3 === 0)
      return rest('POST /customers', { identifiers: [{ value: `u${n}` }, { value: 'one' }] }, headers)
    if (n % 3 === 1) return rest(`POST /customers/${adder.user_id}/identifiers`, { value: 'one' }, headers)
    const path = `/customers/${owner.user_id}/identifiers/${owner.identifiers[0].id}`
    return rest(`PATCH ${path}`, { value: 'one', label: String(n) }, headers)
  })
  const answers = await Promise.all(attempts)
  // Changing an identifier to the value it has already is no conflict: the winner may win again.
  const winners = answers.flatMap((answer, n) => (answer.status < 300 ? [n] : []))
  const kinds = new Set(winners.map((n) => n % 3))
  t.is(kinds.size, 1)
  if (!kinds.has(2)) t.is(winners.length, 1)
  for (const answer of answers) if (answer.status >= 300) t.is(answer.text, TAKEN)

  const { total_count } = (await here.rest('GET /customers')).body.data.pagination
  t.is(total_count, kinds.has(0) ? before + 1 : before)
  const values = await one.database.db.identifier.count({ where: { value: 'one' } })
  t.is(values, 1)
})

test('a claim that runs into a deadlock is tried again and then refused as taken', async (t) => {
  const app = await startApp(t)
  const { rest, businessId } = await createTenant(app)
  const { user_id } = await createCustomer({ rest })
  const rival = await app.database.pool.connect()
  t.teardown(() => rival.release())
  const claim = (value: string) =>
    rival.query(
      `INSERT INTO customer_identifiers (business_id, id, customer_id, value, created_at)
       VALUES ($1, gen_random_uuid(), $2, $3, now())`,
      [businessId, user_id, value],
    )
  await rival.query('BEGIN')
  await claim('b')
  const answer = rest('POST /customers', { identifiers: [{ value: 'a' }, { value: 'b' }] })
  await untilWaiting(app, 1)
  // Ours waits for b, the rival now waits for a: PostgreSQL ends the one that notices, which waited first.
  await claim('a')
  await rival.query('COMMIT')
  t.is((await answer).text, TAKEN)
  t.is((await rest('GET /customers')).body.data.pagination.total_count, 1)
})

const TAKEN = '{"success":false,"error":{"message":"IDENTIFIER_TAKEN"}}'
