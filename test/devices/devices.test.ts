import test from 'ava'
import { v7 as uuidv7 } from 'uuid'
import { createTenant, startApp, testClock } from '../helpers/app.js'
import { createTerminal, type Resource, registerDevice } from '../helpers/factories.js'

test('a device is registered unpaired, with the limits of the specification where none are given', async (t) => {
  const clock = testClock()
  const { rest } = await createTenant(await startApp(t, { clock }))
  const { device, pairing } = await registerDevice({ rest }, { device_name: 'Counter 1' })
  t.deepEqual(device, {
    id: device.id,
    device_name: 'Counter 1',
    location_id: null,
    min_points: 1,
    max_points: 100_000,
    status: 'unpaired',
    logged_in: false,
    last_active_at: null,
    paired_at: null,
    created_at: clock.now().toISOString(),
  })
  t.deepEqual(Object.keys(pairing), ['code', 'qr', 'expires_at'])
  t.is(Date.parse(pairing.expires_at), clock.now().getTime() + 600_000)
  const location_id = uuidv7()
  const other = await registerDevice({ rest }, { location_id, min_points: 0, max_points: 1_000_000 })
  t.like(other.device, { location_id, min_points: 0, max_points: 1_000_000 })
})

test('the list has all devices of the business and of no other, newest first, with what became of each', async (t) => {
  const clock = testClock()
  const app = await startApp(t, { clock })
  const tenant = await createTenant(app)
  await registerDevice(await createTenant(app))
  const unpaired = await registerDevice(tenant)
  clock.advance(1)
  const paired = await createTerminal(app, tenant)
  clock.advance(1)
  const revoked = await createTerminal(app, tenant)
  const gone = await tenant.rest(`DELETE /devices/${revoked.device.id}`)
  const { data } = (await tenant.rest('GET /devices')).body
  t.deepEqual(data.devices, [gone.body.data.device, paired.device, unpaired.device])
  t.deepEqual(
    data.devices.map(({ status, logged_in }: Resource) => [status, logged_in]),
    [
      ['revoked', false],
      ['paired', true],
      ['unpaired', false],
    ],
  )
})

test('a name is given once, also of many at once; another business and a revoked device do not count', async (t) => {
  const app = await startApp(t)
  const tenant = await createTenant(app)
  const named = { device_name: 'Counter 1' }
  await registerDevice(await createTenant(app), named)
  const answers = await Promise.all(Array.from({ length: 6 }, () => tenant.rest('POST /devices', named)))
  t.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409, 409, 409, 409])
  const taken = '{"success":false,"error":{"message":"DEVICE_NAME_TAKEN"}}'
  t.true(answers.every(({ status, text }) => status === 201 || text === taken))
  const { id } = answers.find(({ status }) => status === 201)!.body.data.device
  const { device } = await registerDevice(tenant, { device_name: 'Counter 2' })
  const renamed = await tenant.rest(`PATCH /devices/${device.id}`, named, { 'idempotency-key': 'rename' })
  t.is(renamed.text, taken)
  t.is((await tenant.rest(`PATCH /devices/${id}`, named)).status, 200, 'its own name')
  await tenant.rest(`DELETE /devices/${id}`)
  t.is((await tenant.rest(`PATCH /devices/${device.id}`, named)).status, 200)
})

test('a change keeps what it does not name, and limits are judged together with those that stay', async (t) => {
  const { rest } = await createTenant(await startApp(t))
  const { device } = await registerDevice({ rest }, { min_points: 10, max_points: 20 })
  const patch = (change: object) => rest(`PATCH /devices/${device.id}`, change)
  for (const change of [{ min_points: 21 }, { max_points: 9 }, { min_points: 9, max_points: 8 }]) {
    const { status, body } = await patch(change)
    t.deepEqual([status, body.error.message], [400, 'max_points: must be at least min_points'])
  }
  const location_id = uuidv7()
  const changed = await patch({ min_points: 20, location_id })
  t.deepEqual(changed.body.data.device, { ...device, min_points: 20, location_id })
  t.is((await patch({ location_id: null })).body.data.device.location_id, null)
  t.is((await patch({})).body.error.message, 'Provide at least one field to change')
})

