import { readFileSync } from 'node:fs'
import test from 'ava'
import { schema } from '../../src/graphql/schema.js'
import { openApiDocument } from '../../src/openapi/document.js'
import { readExamples } from '../../src/openapi/examples.js'
import { compileRoutes } from '../../src/rest/compile.js'
import { routes } from '../../src/rest/routes.js'
import { createTenant, startApp } from '../helpers/app.js'
import { departures } from '../helpers/described.js'
import { rows } from './table.js'

const written = readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')

test('openapi.json is the contract as it is served (npm run openapi:print)', (t) => {
  const document = openApiDocument(schema, compileRoutes(schema, routes), readExamples())
  t.is(written, `${JSON.stringify(document, null, 2)}\n`)
})

test('the document is there for everybody, with the headers of every answer', async (t) => {
  const { url } = await startApp(t)
  const response = await fetch(`${url}/api/v1/openapi.json`)
  const text = await response.text()
  t.is(response.status, 200)
  for (const name of ['x-request-id', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'])
    t.truthy(response.headers.get(name), name)
  t.deepEqual(JSON.parse(text), JSON.parse(written))
  const refused = await fetch(`${url}/api/v1/openapi.json`, { method: 'POST' })
  t.deepEqual([refused.status, refused.headers.get('allow')], [405, 'GET, HEAD'])
})

test('every route says its scope, its limit, whether it can be repeated, and whether the specification has it', (t) => {
  const { paths } = JSON.parse(written)
  for (const row of rows) {
    const operation = paths[`/api/v1${row.path.replace(/:(\w+)/g, '{$1}')}`][row.method]
    const { scope, alsoFor, rate } = row.facts
    t.deepEqual(
      {
        security: operation.security,
        rate: operation['x-rate-limit-scope'],
        idempotent: operation['x-idempotent'],
        addition: operation['x-addition'] ?? false,
      },
      {
        security:
          alsoFor === 'strangers'
            ? []
            : [{ apiKey: scope ? [scope] : [] }, ...(alsoFor === 'terminals' ? [{ terminalToken: [] }] : [])],
        rate: alsoFor === 'strangers' ? 'pairing' : rate,
        idempotent: row.isWrite,
        addition: row.addition ?? false,
      },
      row.name,
    )
  }
})

test('an answer that the document does not describe is seen: status, message, member, type, header, path', async (t) => {
  const app = await startApp(t)
  const { rest } = await createTenant(app)
  const { headers, text, status } = await rest('GET /settings')
  const sent = {
    method: 'GET',
    url: '/api/v1/settings',
    status,
    headers: Object.fromEntries(headers),
    body: text,
  }
  t.deepEqual(departures(sent), [])
  const settings = JSON.parse(text)
  const withSettings = (change: object) =>
    JSON.stringify({ ...settings, data: { settings: { ...settings.data.settings, ...change } } })
  const refusal = (message: string) => JSON.stringify({ success: false, error: { message } })
  const { 'ratelimit-limit': _limit, ...fewer } = sent.headers
  const departing = {
    'a status': { status: 201 },
    'a message': { status: 403, body: refusal('No entry') },
    'a refusal of another route': { status: 400, body: refusal('REWARD_NOT_POOL_SOURCED') },
    'another member': { body: withSettings({ more: 1 }) },
    'a missing member': { body: withSettings({ timezone: undefined }) },
    'another type': { body: withSettings({ redemption_ttl_hours: '24' }) },
    'a missing header': { headers: fewer },
    'a telling header': { headers: { ...sent.headers, 'idempotency-replayed': 'true' } },
    'a content type': { headers: { ...sent.headers, 'content-type': 'text/plain' } },
    'a path': { url: '/api/v1/nowhere' },
  }
  for (const [what, change] of Object.entries(departing))
    t.not(departures({ ...sent, ...change }).length, 0, what)
})
