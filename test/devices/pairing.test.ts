import { randomUUID } from 'node:crypto'
import test from 'ava'
import { PAIRING_MS } from '../../src/devices/pairing.js'
import { TRUST_MS } from '../../src/rest/authentication.js'
import { createTenant, restClient, startApp, type TestApp, testClock } from '../helpers/app.js'
import { externalServices, testWithRedis } from '../helpers/external-services.js'
import { createTerminal, registerDevice } from '../helpers/factories.js'

const NOT_FOUND = '{"success":false,"error":{"message":"PAIRING_CODE_NOT_FOUND"}}'

/** Whoever stands before the terminal: without a key. */
const pairAt = ({ url }: Pick<TestApp, 'url'>) => {
  const stranger = restClient(url, undefined)
  return (code: string, headers = {}) => stranger('POST /terminal/pair', { code }, headers)
}

test('a code pairs its terminal within ten minutes, once; one that is used, expired, replaced, revoked, unknown or no code at all is refused alike', async (t) => {
  const clock = testClock()
  const app = await startApp(t, { clock })
  const tenant = await createTenant(app)
  const pair = pairAt(app)
  const code = async () => (await registerDevice(tenant)).pairing.code as string

  const used = await code()
  t.is((await pair(used)).status, 200)
  const expired = await code()
  clock.advance(PAIRING_MS)
  const late = await code()
  clock.advance(PAIRING_MS - 1)
  const replaced = await registerDevice(tenant)
  const again = await tenant.rest(`POST /devices/${replaced.device.id}/pairing-qr`)
  const revoked = await registerDevice(tenant)
  await tenant.rest(`DELETE /devices/${revoked.device.id}`)
  for (const bad of [
    used,
    expired,
    replaced.pairing.code,
    revoked.pairing.code,
    'ZZZZ-ZZZZ-ZZZZ',
    'ABC',
    '💥',
  ]) {
    const answer = await pair(bad)
    t.deepEqual([answer.status, answer.text], [404, NOT_FOUND], bad)
  }
  for (const good of [late, again.body.data.pairing.code]) t.is((await pair(good)).status, 200)
})

test('a code is read in any case, without hyphens, and with its look-alikes', async (t) => {
  const app = await startApp(t)
  const tenant = await createTenant(app)
  for (const typed of [
    (code: string) => code.toLowerCase(),
    (code: string) => code.replaceAll('-', ''),
    (code: string) => code.replaceAll('-', ' '),
    (code: string) => code.replaceAll('0', 'o').replaceAll('1', 'l'),
  ]) {
    const { pairing } = await registerDevice(tenant)
    t.regex(pairing.code, /^[0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{4}){2}$/)
    t.is((await pairAt(app)(typed(pairing.code))).status, 200)
  }
})

test('of many who use a code at once on two instances one gets a token, and that one works', async (t) => {
  const one = await startApp(t)
  const two = await startApp(t, { beside: one })
  const tenant = await createTenant(one)
  const { pairing } = await registerDevice(tenant)
  const tries = Array.from({ length: 12 }, (_, n) => pairAt(n % 2 ? one : two)(pairing.code))
  const answers = await Promise.all(tries)
  const won = answers.filter(({ status }) => status === 200)
  t.is(won.length, 1)
  t.true(answers.every(({ status, text }) => status === 200 || text === NOT_FOUND))
  const { rest } = tenant
  const terminal = restClient(two.url, won[0]!.body.data.token)
  const { user_id } = (await rest('POST /customers', {})).body.data.customer
  t.is((await terminal(`GET /customers/${user_id}/balance`)).status, 200)
})

test('a terminal that is paired again loses its earlier token, not before its new code is used', async (t) => {
  const clock = testClock()
  const app = await startApp(t, { clock })
  const tenant = await createTenant(app)
  const first = await createTerminal(app, tenant)
  const ask = async ({ rest }: Pick<typeof first, 'rest'>) =>
    (await rest('GET /customers/nobody/balance')).status
  const { body } = await tenant.rest(`POST /devices/${first.device.id}/pairing-qr`)
  clock.advance(TRUST_MS)
  t.is(await ask(first), 404)
  const second = (await pairAt(app)(body.data.pairing.code)).body.data
  t.is(second.device.id, first.device.id)
  t.is(second.device.paired_at, clock.now().toISOString())
  clock.advance(TRUST_MS)
  t.is(await ask(first), 401)
  t.is(await ask({ rest: restClient(app.url, second.token) }), 404)
})

