import test from 'ava'
import { restClient, startApp, TEST_SECRET } from '../helpers/app.js'
import { createDatabase } from '../helpers/database.js'
import { command } from '../helpers/program.js'

const cafe = ['--name', 'Corner Café', '--email', 'owner@example.com', '--country', 'DE']

test('business create prints one object with an id and a key that works at once', async (t) => {
  const app = await startApp(t)
  const env = { DATABASE_URL: app.databaseUrl, SECRET_KEY: TEST_SECRET }
  const made = await command(
    env,
    ...['business', 'create', ...cafe, '--timezone', 'Europe/Berlin', '--currency', 'EUR', '--json'],
  )
  t.is(made.exitCode, 0)
  const { business_id, api_key } = made.json
  const rest = restClient(app.url, api_key)
  t.deepEqual((await rest('GET /me')).body.data.business, {
    id: business_id,
    name: 'Corner Café',
    email: 'owner@example.com',
    status: 'active',
    country: 'DE',
  })
  const { settings } = (await rest('GET /settings')).body.data
  t.is(settings.timezone, 'Europe/Berlin')
  t.is(settings.currency, 'EUR')
})

test('business list shows every business, in an object or in columns', async (t) => {
  const database = await createDatabase()
  t.teardown(database.drop)
  const env = { DATABASE_URL: database.url, SECRET_KEY: TEST_SECRET }
  t.deepEqual((await command(env, 'business', 'list', '--json')).json, { businesses: [] })
  t.is((await command(env, 'business', 'list')).out, 'no businesses\n')

  const { business_id } = (await command(env, 'business', 'create', ...cafe, '--json')).json
  const listed = (await command(env, '--json', 'business', 'list')).json.businesses
  t.is(listed.length, 1)
  t.like(listed[0], { business_id, name: 'Corner Café', timezone: 'UTC', currency: 'USD', status: 'active' })
  const [head, row] = (await command(env, 'business', 'list')).out.split('\n')
  t.is(row!.indexOf('Corner Café'), head!.indexOf('name'))
})

// No database: options are judged before one is needed.
const nowhere = { DATABASE_URL: 'postgres://127.0.0.1:1/nowhere', SECRET_KEY: TEST_SECRET }

const refuses = test.macro({
  title: (_given, option: string, value: string) =>
    `business create refuses --${option} ${JSON.stringify(value.slice(0, 20))} by name`,
  async exec(t, option: string, value: string) {
    const made = await command(nowhere, 'business', 'create', ...cafe, `--${option}`, value, '--json')
    t.is(made.exitCode, 2)
    t.regex(made.json.error.message, new RegExp(`^--${option}: must `))
  },
})

for (const [option, values] of Object.entries({
  name: ['', 'x'.repeat(201), 'nul\0'],
  email: ['nobody', 'a b@example.com', `${'a'.repeat(320)}@example.com`],
  country: ['de', 'DEU', 'UK', 'EU', 'ZZ', ''],
  timezone: ['Mars/Olympus', '+02:00', ''],
  currency: ['eur', 'EURO', 'QQQ', ''],
}))
  for (const value of values) test(refuses, option, value)

test('business create names every bad option at once', async (t) => {
  const bad = ['--name', '', '--email', 'x', '--country', 'x', '--timezone', 'x', '--currency', 'x']
  const made = await command(nowhere, 'business', 'create', ...bad)
  t.is(made.exitCode, 2)
  t.is(made.out, '')
  for (const option of ['name', 'email', 'country', 'timezone', 'currency'])
    t.true(made.err.includes(`--${option}: must`), option)
})
