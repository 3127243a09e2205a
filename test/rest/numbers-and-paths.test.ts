import test from 'ava'
import { createTenant, startApp } from '../helpers/app.js'
import { createCustomer } from '../helpers/factories.js'
import { bearer, JSON_TYPE, rawRequest } from './http.js'

test('a number is a whole number in its bounds, sent as a number; anything else is refused by name', async (t) => {
  const app = await startApp(t)
  const { rest } = await createTenant(app)
  const { user_id } = await createCustomer({ rest })
  const issue = async (points: string) => {
    const { status, body } = await rest('POST /points/issue', `{"user_id":"${user_id}","points":${points}}`)
    return [status, body.error?.message ?? body.data.transaction.points]
  }
  for (const [points, issued] of [
    ['7', 7],
    ['7.0', 7],
    ['7e1', 70],
    ['70e-1', 7],
  ] as const)
    t.deepEqual(await issue(points), [200, issued], points)
  const large = ['2147483648', '4294967297', '9007199254740993', '-9223372036854775809', '1e30']
  for (const points of [...large, '1e400', '-1e400', '1.5', '1e-400', '-0', '0', '-1', '1000001'])
    t.regex(String(await issue(points)), /^400,points: must be (an integer|at (least|most) \d+)/, points)
  for (const points of ['"7"', '"7.0"', 'true', '[7]', '{}', '""', '{"value":7}'])
    t.deepEqual(await issue(points), [400, 'points: must be an integer'], points)
  for (const points of ['NaN', 'Infinity', '0x10', '07', '+7', '7.', '.7'])
    t.deepEqual(await issue(points), [400, 'Request body is not valid JSON'], points)
})

test('a number in the query is read in its bounds and never clamped', async (t) => {
  const app = await startApp(t)
  const { rest } = await createTenant(app)
  const page = async (query: string) => {
    const { status, body } = await rest(`GET /transactions?${query}`)
    return [status, body.error?.message ?? body.data.pagination]
  }
  const empty = { returned: 0, total_count: 0 }
  t.deepEqual(await page(''), [200, { limit: 50, offset: 0, ...empty }])
  t.deepEqual(await page('limit=1&offset=0'), [200, { limit: 1, offset: 0, ...empty }])
  t.deepEqual(await page('limit=100&offset=1000000'), [200, { limit: 100, offset: 1_000_000, ...empty }])
  t.deepEqual(await page('limit=0'), [400, 'limit: must be at least 1'])
  t.deepEqual(await page('limit=101'), [400, 'limit: must be at most 100'])
  t.deepEqual(await page('limit=-1&offset=-1'), [
    400,
    'limit: must be at least 1; offset: must be at least 0',
  ])
  t.deepEqual(await page('limit=4294967297'), [400, 'limit: must be at most 100'])
  for (const bad of ['', 'ten', '1.0', '1e1', '0x1', '%201', '1%00', '99999999999999999999', 'null', '%zz'])
    t.deepEqual(await page(`limit=${bad}`), [400, 'limit: must be an integer'], bad)
  t.deepEqual(await page('type=nonsense&status='), [
    400,
    'type: must be one of earn, redeem; status: must be one of pending, completed, failed',
  ])
})

test('a path that no browser would send finds nothing and breaks nothing', async (t) => {
  const app = await startApp(t)
  const { key } = await createTenant(app)
  const said = async (path: string, method = 'GET') => {
    const { status, body } = await rawRequest(app, { method, path, headers: bearer(key) })
    return [status, body.error?.message]
  }
  const nobody = [404, 'Customer not found. Check the user_id or identifier.']
  for (const id of [
    '%zz',
    '%',
    '%E0%A4%A',
    '%c0%af',
    '%00',
    '%ff',
    '%ED%A0%80',
    "';--",
    '%2e%2e',
    '%2F',
    '$1',
  ])
    t.deepEqual(await said(`/api/v1/customers/${id}/balance`), nobody, id)
  for (const path of ['//', '/%2e%2e/me', '/me%00', '/me;x=1', '/..', '/%zz', '/me/me', '/%6de/x'])
    t.deepEqual(await said(`/api/v1${path}`), [404, 'Route not found'], path)
  t.deepEqual(await said('http://elsewhere.example/api/v1/nowhere'), [404, 'Route not found'])
  t.deepEqual(await said(`/api/v1/${'x'.repeat(8000)}`), [404, 'Route not found'])
})

test('a body on a GET is not read', async (t) => {
  const app = await startApp(t)
  const { key } = await createTenant(app)
  const body = '{"nonsense":'
  const headers = { ...bearer(key), ...JSON_TYPE, 'content-length': String(body.length) }
  t.is((await rawRequest(app, { method: 'GET', path: '/api/v1/me', headers, body })).status, 200)
})
