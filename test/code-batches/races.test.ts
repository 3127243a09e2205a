import test from 'ava'
import { createTenant, type RestAnswer, restClient, startApp } from '../helpers/app.js'
import { assertAudit } from '../helpers/external.js'
import { createCodes, createCustomer } from '../helpers/factories.js'
import { untilWaiting } from '../helpers/locks.js'

const range = (length: number) => Array.from({ length }, (_, index) => index)

const tally = (answers: RestAnswer[]) => {
  const counts: Record<string, number> = {}
  for (const { status, body } of answers) {
    const outcome = body.success ? String(status) : `${status} ${body.error.message}`
    counts[outcome] = (counts[outcome] ?? 0) + 1
  }
  return counts
}

/** Two instances on one database, with some customers. */
async function twoInstances(t: Parameters<typeof startApp>[0], customers: number) {
  const one = await startApp(t)
  const two = await startApp(t, { beside: one })
  const tenant = await createTenant(one)
  const clients = [tenant.rest, restClient(two.url, tenant.key)]
  const users: string[] = []
  for (const _ of range(customers)) users.push((await createCustomer(tenant)).user_id)
  return { app: one, tenant, users, on: (index: number) => clients[index % 2]! }
}

test('of 100 claims of one code at once on two instances, by ten customers, one gets the points', async (t) => {
  const { app, tenant, users, on } = await twoInstances(t, 10)
  const { batch, codes } = await createCodes(tenant)
  const answers = await Promise.all(
    range(100).map((n) =>
      on(n)('POST /codes/claim', { user_id: users[Math.floor(n / 2) % 10], code: codes[0] }),
    ),
  )
  t.deepEqual(tally(answers), { 200: 1, '409 CODE_ALREADY_CLAIMED': 99 })
  const { body } = await tenant.rest(`GET /code-batches/${batch.id}`)
  t.like(body.data.batch, { claimed: 1, remaining: 0, points_issued: 10 })
  t.is((await tenant.rest('GET /transactions')).body.data.pagination.total_count, 1)
  await assertAudit(app)
})

test('every code of a batch that many claim at once is given, each once', async (t) => {
  const { app, tenant, users, on } = await twoInstances(t, 10)
  const { batch, codes } = await createCodes(tenant, { quantity: 60 })
  const answers = await Promise.all(
    range(120).map((n) => on(n)('POST /codes/claim', { user_id: users[n % 10], code: codes[n % 60] })),
  )
  t.deepEqual(tally(answers), { 200: 60, '409 CODE_ALREADY_CLAIMED': 60 })
  const { body } = await tenant.rest(`GET /code-batches/${batch.id}`)
  t.like(body.data.batch, { claimed: 60, remaining: 0, points_issued: 600 })
  await assertAudit(app)
})

test('a claim that meets the switching off of its batch gives nothing', async (t) => {
  const { app, tenant, users, on } = await twoInstances(t, 1)
  const { batch, codes } = await createCodes(tenant)
  const client = await app.database.pool.connect()
  try {
    await client.query('BEGIN')
    await client.query('UPDATE code_batches SET active = false WHERE id = $1', [batch.id])
    const claim = on(0)('POST /codes/claim', { user_id: users[0], code: codes[0] })
    await untilWaiting(app, 1)
    await client.query('COMMIT')
    t.deepEqual(tally([await claim]), { '409 BATCH_INACTIVE': 1 })
  } finally {
    client.release()
  }
  const { body } = await tenant.rest(`GET /code-batches/${batch.id}`)
  t.like(body.data.batch, { claimed: 0, active: false })
  t.is((await tenant.rest('GET /transactions')).body.data.pagination.total_count, 0)
  await assertAudit(app)
})