const bounds: [Record<string, unknown>, string][] = [
  [{ device_name: '' }, 'device_name: must not be empty'],
  [{ device_name: 'x'.repeat(201) }, 'device_name: must have at most 200 characters'],
  [{ device_name: null }, 'device_name: must be a string'],
  [{ location_id: 'shop' }, 'location_id: must be a UUID'],
  [{ min_points: -1 }, 'min_points: must be at least 0'],
  [{ min_points: 1_000_001, max_points: 1_000_000 }, 'min_points: must be at most 1000000'],
  [{ max_points: 0 }, 'max_points: must be at least 1'],
  [{ max_points: 1_000_001 }, 'max_points: must be at most 1000000'],
  [{ min_points: 1.5 }, 'min_points: must be an integer'],
  [{ min_points: 6, max_points: 5 }, 'max_points: must be at least min_points'],
  [{ status: 'paired' }, 'status: unknown field'],
]

test('every bound of a device is refused by name, in registering and in changing', async (t) => {
  const { rest } = await createTenant(await startApp(t))
  const { device } = await registerDevice({ rest })
  for (const [fields, message] of bounds) {
    const registered = await rest('POST /devices', { device_name: 'Counter', ...fields })
    t.is(registered.status, 400, registered.text)
    t.true(registered.body.error.message.includes(message), registered.text)
    const changed = await rest(`PATCH /devices/${device.id}`, fields)
    t.is(changed.status, 400, changed.text)
    t.true(changed.body.error.message.includes(message), changed.text)
  }
  t.is((await rest('POST /devices', {})).body.error.message, 'device_name: required')
})

test('a revoked device stays so: it is neither changed nor paired, and revoking it again changes nothing', async (t) => {
  const clock = testClock()
  const { rest } = await createTenant(await startApp(t, { clock }))
  const { device } = await registerDevice({ rest })
  const first = await rest(`DELETE /devices/${device.id}`)
  t.deepEqual(first.body.data.device, { ...device, status: 'revoked' })
  clock.advance(60_000)
  t.is((await rest(`DELETE /devices/${device.id}`)).text, first.text)
  for (const answer of [
    await rest(`PATCH /devices/${device.id}`, { max_points: 5 }),
    await rest(`POST /devices/${device.id}/pairing-qr`),
  ])
    t.deepEqual([answer.status, answer.body.error.message], [409, 'DEVICE_REVOKED'])
})

test('activity is noted once a minute, however much a terminal asks', async (t) => {
  const clock = testClock('2026-03-01T10:00:30.500Z')
  const app = await startApp(t, { clock })
  const tenant = await createTenant(app)
  const { rest } = await createTerminal(app, tenant)
  const ask = () => rest('GET /customers/nobody/balance')
  const { pool } = app.database
  const notes: unknown[] = []
  const query = pool.query
  pool.query = ((...args: unknown[]) => {
    const { text } = args[0] as { text: string }
    if (text.includes('last_active_at =')) notes.push(text)
    return (query as (...args: unknown[]) => unknown).apply(pool, args)
  }) as typeof pool.query
  const noted = async () => (await tenant.rest('GET /devices')).body.data.devices[0].last_active_at
  const eventually = async (moment: string) => {
    while ((await noted()) !== moment) await new Promise((resolve) => setTimeout(resolve, 5))
  }
  await Promise.all(Array.from({ length: 8 }, ask))
  await eventually('2026-03-01T10:00:00.000Z')
  clock.advance(29_000)
  await ask()
  t.is(notes.length, 1)
  clock.advance(1_000)
  await ask()
  await eventually('2026-03-01T10:01:00.000Z')
  t.is(notes.length, 2)
})
