import test from 'ava'
import { audit } from '../../src/audit/audit.js'
import { createTenant, restClient, startApp, testClock } from '../helpers/app.js'
import { createCustomer, createPromotion } from '../helpers/factories.js'

const clock = testClock('2026-06-10T10:00:00Z')
const app = await startApp({ teardown: (end) => test.after.always(end) }, { clock })

const range = (length: number) => Array.from({ length }, (_, index) => index)
const missing = '01890000-0000-7000-8000-000000000000'

test('a promotion shows what was sent and where it stands, in lists, alone and after a change', async (t) => {
  const { rest, businessId } = await createTenant(app)
  const plain = await createPromotion({ rest }, { name: 'Autumn 🍂', points_multiplier: null })
  const created = await createPromotion(
    { rest },
    {
      name: 'Double',
      description: 'Twice',
      start_date: '2026-06-11',
      end_date: '2026-06-12',
      active: false,
      points_multiplier: '1.50',
    },
  )
  t.deepEqual(created, {
    id: created.id,
    business_id: businessId,
    name: 'Double',
    description: 'Twice',
    start_date: '2026-06-11',
    end_date: '2026-06-12',
    active: false,
    status: 'scheduled',
    points_multiplier: '1.5',
    image_url: null,
    interested_count: 0,
    created_at: '2026-06-10T10:00:00.000Z',
    updated_at: '2026-06-10T10:00:00.000Z',
  })
  t.deepEqual((await rest('GET /promotions')).body.data, { promotions: [created, plain] })
  t.deepEqual((await rest(`GET /promotions/${created.id}`)).body.data, { promotion: created })

  const change = { start_date: null, active: true, points_multiplier: null }
  const { body } = await rest(`PATCH /promotions/${created.id}`, change)
  t.deepEqual(body.data.promotion, { ...created, ...change, status: 'active' })
})

for (const [field, refused, message] of [
  ['name', ['', 'x'.repeat(201), null], /^name: /],
  ['description', ['x'.repeat(5001), 'a\0b'], /^description: /],
  ['start_date', ['2026-02-30', '10.06.2026', 1], /^start_date: must be a date/],
  ['end_date', ['2026-13-01', ''], /^end_date: must be a date/],
  ['active', [null, 'yes'], /^active: must be true or false/],
  ['points_multiplier', ['1.09', '10.01', '0', '11'], /^points_multiplier: must be from 1.1 to 10/],
  ['points_multiplier', ['1.234', 'x', '-2', 2, '100.5'], /^points_multiplier: must be a decimal string/],
  ['status', ['active'], /^status: unknown field/],
  ['interested_count', [1], /^interested_count: unknown field/],
] as const) {
  test(`${field} is refused by name where it is ${JSON.stringify(refused).slice(0, 40)}, when creating and changing`, async (t) => {
    const { rest } = await createTenant(app)
    const { id } = await createPromotion({ rest })
    for (const value of refused)
      for (const request of ['POST /promotions', `PATCH /promotions/${id}`]) {
        const { status, body } = await rest(request, { name: 'Double', [field]: value })
        t.is(status, 400, request)
        t.regex(body.error.message, message)
      }
  })
}

test('the bounds of a multiplier are themselves allowed', async (t) => {
  const { rest } = await createTenant(app)
  for (const [sent, shown] of [
    ['1.1', '1.1'],
    ['10.00', '10'],
  ])
    t.is((await createPromotion({ rest }, { points_multiplier: sent })).points_multiplier, shown)
})

test('an end before the start is refused under the name of the date that was sent, judged on the merged promotion', async (t) => {
  const { rest } = await createTenant(app)
  const days = { start_date: '2026-06-10', end_date: '2026-06-09' }
  const refusal = await rest('POST /promotions', { name: 'x', ...days })
  t.is(refusal.body.error.message, 'end_date: must not be before start_date')
  const { id } = await createPromotion({ rest }, { start_date: '2026-06-10', end_date: '2026-06-10' })
  const late = await rest(`PATCH /promotions/${id}`, { start_date: '2026-06-11' })
  t.is(late.body.error.message, 'start_date: must not be after end_date')
  const early = await rest(`PATCH /promotions/${id}`, { end_date: '2026-06-09' })
  t.is(early.body.error.message, 'end_date: must not be before start_date')
  t.is((await rest(`PATCH /promotions/${id}`, { start_date: '2026-06-11', end_date: null })).status, 200)
  t.is((await rest(`PATCH /promotions/${id}`, {})).body.error.message, 'Provide at least one field to change')
})

