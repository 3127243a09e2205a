import test from 'ava'
import { auditServer } from 'graphql-http'
import { createTenant, graphClient, startApp } from '../helpers/app.js'
import { createCustomer } from '../helpers/factories.js'

const JSON_TYPE = { 'content-type': 'application/json' }
const VIEWER = '{ viewer { business { name } } }'

/** `/graphql` below the client, for requests that are none of GraphQL's. */
async function setUp(t: Parameters<typeof startApp>[0], env: Record<string, string> = {}) {
  const app = await startApp(t, { env })
  const tenant = await createTenant(app)
  const bearer = { authorization: `Bearer ${tenant.key}` }
  const fetchGraph = async (init: RequestInit & { headers?: Record<string, string> }, search = '') => {
    const response = await fetch(`${app.url}/graphql${search}`, init)
    const text = await response.text()
    return { status: response.status, headers: response.headers, text }
  }
  return { app, tenant, bearer, fetchGraph }
}

test('the endpoint passes every audit of GraphQL over HTTP, MUST and SHOULD', async (t) => {
  const { app, bearer } = await setUp(t)
  const withKey = (url: string, init: RequestInit = {}) =>
    fetch(url, { ...init, headers: { ...bearer, ...(init.headers as Record<string, string>) } })
  const results = await auditServer({ url: `${app.url}/graphql`, fetchFn: withKey })
  t.true(results.length > 50)
  t.deepEqual(
    results.flatMap((result) =>
      result.status === 'ok' || /^MAY/.test(result.name) ? [] : [`${result.name}: ${result.reason}`],
    ),
    [],
  )
})

