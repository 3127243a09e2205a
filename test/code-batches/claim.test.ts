import test from 'ava'
import { checkCharacter } from '../../src/code-batches/code.rules.js'
import { createTenant, restClient, startApp, testClock } from '../helpers/app.js'
import { assertAudit, said } from '../helpers/external.js'
import { createCodes, createCustomer } from '../helpers/factories.js'

const app = await startApp({ teardown: (end) => test.after.always(end) })
const key = (value: string) => ({ 'idempotency-key': value })
const range = (length: number) => Array.from({ length }, (_, index) => index)

/** A code in its own right that no batch has. */
const unknownCode = (prefix: string) => `${prefix}-00000000000${checkCharacter('00000000000')}`

test('a claim gives the points of the code, as an earning that is a visit and counts for tiers', async (t) => {
  const { rest, businessId } = await createTenant(app)
  const { user_id } = await createCustomer({ rest }, { identifiers: [{ value: 'card' }] })
  const { batch, codes } = await createCodes({ rest }, { points: 25, quantity: 3 })
  const claimed = await rest('POST /codes/claim', { user_id, code: codes[0] })
  t.is(said(claimed), '200 ok')
  const { transaction, balance } = claimed.body.data
  t.deepEqual(Object.keys(transaction), ['id', 'type', 'points', 'created_at'])
  t.like(transaction, { type: 'earn', points: 25 })
  t.like(balance, { user_id, balance: 25, last_visit_at: transaction.created_at })

  const typed = codes[1]!.toLowerCase().replace('-', ' ').replaceAll('0', 'o').replaceAll('1', 'l')
  t.is((await rest('POST /codes/claim', { identifier: 'card', code: ` ${typed}` })).status, 200)
  const { body } = await rest('GET /transactions')
  t.like(body.data.transactions[0], {
    source: 'code',
    status: 'completed',
    points: 25,
    user_id,
    device_id: null,
  })
  const customer = await app.database.db.customer.findFirst({ where: { businessId } })
  t.like(customer, { balance: 50, visitCount: 1, earnedPoints: 50n, spendMinor: 0n })
  const read = await rest(`GET /code-batches/${batch.id}`)
  t.like(read.body.data.batch, { claimed: 2, remaining: 1, points_issued: 50, failed_attempts: 0 })
  await assertAudit(app)
})

test('what cannot be claimed says why, and gives nothing', async (t) => {
  const clock = testClock('2026-03-01T12:00:00Z')
  const app = await startApp(t, { clock })
  const { rest } = await createTenant(app)
  const { user_id } = await createCustomer({ rest })
  const claim = (code: unknown, whom: object = { user_id }) => rest('POST /codes/claim', { code, ...whom })
  const { batch, codes } = await createCodes({ rest }, { quantity: 2 })
  const [spent, left] = codes
  await claim(spent)
  t.is(said(await claim(spent)), '409 CODE_ALREADY_CLAIMED')
  await rest(`POST /code-batches/${batch.id}/deactivate`)
  t.is(said(await claim(spent)), '409 CODE_ALREADY_CLAIMED')
  t.is(said(await claim(left)), '409 BATCH_INACTIVE')
  const expiring = await createCodes({ rest }, { quantity: 2, expires_at: '2026-03-01T13:00:00.000Z' })
  clock.set('2026-03-01T12:59:59.999Z')
  t.is((await claim(expiring.codes[0])).status, 200)
  clock.set('2026-03-01T13:00:00.000Z')
  t.is(said(await claim(expiring.codes[1])), '409 BATCH_EXPIRED')
  t.is(said(await claim(unknownCode(batch.prefix))), '404 CODE_NOT_FOUND')
  t.is(
    said(await claim(left, { user_id: batch.id })),
    '404 Customer not found. Check the user_id or identifier.',
  )
  for (const whom of [{}, { user_id, identifier: 'card' }])
    t.is(said(await claim(left, whom)), '400 Provide exactly one of user_id or identifier.')
  for (const code of [undefined, null, '', 'x'.repeat(101), 7, 'a\0b'])
    t.is((await claim(code)).status, 400, String(code))
  t.is((await rest(`GET /customers/${user_id}/balance`)).body.data.balance, 20)
  await assertAudit(app)
})

