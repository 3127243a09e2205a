import test from 'ava'
import { createTenant, startApp, testClock } from '../helpers/app.js'
import { createCustomer } from '../helpers/factories.js'
import { statementsDuring } from '../helpers/statements.js'

const DAY_MS = 24 * 60 * 60 * 1000
const NOBODY = '0190a0a0-0000-7000-8000-000000000001'

test('a customer is kept as sent and read the same by user id, by identifier, by look-up and in the list', async (t) => {
  const clock = testClock('2026-05-04T10:00:00Z')
  const { rest, graph } = await createTenant(await startApp(t, { clock }))
  const referrer = await rest('POST /customers')
  const sent = {
    display_name: '  Zoë 🦄 \u202eÅngström ',
    email: 'zoë+club@café.example',
    phone: '+49 (170) 123-45.67',
    birthday: '--02-29',
    language: 'zh-Hant-TW',
    referred_by: referrer.body.data.customer.user_id,
    joined_at: '2019-03-01T09:30:00.250+02:00',
  }
  const created = await rest('POST /customers', {
    ...sent,
    identifiers: [{ value: 'crm-7 ☕', label: 'CRM' }, { value: 'till-7' }],
  })
  t.is(created.status, 201)
  t.is(created.body.message, 'Customer created successfully')
  const { customer } = created.body.data
  t.like(customer, {
    ...sent,
    joined_at: '2019-03-01T07:30:00.250Z',
    created_at: '2026-05-04T10:00:00.000Z',
    tier_id: null,
    balance: 0,
    identifiers: [
      { value: 'crm-7 ☕', label: 'CRM' },
      { value: 'till-7', label: null },
    ],
  })
  t.deepEqual(Object.keys(customer), [
    ...['user_id', 'display_name', 'email', 'phone', 'birthday', 'language', 'referred_by', 'tier_id'],
    ...['balance', 'identifiers', 'joined_at', 'created_at'],
  ])

  const id = customer.user_id
  for (const path of [
    `/customers/${id}`,
    `/customers/${id.toUpperCase()}`,
    `/customers/${encodeURIComponent('crm-7 ☕')}`,
    `/customers/lookup?user_id=${id}`,
    '/customers/lookup?identifier=till-7',
  ]) {
    const read = await rest(`GET ${path}`)
    t.is(read.status, 200, path)
    t.deepEqual(read.body.data, { customer }, path)
  }
  const listed = await rest('GET /customers?search=till-7')
  t.deepEqual(listed.body.data.customers, [customer])

  const { data } = await graph(
    `query ($key: String!) { customer(customer: $key) { id displayName tier { id } visitCount lastVisitAt } }`,
    { key: 'till-7' },
  )
  t.deepEqual(data.customer, {
    id,
    displayName: sent.display_name,
    tier: null,
    visitCount: 0,
    lastVisitAt: null,
  })
})

test('nothing is required of a new customer, and null is the same as leaving out', async (t) => {
  const clock = testClock('2026-05-04T10:00:00Z')
  const { rest } = await createTenant(await startApp(t, { clock }))
  const nulls = { display_name: null, email: null, referred_by: null, joined_at: null, identifiers: null }
  for (const body of [undefined, {}, nulls]) {
    const { status, body: answer } = await rest('POST /customers', body)
    t.is(status, 201)
    t.like(answer.data.customer, {
      display_name: null,
      birthday: null,
      identifiers: [],
      joined_at: '2026-05-04T10:00:00.000Z',
    })
  }
})

test('a change leaves what is absent, clears what is null, and refuses what cannot be changed by name', async (t) => {
  const { rest } = await createTenant(await startApp(t))
  const created = await rest('POST /customers', {
    display_name: 'Ada',
    email: 'ada@example.com',
    birthday: '1990-12-10',
    identifiers: [{ value: 'ada' }],
  })
  const { user_id, ...before } = created.body.data.customer

  const changed = await rest('PATCH /customers/ada', {
    email: null,
    phone: '110',
    joined_at: '2020-01-01T00:00:00Z',
  })
  t.is(changed.status, 200)
  const after = { user_id, ...before, email: null, phone: '110', joined_at: '2020-01-01T00:00:00.000Z' }
  t.deepEqual(changed.body.data.customer, after)
  t.deepEqual((await rest(`GET /customers/${user_id}`)).body.data.customer, after)

  const empty = await rest(`PATCH /customers/${user_id}`, {})
  t.is(empty.status, 400)
  t.is(empty.body.error.message, 'Provide at least one field to change')
  const readOnly = { user_id, balance: 5, tier_id: null, identifiers: [], created_at: null, nickname: 'A' }
  const refused = await rest(`PATCH /customers/${user_id}`, { display_name: 'Eve', ...readOnly })
  t.is(refused.status, 400)
  for (const field of Object.keys(readOnly))
    t.regex(refused.body.error.message, new RegExp(`${field}: unknown field`))
  const cleared = await rest(`PATCH /customers/${user_id}`, { joined_at: null })
  t.regex(cleared.body.error.message, /^joined_at: /)
  t.deepEqual((await rest(`GET /customers/${user_id}`)).body.data.customer, after)
})