test('neither code nor token is in the database, and the picture is an SVG', async (t) => {
  const app = await startApp(t)
  const tenant = await createTenant(app)
  const { device, pairing } = await registerDevice(tenant)
  const [head, picture] = pairing.qr.split(',')
  t.is(head, 'data:image/svg+xml;base64')
  t.regex(Buffer.from(picture, 'base64').toString(), /^<svg [^>]+>.+<\/svg>\s*$/s)
  const { token } = (await pairAt(app)(pairing.code)).body.data
  const { rows } = await app.database.pool.query(
    'SELECT l::text || d::text AS all FROM device_logins l JOIN devices d ON d.id = l.device_id WHERE d.id = $1',
    [device.id],
  )
  for (const secret of [token, pairing.code, pairing.code.replaceAll('-', '')])
    for (const shown of [secret, Buffer.from(secret).toString('hex')]) t.false(rows[0].all.includes(shown))
})

test('a code of a suspended business is refused and stays good', async (t) => {
  const app = await startApp(t)
  const tenant = await createTenant(app)
  const { pairing } = await registerDevice(tenant)
  const become = (status: 'suspended' | 'active') =>
    app.database.db.business.update({ where: { id: tenant.businessId }, data: { status } })
  await become('suspended')
  const refused = await pairAt(app)(pairing.code)
  t.deepEqual([refused.status, refused.body.error.message], [403, 'Business suspended'])
  await become('active')
  t.is((await pairAt(app)(pairing.code)).status, 200)
})

test('in the graph a key pairs the terminals of its own business, and nobody pairs without one', async (t) => {
  const app = await startApp(t)
  const [owner, other] = [await createTenant(app), await createTenant(app)]
  const { pairing } = await registerDevice(owner)
  const pair =
    'mutation ($code: String!) { pairTerminal(input: { code: $code }) { token device { status } } }'
  const foreign = await other.graph(pair, { code: pairing.code })
  t.is(foreign.errors![0].extensions.code, 'PAIRING_CODE_NOT_FOUND')
  const anonymous = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: pair, variables: { code: pairing.code } }),
  })
  t.is(anonymous.status, 401)
  const { data } = await owner.graph(pair, { code: pairing.code })
  t.is(data.pairTerminal.device.status, 'paired')
})

const limit = (perMinute: string) => ({ RATE_LIMIT_PAIRING_PER_MINUTE: perMinute })

test('of a burst of guesses from one address ten a minute are looked at, and a right code among the others is not', async (t) => {
  const app = await startApp(t, { env: limit('') })
  const tenant = await createTenant(app)
  const terminal = await createTerminal(app, tenant)
  const { pairing } = await registerDevice(tenant)
  const pair = pairAt(app)
  const guesses = await Promise.all(Array.from({ length: 40 }, () => pair('ZZZZ-ZZZZ-ZZZZ')))
  const statuses = guesses.map(({ status }) => status)
  // One try was the terminal's own.
  t.is(statuses.filter((status) => status === 404).length, 9)
  t.is(statuses.filter((status) => status === 429).length, 31)
  const { status, headers, body } = await pair(pairing.code)
  t.is(status, 429)
  t.deepEqual([headers.get('ratelimit-limit'), headers.get('ratelimit-remaining')], ['10', '0'])
  t.is(headers.get('retry-after'), String(body.error.retryAfter))
  t.is(headers.get('ratelimit-reset'), String(body.error.retryAfter))
  t.is((await terminal.rest('GET /customers/nobody/balance')).status, 404)
  t.is((await tenant.rest('GET /me')).status, 200)
})

test('bad keys of an address do not keep it from pairing', async (t) => {
  const app = await startApp(t, { env: { RATE_LIMIT_FAILED_AUTH_PER_MINUTE: '1' } })
  const { pairing } = await registerDevice(await createTenant(app))
  const stranger = restClient(app.url, 'lby_term_revoked')
  for (const status of [401, 429]) t.is((await stranger('GET /me')).status, status)
  t.is((await pairAt(app)(pairing.code)).status, 200)
})

testWithRedis('two instances that share a Redis share the limit of an address that guesses', async (t) => {
  const env = { REDIS_URL: externalServices.redisUrl!, ...limit('3'), TRUSTED_PROXY_HOPS: '1' }
  const one = await startApp(t, { env })
  const two = await startApp(t, { beside: one, env })
  // Addresses of its own, so that runs beside this one do not share its buckets.
  const guesser = () => {
    const address = { 'x-forwarded-for': `guesser-${randomUUID()}` }
    return (app: TestApp) => pairAt(app)('ZZZZ-ZZZZ-ZZZZ', address)
  }
  // Until both are connected each counts for itself.
  for (let remaining: string | null = null; remaining !== '1'; ) {
    const guess = guesser()
    await guess(one)
    remaining = (await guess(two)).headers.get('ratelimit-remaining')
  }
  const guess = guesser()
  const statuses = []
  for (const app of [one, two, one, two, one]) statuses.push((await guess(app)).status)
  t.deepEqual(statuses, [404, 404, 404, 429, 429])
})