test('a code counts as failed in the batch of its prefix, whatever is wrong with the rest of it', async (t) => {
  const { rest } = await createTenant(app)
  const [one, other] = [
    await createCodes({ rest }, { prefix: 'COLA' }),
    await createCodes({ rest }, { prefix: 'LIME' }),
  ]
  const wrong = `${one.codes[0]!.slice(0, -1)}${one.codes[0]!.endsWith('7') ? '8' : '7'}`
  const suffix = one.codes[0]!.slice(5)
  for (const code of [
    unknownCode('COLA'),
    wrong,
    'c0ia-123',
    'COLA-',
    `LIME-${suffix}`,
    'MINT-1',
    suffix,
    'x',
  ]) {
    const { user_id } = await createCustomer({ rest })
    t.is(said(await rest('POST /codes/claim', { user_id, code })), '404 CODE_NOT_FOUND', code)
  }
  const failed = async (id: string) => (await rest(`GET /code-batches/${id}`)).body.data.batch.failed_attempts
  t.deepEqual([await failed(one.batch.id), await failed(other.batch.id)], [4, 1])
})

test('after ten failures in ten minutes a customer waits, on every instance, right code or not; nobody else does', async (t) => {
  const clock = testClock('2026-03-01T12:00:00Z')
  const app = await startApp(t, { clock })
  const beside = await startApp(t, { beside: app, clock })
  const tenant = await createTenant(app)
  const clients = [tenant.rest, restClient(beside.url, tenant.key)]
  const { batch, codes } = await createCodes(tenant, { quantity: 3 })
  const { user_id } = await createCustomer(tenant)
  const claim = (code: string, on = 0, whom = user_id) =>
    clients[on % 2]!('POST /codes/claim', { user_id: whom, code })
  t.is((await claim(unknownCode('FIRST'))).status, 404)
  clock.advance(60_000)
  // All at once: no more than nine more get through.
  const guesses = await Promise.all(range(20).map((n) => claim(unknownCode(batch.prefix), n)))
  t.deepEqual(
    [404, 429].map((status) => guesses.filter((answer) => answer.status === status).length),
    [9, 11],
  )
  for (const on of [0, 1]) {
    const waits = await claim(codes[0]!, on)
    t.deepEqual(waits.body, {
      success: false,
      error: {
        message: 'Too many requests, please try again later',
        type: 'RATE_LIMIT_EXCEEDED',
        retryAfter: 540,
      },
    })
    t.is(waits.headers.get('retry-after'), '540')
  }
  const { errors } = await tenant.graph(
    'mutation ($input: ClaimCodeInput!) { claimCode(input: $input) { transaction { id } } }',
    { input: { userId: user_id, code: codes[0] } },
  )
  t.like(errors![0].extensions, { code: 'RATE_LIMIT_EXCEEDED', retryAfter: 540 })
  const { user_id: patient } = await createCustomer(tenant)
  t.is((await claim(codes[1]!, 0, patient)).status, 200)
  const { body } = await tenant.rest(`GET /code-batches/${batch.id}`)
  t.like(body.data.batch, { failed_attempts: 9, claimed: 1 })

  clock.advance(539_999)
  t.is((await claim(codes[0]!)).body.error.retryAfter, 1)
  clock.advance(1)
  t.is((await claim(codes[0]!)).status, 200)
  t.is((await claim(unknownCode('AGAIN'))).status, 404)
  t.is((await claim(codes[2]!)).status, 429)
})

test('claims that are refused for other reasons are no failures', async (t) => {
  const { rest } = await createTenant(app)
  const { user_id } = await createCustomer({ rest })
  const { batch, codes } = await createCodes({ rest }, { quantity: 2 })
  const claim = (code: string | undefined) => rest('POST /codes/claim', { user_id, code })
  for (const _ of range(12)) await claim(codes[0])
  t.is((await claim(codes[1])).status, 200)
  t.is((await rest(`GET /code-batches/${batch.id}`)).body.data.batch.failed_attempts, 0)
})

test('a retry of a claim with its key gets the first answer and gives nothing again', async (t) => {
  const { rest } = await createTenant(app)
  const { user_id } = await createCustomer({ rest })
  const { batch, codes } = await createCodes({ rest })
  const claim = () => rest('POST /codes/claim', { user_id, code: codes[0] }, key('claim'))
  const first = await claim()
  const retries = await Promise.all([claim(), claim(), claim()])
  for (const retry of retries) t.is(retry.text, first.text)
  t.is((await rest(`GET /code-batches/${batch.id}`)).body.data.batch.claimed, 1)
  await assertAudit(app)
})

