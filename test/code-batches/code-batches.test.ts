import test from 'ava'
import { createTenant, type RestAnswer, startApp } from '../helpers/app.js'
import { said } from '../helpers/external.js'
import { createCodes, createCustomer, newPrefix } from '../helpers/factories.js'

const app = await startApp({ teardown: (end) => test.after.always(end) })

const FIELDS = [
  'id',
  'business_id',
  'batch_ref',
  'name',
  'prefix',
  'points',
  'quantity',
  'expires_at',
  'active',
  'created_via',
  'created_at',
  'failed_attempts',
]
const STATS = ['claimed', 'remaining', 'points_issued']

test('a batch has the documented fields and no others, and stats where it is read alone', async (t) => {
  const { rest, businessId } = await createTenant(app)
  const fields = { name: 'Spring “24”', prefix: 'CAP24', points: 25, quantity: 3 }
  const created = await rest('POST /code-batches', { ...fields, expires_at: '2999-01-01T02:00:00+02:00' })
  t.is(said(created), '201 ok')
  const { batch } = created.body.data
  t.deepEqual(Object.keys(batch), FIELDS)
  t.like(batch, {
    ...fields,
    business_id: businessId,
    expires_at: '2999-01-01T00:00:00.000Z',
    active: true,
    created_via: 'api',
    failed_attempts: 0,
  })
  t.regex(batch.batch_ref, /^[0-9A-HJKMNP-TV-Z]{8}$/)

  const listed = await rest('GET /code-batches')
  t.deepEqual(listed.body.data.batches, [batch])
  const alone = await rest(`GET /code-batches/${batch.id}`)
  t.deepEqual(Object.keys(alone.body.data.batch), [...FIELDS, ...STATS])
  t.deepEqual(alone.body.data.batch, { ...batch, claimed: 0, remaining: 3, points_issued: 0 })

  const off = await rest(`POST /code-batches/${batch.id}/deactivate`)
  t.is(said(off), '200 ok')
  t.deepEqual(off.body.data.batch, { ...batch, active: false })
  const again = await rest(`POST /code-batches/${batch.id}/deactivate`)
  t.deepEqual(again.body, off.body, 'switching off what is off is no error')
})

test('every bound holds, and a refusal names every field that broke one', async (t) => {
  const { rest } = await createTenant(app)
  const good = () => ({ name: 'Caps', prefix: newPrefix(), points: 1, quantity: 1 })
  const refused: Record<string, unknown[]> = {
    name: ['', 'x'.repeat(201), null, 1],
    prefix: ['', 'x'.repeat(11), 'cap', 'C-1', 'C 1', 'ÄÖ', 'A\n', null, 7],
    points: [0, -1, 1_000_001, 1.5, '1', null],
    quantity: [0, -1, 100_001, 1.5, '1', null],
    expires_at: ['2020-01-01T00:00:00Z', 'tomorrow', '2999-01-01', '2999-01-01T00:00:00', 5],
    active: [true],
    created_via: ['api'],
  }
  for (const [field, values] of Object.entries(refused))
    for (const value of values) {
      const { status, body } = await rest('POST /code-batches', { ...good(), [field]: value })
      t.is(status, 400, `${field} ${value}`)
      t.true(body.error.message.startsWith(`${field}: `), body.error.message)
    }
  const nothing = await rest('POST /code-batches', {})
  t.is(nothing.body.error.message, 'name: required; prefix: required; points: required; quantity: required')
  t.is((await rest('GET /code-batches')).body.data.pagination.total_count, 0)
  for (const most of [{ name: 'ü'.repeat(200) }, { prefix: 'ABCDEFGH09' }, { points: 1_000_000 }])
    t.is((await rest('POST /code-batches', { ...good(), ...most, expires_at: null })).status, 201)
})

test("a prefix is taken once among a business's batches, also by one that looks like it", async (t) => {
  const [here, there] = [await createTenant(app), await createTenant(app)]
  const create = ({ rest }: typeof here, prefix: string) =>
    rest('POST /code-batches', { name: 'Caps', prefix, points: 1, quantity: 1 })
  t.is((await create(here, 'OIL')).status, 201)
  for (const prefix of ['OIL', '011', '0I1', 'OLL'])
    t.is(said(await create(here, prefix)), '409 CODE_PREFIX_TAKEN', prefix)
  t.is((await create(here, 'OILY')).status, 201)
  t.is((await create(there, 'OIL')).status, 201)
  const both = await Promise.all(['RACE', 'RACE', 'RACE', 'RACE'].map((prefix) => create(there, prefix)))
  t.deepEqual(both.map(({ status }) => status).sort(), [201, 409, 409, 409])
})

test('the list pages newest first, with exact totals', async (t) => {
  const { rest } = await createTenant(app)
  const made: string[] = []
  for (let n = 0; n < 5; n++) made.unshift((await createCodes({ rest }, { name: `Batch ${n}` })).batch.id)
  const idsOf = ({ body }: RestAnswer) => body.data.batches.map(({ id }: { id: string }) => id)
  const all = await rest('GET /code-batches')
  t.deepEqual(idsOf(all), made)
  t.deepEqual(all.body.data.pagination, { limit: 50, offset: 0, returned: 5, total_count: 5 })
  const some = await rest('GET /code-batches?limit=2&offset=3')
  t.deepEqual(idsOf(some), made.slice(3))
  t.deepEqual(some.body.data.pagination, { limit: 2, offset: 3, returned: 2, total_count: 5 })
  for (const query of ['limit=0', 'limit=101', 'limit=x', 'offset=-1', 'offset=', 'page=1'])
    t.is((await rest(`GET /code-batches?${query}`)).status, 400, query)
})

test('nothing of a batch is found by another business: not its row, its codes, its sheet, nor a claim', async (t) => {
  const [owner, stranger] = [await createTenant(app), await createTenant(app)]
  const { batch, codes } = await createCodes(owner)
  const { user_id } = await createCustomer(stranger)
  for (const request of [
    `GET /code-batches/${batch.id}`,
    `GET /code-batches/${batch.id}/export`,
    `POST /code-batches/${batch.id}/deactivate`,
  ])
    t.is(said(await stranger.rest(request)), '404 Code batch not found', request)
  t.is(said(await stranger.rest('POST /codes/claim', { user_id, code: codes[0] })), '404 CODE_NOT_FOUND')
  const { errors } = await stranger.graph(`{ codeSheet(batchId: "${batch.id}") { html } }`)
  t.is(errors![0].extensions.code, 'CODE_BATCH_NOT_FOUND')
  t.is((await stranger.rest('GET /code-batches')).body.data.pagination.total_count, 0)
  const { body } = await owner.rest(`GET /code-batches/${batch.id}`)
  t.like(body.data.batch, { active: true, claimed: 0, failed_attempts: 0 })
})
