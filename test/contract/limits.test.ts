import test from 'ava'
import { createTenant, type RestAnswer } from '../helpers/app.js'
import { sampleFor, send } from './samples.js'
import { createKey, everyRow, proper, rows, startContractApp, told } from './table.js'
import { thingsOfNobody } from './things.js'

/** An empty variable is one that is not set: the defaults of spec §8. */
const SPEC_LIMITS = {
  RATE_LIMIT_DEFAULT_PER_MINUTE: '',
  RATE_LIMIT_POINTS_PER_MINUTE: '',
  RATE_LIMIT_BATCHES_PER_MINUTE: '',
  RATE_LIMIT_FAILED_AUTH_PER_MINUTE: '',
  RATE_LIMIT_PAIRING_PER_MINUTE: '',
}
const POINTS_WRITES = ['POST /points/issue', 'POST /points/redeem', 'POST /redemptions/:code/complete']
const BATCHES = ['POST /code-batches', 'GET /code-batches/:id/export']
const PAIRING = 'POST /terminal/pair'
const limitOf = (name: string) =>
  POINTS_WRITES.includes(name) ? 60 : BATCHES.includes(name) || name === PAIRING ? 10 : 120

const limitHeaders = ({ headers }: RestAnswer) =>
  ['limit', 'remaining', 'reset'].map((name) => Number(headers.get(`ratelimit-${name}`)))

test('every route counts against the limit that the specification gives it', async (t) => {
  const app = await startContractApp(t, { env: SPEC_LIMITS })
  const tenant = await createTenant(app)
  await everyRow(
    t,
    rows,
    async (row) => {
      const { rest } = await createKey(app, tenant)
      return limitHeaders(await send(rest, sampleFor(row, thingsOfNobody())))
    },
    ({ name }) => [limitOf(name), limitOf(name) - 1, 60],
  )
})

test('the 61st points write of a minute is refused, counted over all three, while the rest of the API goes on', async (t) => {
  const app = await startContractApp(t, { env: SPEC_LIMITS })
  const { rest } = await createTenant(app)
  const things = thingsOfNobody()
  const points = rows.filter(({ name }) => POINTS_WRITES.includes(name))
  t.is(points.length, 3)
  for (let count = 1; count <= 60; count++)
    t.is((await send(rest, sampleFor(points[count % 3]!, things))).status, 404, String(count))
  for (const row of points) {
    const answer = await send(rest, sampleFor(row, things))
    t.deepEqual(told(answer), proper(429, 'Too many requests, please try again later'))
    t.deepEqual(limitHeaders(answer).slice(0, 2), [60, 0])
    const { type, retryAfter } = answer.body.error
    t.is(type, 'RATE_LIMIT_EXCEEDED')
    t.true(Number.isInteger(retryAfter) && retryAfter >= 1 && retryAfter <= 60)
    t.is(answer.headers.get('retry-after'), String(retryAfter))
    t.is(answer.headers.get('ratelimit-reset'), String(retryAfter))
  }
  const { status, headers } = await rest('GET /me')
  t.deepEqual([status, headers.get('ratelimit-remaining')], [200, '119'])
})

test('the 121st other request of a minute is refused, for that key alone; unknown routes and bad requests count', async (t) => {
  const app = await startContractApp(t, { env: SPEC_LIMITS })
  const tenant = await createTenant(app)
  const { rest } = tenant
  const asked = ['GET /me', 'GET /nowhere', 'PUT /me', 'GET /me?nonsense=1']
  for (let count = 0; count < 120; count++) t.not((await rest(asked[count % 4]!)).status, 429, String(count))
  for (const request of asked)
    t.deepEqual(told(await rest(request)), proper(429, 'Too many requests, please try again later'), request)
  t.is((await rest('POST /points/issue', {})).status, 400)
  t.is((await (await createKey(app, tenant)).rest('GET /me')).status, 200)
})

test('what no route answers still has the headers and the form of every answer', async (t) => {
  const app = await startContractApp(t)
  const { rest, key } = await createTenant(app)
  t.deepEqual(told(await rest('GET /nowhere')), proper(404, 'Route not found'))
  t.deepEqual(told(await rest('POST /', {})), proper(404, 'Route not found'))
  t.deepEqual(told(await rest('GET /me/')), proper(200, 'API key is valid'))
  for (const path of ['/', '/api', '/api/v2/me', '/api/v1x', '/favicon.ico']) {
    const response = await fetch(app.url + path, { headers: { authorization: `Bearer ${key}` } })
    const text = await response.text()
    const answer = { status: response.status, headers: response.headers, text, body: JSON.parse(text) }
    t.deepEqual(told(answer), proper(404, 'Route not found'), path)
  }
})

test("a request keeps the client's own id where that is usable, and gets one where not", async (t) => {
  const app = await startContractApp(t)
  const { rest } = await createTenant(app)
  const idFor = async (sent: string) =>
    (await rest('GET /me', undefined, { 'x-request-id': sent })).headers.get('x-request-id')
  t.is(await idFor('order-42:retry.1'), 'order-42:retry.1')
  for (const unusable of ['a b', '<script>', 'x'.repeat(129)])
    t.regex((await idFor(unusable))!, /^[0-9a-f-]{36}$/)
})