test('a failure with a key is counted once, with its stored answer, however often it is retried', async (t) => {
  const { rest, graph } = await createTenant(app)
  const { user_id } = await createCustomer({ rest })
  const { batch } = await createCodes({ rest })
  const code = unknownCode(batch.prefix)
  const claim = () => rest('POST /codes/claim', { user_id, code }, key('rest'))
  const first = await claim()
  t.is(said(first), '404 CODE_NOT_FOUND')
  for (const _ of range(12)) {
    const retry = await claim()
    t.deepEqual([retry.text, retry.headers.get('idempotency-replayed')], [first.text, 'true'])
  }
  const mutation = 'mutation ($input: ClaimCodeInput!) { claimCode(input: $input) { transaction { id } } }'
  for (const _ of range(3)) {
    const { errors } = await graph(mutation, { input: { userId: user_id, code } }, key('graph'))
    t.is(errors![0].extensions.code, 'CODE_NOT_FOUND')
  }
  t.is((await rest(`GET /code-batches/${batch.id}`)).body.data.batch.failed_attempts, 2)
})

test('a refusal for too many failures is not stored: the same key works when the wait is over', async (t) => {
  const clock = testClock()
  const { rest } = await createTenant(await startApp(t, { clock }))
  const { user_id } = await createCustomer({ rest })
  const { codes } = await createCodes({ rest })
  for (const _ of range(10)) await rest('POST /codes/claim', { user_id, code: unknownCode('GUESS') })
  const claim = () => rest('POST /codes/claim', { user_id, code: codes[0] }, key('later'))
  const waits = await claim()
  t.deepEqual([waits.status, waits.headers.get('retry-after')], [429, '600'])
  clock.advance(600_000)
  t.is((await claim()).status, 200)
})

test('points whose time has come expire before those of the code are added', async (t) => {
  const clock = testClock('2026-01-01T12:00:00Z')
  const app = await startApp(t, { clock })
  const { rest } = await createTenant(app)
  await rest('PATCH /settings', { points_expire_after_days: 30 })
  const { user_id } = await createCustomer({ rest })
  await rest('POST /points/issue', { user_id, points: 70 })
  const { codes } = await createCodes({ rest })
  clock.set('2026-03-01T12:00:00Z')
  const { body } = await rest('POST /codes/claim', { user_id, code: codes[0] })
  t.like(body.data.balance, { balance: 10, points_expire_at: '2026-04-01T00:00:00.000Z' })
  await assertAudit(app)
})

test('a claim that would take a balance past its limit gives nothing, and the code stays good', async (t) => {
  const app = await startApp(t)
  const { rest, businessId } = await createTenant(app)
  const { user_id } = await createCustomer({ rest })
  const { batch, codes } = await createCodes({ rest }, { points: 1_000_000 })
  await app.database.db.customer.updateMany({ where: { businessId }, data: { balance: 1_999_000_001 } })
  const claim = () => rest('POST /codes/claim', { user_id, code: codes[0] })
  t.is(said(await claim()), '409 BALANCE_LIMIT_REACHED:2000000000')
  t.is((await rest(`GET /code-batches/${batch.id}`)).body.data.batch.claimed, 0)
  await app.database.db.customer.updateMany({ where: { businessId }, data: { balance: 0 } })
  t.is((await claim()).status, 200)
})

test('the earning of a code can be taken back once; the code stays claimed', async (t) => {
  const { rest } = await createTenant(app)
  const { user_id } = await createCustomer({ rest })
  const { batch, codes } = await createCodes({ rest })
  const { body } = await rest('POST /codes/claim', { user_id, code: codes[0] })
  const reverse = () => rest(`POST /transactions/${body.data.transaction.id}/reverse`)
  t.is((await reverse()).body.data.balance.balance, 0)
  t.is(said(await reverse()), '409 TRANSACTION_ALREADY_REVERSED')
  t.is(said(await rest('POST /codes/claim', { user_id, code: codes[0] })), '409 CODE_ALREADY_CLAIMED')
  t.like((await rest(`GET /code-batches/${batch.id}`)).body.data.batch, { claimed: 1, points_issued: 10 })
  await assertAudit(app)
})

test('an erased customer leaves claimed codes behind, and no trace of failures', async (t) => {
  const { rest, businessId } = await createTenant(app)
  const { user_id } = await createCustomer({ rest }, { display_name: 'Ada' })
  const { batch, codes } = await createCodes({ rest })
  const claim = { user_id, code: codes[0] }
  await rest('POST /codes/claim', claim, key('claim'))
  await rest('POST /codes/claim', { user_id, code: unknownCode(batch.prefix) })
  t.is((await rest(`DELETE /customers/${user_id}`)).status, 200)
  t.like((await rest(`GET /code-batches/${batch.id}`)).body.data.batch, { claimed: 1, remaining: 0 })
  const customer = await app.database.db.customer.findFirst({ where: { businessId } })
  t.deepEqual(customer!.claimFailures, [])
  t.is((await rest('POST /codes/claim', claim, key('claim'))).status, 410)
  await assertAudit(app)
})