test('a referrer is another customer of the same business', async (t) => {
  const app = await startApp(t)
  const { rest } = await createTenant(app)
  const stranger = await (await createTenant(app)).rest('POST /customers')
  const { user_id } = await createCustomer({ rest })
  const notOurs = 'referred_by: must be the user id of a customer'
  for (const referred_by of [NOBODY, stranger.body.data.customer.user_id]) {
    for (const request of ['POST /customers', `PATCH /customers/${user_id}`]) {
      const refused = await rest(request, { referred_by })
      t.is(refused.status, 400)
      t.is(refused.body.error.message, notOurs)
    }
  }
  const self = await rest(`PATCH /customers/${user_id}`, { referred_by: user_id })
  t.is(self.body.error.message, 'referred_by: must be another customer')
})

test('the list is newest first, pages by limit and offset, and counts exactly', async (t) => {
  const clock = testClock()
  const { rest, graph } = await createTenant(await startApp(t, { clock }))
  const names = ['a', 'b', 'c', 'd', 'e']
  for (const display_name of names) {
    await rest('POST /customers', { display_name })
    if (display_name !== 'b') clock.advance(1000)
  }
  const shown = (answer: { body: { data: { customers: { display_name: string }[] } } }) =>
    answer.body.data.customers.map((customer) => customer.display_name).join('')
  const all = await rest('GET /customers')
  t.is(shown(all), 'edcba')
  t.deepEqual(all.body.data.pagination, { limit: 50, offset: 0, returned: 5, total_count: 5 })
  const page = await rest('GET /customers?limit=2&offset=3')
  t.is(shown(page), 'ba')
  t.deepEqual(page.body.data.pagination, { limit: 2, offset: 3, returned: 2, total_count: 5 })
  const past = await rest('GET /customers?offset=9')
  t.deepEqual(past.body.data.pagination, { limit: 50, offset: 9, returned: 0, total_count: 5 })

  let walked = ''
  let after: string | null = null
  do {
    const { data } = await graph(
      `query ($after: String) { customers(first: 2, after: $after) {
         nodes { displayName } edges { node { balance identifiers { value } } } pageInfo { hasNextPage endCursor } } }`,
      { after },
    )
    for (const { displayName } of data.customers.nodes) walked += displayName
    after = data.customers.pageInfo.hasNextPage ? data.customers.pageInfo.endCursor : null
  } while (after)
  t.is(walked, 'edcba')
})

test('search finds a part of name, e-mail, phone or identifier in any case, and wildcards only literally', async (t) => {
  const { rest } = await createTenant(await startApp(t))
  const people = {
    name: { display_name: '100% Ärger_frei\\' },
    email: { email: 'Grace.Hopper@Navy.example' },
    phone: { phone: '+1 555-0100' },
    identifier: { identifiers: [{ value: 'CRM/47' }, { value: 'crm/48' }] },
  }
  const ids: Record<string, string> = {}
  for (const [name, body] of Object.entries(people)) {
    const created = await rest('POST /customers', body)
    ids[created.body.data.customer.user_id] = name
  }
  const finds = async (search: string) => {
    const { status, body } = await rest(`GET /customers?search=${encodeURIComponent(search)}`)
    t.is(status, 200, search)
    t.is(body.data.pagination.total_count, body.data.customers.length)
    return body.data.customers.map(({ user_id }: { user_id: string }) => ids[user_id])
  }
  t.deepEqual(await finds('äRGER'), ['name'])
  t.deepEqual(await finds('hopper@NAVY'), ['email'])
  t.deepEqual(await finds('555-01'), ['phone'])
  t.deepEqual(await finds('rm/4'), ['identifier'])
  t.deepEqual(await finds('%'), ['name'])
  t.deepEqual(await finds('r_f'), ['name'])
  t.deepEqual(await finds('r_e'), [])
  t.deepEqual(await finds('\\'), ['name'])
  t.deepEqual(await finds('nobody'), [])
  t.is((await rest('GET /customers?search=')).status, 400)
  t.is((await rest('GET /customers?search=%00')).status, 400)
})