test('every answer has an id and says how the limit stands', async (t) => {
  const { bearer, fetchGraph } = await setUp(t)
  const post = (headers: Record<string, string>, body: string) =>
    fetchGraph({ method: 'POST', headers, body })
  const answers = [
    await post({ ...bearer, ...JSON_TYPE }, JSON.stringify({ query: VIEWER })),
    await post({ ...bearer, ...JSON_TYPE }, '{'),
    await post({ ...bearer, ...JSON_TYPE }, JSON.stringify({ query: '{' })),
    await post(JSON_TYPE, JSON.stringify({ query: VIEWER })),
    await fetchGraph({ method: 'PUT', headers: bearer }),
  ]
  t.deepEqual(
    answers.map(({ status }) => status),
    [200, 400, 200, 401, 405],
  )
  for (const { headers } of answers)
    for (const name of ['x-request-id', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'])
      t.truthy(headers.get(name), name)
})

test('a key is checked as in REST: one 401, a suspended business, the limit of failures', async (t) => {
  const { app, tenant } = await setUp(t, { RATE_LIMIT_FAILED_AUTH_PER_MINUTE: '2' })
  for (const key of [undefined, 'nonsense']) {
    const { status, errors } = await graphClient(app.url, key)(VIEWER)
    t.is(status, 401)
    t.deepEqual(errors, [{ message: 'Invalid API key', extensions: { code: 'INVALID_API_KEY' } }])
  }
  const { status, errors, headers } = await graphClient(app.url, undefined)(VIEWER)
  t.deepEqual([status, errors![0].extensions.code], [429, 'RATE_LIMIT_EXCEEDED'])
  t.is(headers.get('retry-after'), headers.get('ratelimit-reset'))
  t.is((await tenant.graph(VIEWER)).data.viewer.business.name, 'Corner Café')
  const suspended = await createTenant(app)
  const { businessId } = suspended
  await app.database.db.business.update({ where: { id: businessId }, data: { status: 'suspended' } })
  t.deepEqual((await suspended.graph(VIEWER)).errors, [
    { message: 'Business suspended', extensions: { code: 'BUSINESS_SUSPENDED' } },
  ])
})

test('one request is one operation: batches are refused', async (t) => {
  const { bearer, fetchGraph } = await setUp(t)
  const body = JSON.stringify([{ query: VIEWER }, { query: VIEWER }])
  const { status, text } = await fetchGraph({ method: 'POST', headers: { ...bearer, ...JSON_TYPE }, body })
  t.is(status, 400)
  t.regex(text, /Batching is not supported/)
})

test('only JSON is taken: no form that another site could send runs anything', async (t) => {
  const { tenant, bearer, fetchGraph } = await setUp(t)
  const query = 'mutation { updateSettings(input: { timezone: "Asia/Tokyo" }) { timezone } }'
  const form = new URLSearchParams({ query }).toString()
  for (const [type, body] of [
    ['application/x-www-form-urlencoded', form],
    [
      'multipart/form-data; boundary=x',
      `--x\r\nContent-Disposition: form-data; name="query"\r\n\r\n${query}\r\n--x--`,
    ],
    ['text/plain', JSON.stringify({ query })],
    ['application/graphql', query],
  ] as const) {
    const { status, text } = await fetchGraph({
      method: 'POST',
      headers: { ...bearer, 'content-type': type },
      body,
    })
    t.deepEqual([status, JSON.parse(text).errors[0].extensions.code], [415, 'UNSUPPORTED_MEDIA_TYPE'], type)
  }
  t.is((await tenant.rest('GET /settings')).body.data.settings.timezone, 'UTC')
})

test('a GET may read and not change anything', async (t) => {
  const { tenant, bearer, fetchGraph } = await setUp(t)
  const get = (query: string) => fetchGraph({ headers: bearer }, `?${new URLSearchParams({ query })}`)
  t.is((await get(VIEWER)).status, 200)
  const refused = await get('mutation { updateSettings(input: { timezone: "Asia/Tokyo" }) { timezone } }')
  t.deepEqual([refused.status, refused.headers.get('allow')], [405, 'POST'])
  t.is((await tenant.rest('GET /settings')).body.data.settings.timezone, 'UTC')
})

test('bad bodies are refused as in REST and break nothing', async (t) => {
  const { bearer, fetchGraph } = await setUp(t)
  const post = async (body: string | Buffer) => {
    const { status, text } = await fetchGraph({
      method: 'POST',
      headers: { ...bearer, ...JSON_TYPE },
      body: new Uint8Array(Buffer.from(body)),
    })
    return [status, JSON.parse(text).errors[0].extensions.code]
  }
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  t.deepEqual(await post('{"query"'), [400, 'INVALID_JSON'])
  t.deepEqual(await post(Buffer.from('{"query":"{ viewer { business { name } } } # é"}', 'latin1')), [
    400,
    'INVALID_JSON',
  ])
  t.deepEqual(await post(`{"query":"{__typename}","variables":{"a":${deep}}}`), [400, 'INVALID_JSON'])
  t.deepEqual(await post(JSON.stringify({ query: VIEWER, variables: 'x'.repeat(20_000_000) })), [
    413,
    'BODY_TOO_LARGE',
  ])
  t.deepEqual(await post(`{"query":${JSON.stringify(`{${'a{'.repeat(100_000)}`)}}`), [
    200,
    'GRAPHQL_PARSE_FAILED',
  ])
  t.deepEqual(await post('null'), [400, 'BAD_REQUEST'])
})

test('in development a visitor may open GraphiQL and read the schema, and nothing else', async (t) => {
  const { app, fetchGraph } = await setUp(t, { NODE_ENV: 'development' })
  const visitor = graphClient(app.url, undefined)
  const { data } = await visitor('{ __schema { queryType { name } } __type(name: "Reward") { name } }')
  t.deepEqual(data, { __schema: { queryType: { name: 'Query' } }, __type: { name: 'Reward' } })
  for (const query of [
    VIEWER,
    `{ __typename ...on Query ${VIEWER} }`,
    `{ ...all } fragment all on Query ${VIEWER}`,
    'mutation { updateSettings(input: { timezone: "Asia/Tokyo" }) { timezone } }',
  ]) {
    const { status, data, errors } = await visitor(query)
    t.deepEqual([status, data ?? null, errors![0].extensions.code], [401, null, 'INVALID_API_KEY'], query)
  }
  const { status, headers, text } = await fetchGraph({ headers: { accept: 'text/html' } })
  t.deepEqual([status, headers.get('content-type')], [200, 'text/html'])
  t.true(text.includes('YogaGraphiQL.renderYogaGraphiQL'))
})

test('GraphiQL needs nothing from outside, and the browser would let it load nothing', async (t) => {
  const { fetchGraph } = await setUp(t, { NODE_ENV: 'development' })
  const { headers, text } = await fetchGraph({ headers: { accept: 'text/html' } })
  const document = text
    .replace(/<script>[\s\S]*?<\/script>/g, '<script></script>')
    .replace(/<style>[\s\S]*?<\/style>/g, '')
  t.notRegex(document, /(src|href)="(https?:)?\/\//)
  t.notRegex(text, /(@import|url\(|importScripts\(|import\()\s*["'`]?https?:/)
  const policy = headers.get('content-security-policy')!
  t.regex(policy, /^default-src 'self'/)
  t.notRegex(policy, /https?:|\*/)
})

for (const environment of ['production', 'test'])
  test(`in ${environment} there is no GraphiQL, and the schema is read with a key alone`, async (t) => {
    const { tenant, app, fetchGraph } = await setUp(t, { NODE_ENV: environment })
    const page = await fetchGraph({ headers: { accept: 'text/html' } })
    t.deepEqual([page.status, page.text.includes('<html')], [401, false])
    const introspection = '{ __schema { queryType { name } } }'
    t.is((await graphClient(app.url, undefined)(introspection)).status, 401)
    t.is((await tenant.graph(introspection)).data.__schema.queryType.name, 'Query')
    const keyed = await fetchGraph({
      headers: { accept: 'text/html', authorization: `Bearer ${tenant.key}` },
    })
    t.false(keyed.text.includes('<html'))
  })

test('a business sees its own and nothing else', async (t) => {
  const { app, tenant } = await setUp(t)
  const { user_id } = await createCustomer(tenant)
  const other = await createTenant(app)
  const query = 'query ($id: String!) { customer(customer: $id) { id } customers { totalCount } }'
  const { data, errors } = await other.graph(query, { id: user_id })
  t.deepEqual([data, errors![0].extensions.code], [null, 'CUSTOMER_NOT_FOUND'])
  t.is((await other.graph('{ customers { totalCount } }')).data.customers.totalCount, 0)
})