test('the status changes at midnight on the wall of the business, also where the clock is put forward', async (t) => {
  const moments = testClock()
  const own = await startApp(t, { beside: app, clock: moments })
  // On 29 March 2026 Berlin's clocks skip from 02:00 to 03:00; on 25 October they show 02:00 twice.
  for (const { timezone, day, at } of [
    { timezone: 'Europe/Berlin', day: '2026-03-29', at: ['2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z'] },
    { timezone: 'Europe/Berlin', day: '2026-10-25', at: ['2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z'] },
    {
      timezone: 'Pacific/Kiritimati',
      day: '2026-06-10',
      at: ['2026-06-09T10:00:00Z', '2026-06-10T10:00:00Z'],
    },
  ]) {
    const tenant = await createTenant(own, { timezone })
    const { id } = await createPromotion(tenant, { start_date: day, end_date: day })
    const statusAt = async (moment: number) => {
      moments.set(new Date(moment))
      return (await tenant.rest(`GET /promotions/${id}`)).body.data.promotion.status
    }
    const [start, end] = at.map((moment) => Date.parse(moment)) as [number, number]
    const seen = [
      await statusAt(start - 1),
      await statusAt(start),
      await statusAt(end - 1),
      await statusAt(end),
    ]
    t.deepEqual(seen, ['scheduled', 'active', 'active', 'ended'], `${timezone} ${day}`)
  }
})

test('a customer who marks interest any number of times, on two instances at once, counts once', async (t) => {
  const tenant = await createTenant(app)
  const beside = await startApp(t, { beside: app })
  const { id } = await createPromotion(tenant)
  const people = await Promise.all(range(4).map(() => createCustomer(tenant)))
  const clients = [tenant.rest, restClient(beside.url, tenant.key)]
  const answers = await Promise.all(
    range(32).map((index) =>
      clients[index % 2]!(`POST /promotions/${id}/interest`, { user_id: people[index % 4]!.user_id }),
    ),
  )
  t.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  t.is((await tenant.rest(`GET /promotions/${id}`)).body.data.promotion.interested_count, 4)
  const again = await tenant.rest(`POST /promotions/${id}/interest`, { user_id: people[0]!.user_id })
  t.is(again.body.data.promotion.interested_count, 4)
  const { checks } = await audit(app.database, tenant.businessId)
  t.deepEqual(
    checks.filter(({ broken }) => broken > 0),
    [],
  )
})

test('interest needs a customer and a promotion of the business', async (t) => {
  const [tenant, other] = [await createTenant(app), await createTenant(app)]
  const { id } = await createPromotion(tenant)
  const { user_id } = await createCustomer(tenant)
  const stranger = await createCustomer(other)
  const ask = async (path: string, body: object) =>
    (await tenant.rest(`POST /promotions/${path}/interest`, body)).body.error.message
  t.is(await ask(id, { user_id: stranger.user_id }), 'Customer not found. Check the user_id or identifier.')
  t.is(await ask(id, {}), 'Provide exactly one of user_id or identifier.')
  t.is(await ask(missing, { user_id }), 'Promotion not found')
  const theirs = await other.rest(`POST /promotions/${id}/interest`, { user_id: stranger.user_id })
  t.is(theirs.body.error.message, 'Promotion not found')
})

test('a deleted promotion is not found any more, by any way to ask for it, nor is it deleted twice', async (t) => {
  const tenant = await createTenant(app)
  const { id } = await createPromotion(tenant)
  const remove = 'mutation ($id: UUID!) { deletePromotion(input: { id: $id }) { id } }'
  t.is((await tenant.graph(remove, { id })).data.deletePromotion.id, id)
  t.is((await tenant.graph(remove, { id })).errors![0].extensions.code, 'PROMOTION_NOT_FOUND')
  const { user_id } = await createCustomer(tenant)
  for (const [request, body] of [
    [`GET /promotions/${id}`],
    [`PATCH /promotions/${id}`, { name: 'x' }],
    [`POST /promotions/${id}/interest`, { user_id }],
    [`DELETE /promotions/${id}/image`],
  ] as const)
    t.is((await tenant.rest(request, body)).body.error.message, 'Promotion not found', request)
  t.deepEqual((await tenant.rest('GET /promotions')).body.data.promotions, [])
})

test('an image is shown until it is taken away, and the promotion says where', async (t) => {
  const { rest } = await createTenant(app)
  const { id } = await createPromotion({ rest })
  const pixel =
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAADElEQVQImWP4//8/AAX+Av5Y8msOAAAAAElFTkSuQmCC'
  const { body } = await rest(`POST /promotions/${id}/image`, { image_base64: pixel })
  const shown = async () => (await rest(`GET /promotions/${id}`)).body.data.promotion.image_url
  t.is(await shown(), body.data.image_url)
  const file = `${app.url}${new URL(body.data.image_url).pathname}`
  t.is((await fetch(file)).status, 200)
  t.deepEqual((await rest(`DELETE /promotions/${id}/image`)).body.data, {})
  t.is(await shown(), null)
  t.is((await fetch(file)).status, 404)
})