test('a look-up wants exactly one of user_id and identifier', async (t) => {
  const { rest } = await createTenant(await startApp(t))
  const both = await rest(`GET /customers/lookup?user_id=${NOBODY}&identifier=x`)
  for (const refused of [both, await rest('GET /customers/lookup')]) {
    t.is(refused.status, 400)
    t.is(refused.body.error.message, 'Provide exactly one of user_id or identifier.')
  }
  t.is((await rest('GET /customers/lookup?user_id=x')).body.error.message, 'user_id: must be a UUID')
  t.is((await rest('GET /customers/lookup?identifier=x')).status, 404)
})

test('the balance is what can be used: expired points are gone before any sweep', async (t) => {
  const clock = testClock('2026-01-10T12:00:00Z')
  const { rest, graph } = await createTenant(await startApp(t, { clock }))
  await rest('PATCH /settings', { points_expire_after_days: 30 })
  await rest('POST /customers', { identifiers: [{ value: 'x' }] })
  await rest('POST /points/issue', { identifier: 'x', points: 40 })
  const balances = async () => {
    const { data } = await graph('{ customers { nodes { balance } } }')
    const read = await rest('GET /customers/x')
    return [read.body.data.customer.balance, data.customers.nodes[0].balance]
  }
  t.deepEqual(await balances(), [40, 40])
  clock.advance(31 * DAY_MS)
  t.deepEqual(await balances(), [0, 0])
})

test("another business's customer answers exactly as nobody does, on every route", async (t) => {
  const app = await startApp(t)
  const { rest } = await createTenant(app)
  const other = await createTenant(app)
  const theirs = await other.rest('POST /customers', { identifiers: [{ value: 'shared' }] })
  const { user_id, identifiers } = theirs.body.data.customer
  const identifierId = identifiers[0].id
  const routes = (customer: string): [string, unknown?][] => [
    [`GET /customers/${customer}`],
    [`PATCH /customers/${customer}`, { display_name: 'x' }],
    [`DELETE /customers/${customer}`],
    [`GET /customers/${customer}/identifiers`],
    [`POST /customers/${customer}/identifiers`, { value: 'y' }],
    [`PATCH /customers/${customer}/identifiers/${identifierId}`, { value: 'y' }],
    [`DELETE /customers/${customer}/identifiers/${identifierId}`],
  ]
  const nobody =
    '{"success":false,"error":{"message":"Customer not found. Check the user_id or identifier."}}'
  for (const customer of [NOBODY, user_id, 'shared', 'not-attached', '%00', '%E0%A4%A', 'x'.repeat(5000)]) {
    for (const [request, body] of routes(customer)) {
      const answer = await rest(request, body)
      t.is(answer.status, 404, request)
      t.is(answer.text, nobody, request)
    }
  }
  for (const query of [`user_id=${user_id}`, 'identifier=shared'])
    t.is((await rest(`GET /customers/lookup?${query}`)).text, nobody)

  for (const query of ['', '?search=shared'])
    t.is((await rest(`GET /customers${query}`)).body.data.pagination.total_count, 0)

  // What is taken there is free here, and an identifier's id leads nowhere from another customer.
  const ours = await rest('POST /customers', { identifiers: [{ value: 'shared' }] })
  t.is(ours.status, 201)
  const elsewhere = ours.body.data.customer.user_id
  await rest('POST /customers', { identifiers: [{ value: 'neighbour' }] })
  const ofNeighbour = (await rest('GET /customers/neighbour/identifiers')).body.data.identifiers[0].id
  for (const id of [identifierId, ofNeighbour]) {
    for (const [request, body] of [['PATCH', { value: 'y' }], ['DELETE']] as const) {
      const crossed = await rest(`${request} /customers/${elsewhere}/identifiers/${id}`, body)
      t.is(crossed.text, '{"success":false,"error":{"message":"Identifier not found"}}')
    }
  }
  t.deepEqual((await other.rest('GET /customers/shared')).body.data.customer, theirs.body.data.customer)
})

test('a list with identifiers and balances is four statements, however many customers there are', async (t) => {
  const app = await startApp(t)
  const { rest } = await createTenant(app)
  const add = (n: number) =>
    rest('POST /customers', { identifiers: [{ value: `a${n}` }, { value: `b${n}` }] })
  const count = async () => {
    const statements = await statementsDuring(app, () => rest('GET /customers'))
    return statements.map((text) => /FROM "public"\."(\w+)"/.exec(text)?.[1]).sort()
  }
  await add(0)
  const expected = ['businesses', 'customer_identifiers', 'customers', 'customers']
  t.deepEqual(await count(), expected)
  for (let n = 1; n < 20; n++) await add(n)
  t.deepEqual(await count(), expected)
})
