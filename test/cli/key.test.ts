import test from 'ava'
import { createTenant, restClient, startApp, TEST_SECRET } from '../helpers/app.js'
import { command } from '../helpers/program.js'

/** An app, two businesses and the command line on the same database. */
async function setUp(t: Parameters<typeof startApp>[0]) {
  const app = await startApp(t)
  const env = { DATABASE_URL: app.databaseUrl, SECRET_KEY: TEST_SECRET }
  const [mine, other] = [await createTenant(app), await createTenant(app)]
  return { app, mine, other, cli: (...args: string[]) => command(env, ...args, '--json') }
}

test('a key has exactly the scopes that it was created with', async (t) => {
  const { app, mine, cli } = await setUp(t)
  const made = await cli(
    ...['key', 'create', '--business', mine.businessId, '--name', 'till', '--scopes', 'settings:read'],
  )
  t.deepEqual(made.json.scopes, ['settings:read'])
  const rest = restClient(app.url, made.json.api_key)
  t.is((await rest('GET /settings')).status, 200)
  const refused = await rest('PATCH /settings', { timezone: 'UTC' })
  t.is(refused.body.error.message, 'Insufficient scope: settings:write')
})

test('a key is listed without itself, is revoked by id, and only by its own business', async (t) => {
  const { app, mine, other, cli } = await setUp(t)
  const made = (
    await cli('key', 'create', '--business', mine.businessId, '--name', 'till', '--expires', '2999-01-01')
  ).json
  t.is(made.expires_at, '2999-01-01T00:00:00.000Z')
  const list = async () => (await cli('key', 'list', '--business', mine.businessId)).json.keys
  const [, listed] = await list()
  t.like(listed, { key_id: made.key_id, name: 'till', prefix: made.api_key.slice(0, 12), revoked_at: null })
  t.false(JSON.stringify(listed).includes(made.api_key))

  const byOther = await cli('key', 'revoke', '--business', other.businessId, '--id', made.key_id)
  t.is(byOther.exitCode, 1)
  t.is((await list())[1].revoked_at, null)

  const revoke = ['key', 'revoke', '--business', mine.businessId, '--id', made.key_id]
  t.deepEqual((await cli(...revoke)).json.revoked, [made.key_id])
  t.is((await restClient(app.url, made.api_key)('GET /me')).status, 401)
  t.truthy((await list())[1].revoked_at)
  t.is((await cli(...revoke)).exitCode, 1, 'a key is revoked once')
})

test('revoking by name ends every key of that name and no other', async (t) => {
  const { mine, other, cli } = await setUp(t)
  const create = async (businessId: string, name: string) =>
    (await cli('key', 'create', '--business', businessId, '--name', name)).json.key_id as string
  const ids = [await create(mine.businessId, 'till'), await create(mine.businessId, 'till')]
  await create(mine.businessId, 'office')
  await create(other.businessId, 'till')
  const revoked = await cli('key', 'revoke', '--business', mine.businessId, '--name', 'till')
  t.deepEqual(revoked.json.revoked.sort(), ids.sort())
  t.is((await mine.rest('GET /me')).status, 200)
})

test('a bad option of a key is refused by name', async (t) => {
  const { mine, cli } = await setUp(t)
  const refused = async (usage: 'create' | 'revoke', options: Record<string, string>) => {
    const given = { business: mine.businessId, name: 'till', ...options }
    const result = await cli(
      'key',
      usage,
      ...Object.entries(given).flatMap(([name, value]) => [`--${name}`, value]),
    )
    t.is(result.exitCode, 2, JSON.stringify(options))
    return result.json.error.message as string
  }
  t.regex(await refused('create', { name: '' }), /^--name: must not be empty$/)
  t.regex(await refused('create', { business: 'x' }), /^--business: must be a UUID$/)
  t.regex(
    await refused('create', { scopes: 'points:write,tills:read' }),
    /^--scopes: "tills:read" is not a scope/,
  )
  t.regex(await refused('create', { scopes: '' }), /^--scopes: must name at least one scope/)
  t.regex(await refused('create', { expires: '2026-02-30' }), /^--expires: must be a date/)
  t.regex(await refused('create', { expires: 'tomorrow' }), /^--expires: must be a date/)
  t.regex(await refused('create', { expires: '2020-01-01' }), /^--expires: must be in the future$/)
  t.regex(await refused('revoke', { id: mine.keyId }), /exactly one of --id and --name/)
})

test('a business that does not exist is refused, and a key is not created for it', async (t) => {
  const { cli } = await setUp(t)
  const nobody = '01900000-0000-7000-8000-000000000000'
  for (const usage of ['create', 'revoke'])
    t.like(await cli('key', usage, '--business', nobody, '--name', 'till'), { exitCode: 1 })
  t.like(await cli('key', 'list', '--business', nobody), {
    exitCode: 1,
    json: { error: { message: `there is no business ${nobody}` } },
  })
})
