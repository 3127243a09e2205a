import test from 'ava'
import { restClient, startApp, TEST_SECRET } from '../helpers/app.js'
import { createDatabase } from '../helpers/database.js'
import { command } from '../helpers/program.js'

test('migrate brings an empty database to the schema, once', async (t) => {
  const database = await createDatabase({ empty: true })
  t.teardown(database.drop)
  const env = { DATABASE_URL: database.url, SECRET_KEY: TEST_SECRET }
  const first = await command(env, 'migrate', '--json')
  t.is(first.exitCode, 0)
  t.true(first.json.applied.length > 0)
  t.deepEqual((await command(env, 'migrate', '--json')).json, { applied: [] })
})

test('seed adds a demo business that can be looked around in, and whose books are in order', async (t) => {
  const app = await startApp(t)
  const env = { DATABASE_URL: app.databaseUrl, SECRET_KEY: TEST_SECRET }
  const seeded = await command(env, 'seed', '--json')
  t.is(seeded.exitCode, 0)
  const rest = restClient(app.url, seeded.json.api_key)
  t.is((await rest('GET /me')).body.data.business.id, seeded.json.business_id)
  const { balance, last_visit_at } = (await rest('GET /customers/C-1001/balance')).body.data
  t.true(balance > 0)
  t.truthy(last_visit_at)
  const history = (await rest('GET /transactions')).body.data.transactions
  t.true(history.some(({ type }: { type: string }) => type === 'redeem'))

  const audited = await command(env, 'audit', '--json')
  t.is(audited.exitCode, 0)
  t.true(audited.json.checks.some(({ checked }: { checked: number }) => checked > 0))
})

test('audit names the broken invariant and ends with 1', async (t) => {
  const app = await startApp(t)
  const env = { DATABASE_URL: app.databaseUrl, SECRET_KEY: TEST_SECRET }
  await command(env, 'seed')
  await app.database.pool.query('UPDATE customers SET balance = balance + 1 WHERE balance > 0')
  const audited = await command(env, 'audit', '--json')
  t.is(audited.exitCode, 1)
  const broken = audited.json.checks.filter((check: { broken: number }) => check.broken > 0)
  t.deepEqual(
    broken.map(({ name }: { name: string }) => name),
    ['balance'],
  )
  t.true(broken[0].examples.length > 0)
})

test('a command on a database that does not answer ends with 1 and one line that says so', async (t) => {
  const password = 'do-not-print-me'
  const env = { DATABASE_URL: `postgres://someone:${password}@127.0.0.1:1/nowhere`, SECRET_KEY: TEST_SECRET }
  const refused = await command(env, 'business', 'list')
  t.is(refused.exitCode, 1)
  t.regex(refused.err, /^error: the database of DATABASE_URL cannot be reached: .*ECONNREFUSED.*\n$/)
  t.false(refused.err.includes(password))
})

test('a wrong setting ends a command with 1 and a line that names it', async (t) => {
  const refused = await command({ PORT: 'http', JOBS: 'yes' }, 'business', 'list')
  t.is(refused.exitCode, 1)
  t.regex(refused.err, /^error: Configuration: PORT: .*; JOBS: .*\n$/)
})
