import test from 'ava'
import { createApiKey } from '../../src/businesses/accounts.js'
import { createTenant, graphClient, startApp } from '../helpers/app.js'
import { createCustomer } from '../helpers/factories.js'

const ISSUE = 'mutation ($input: IssuePointsInput!) { issuePoints(input: $input) { balance { balance } } }'
const key = (value: string) => ({ 'idempotency-key': value })

test('a refusal says its code, its value and where in the query it arose', async (t) => {
  const { graph, rest } = await createTenant(await startApp(t))
  const { user_id } = await createCustomer({ rest })
  const redeem = `mutation { taken: redeemPoints(input: { userId: "${user_id}", points: 5 }) { balance { balance } } }`
  const { status, data, errors } = await graph(redeem)
  t.deepEqual([status, data], [200, null])
  t.deepEqual(errors, [
    {
      message: 'INSUFFICIENT_POINTS:0',
      locations: [{ line: 1, column: 12 }],
      path: ['taken'],
      extensions: { code: 'INSUFFICIENT_POINTS', value: 0 },
    },
  ])
})

test('bad input names every field, in the spelling of the graph', async (t) => {
  const { graph } = await createTenant(await startApp(t))
  const { errors } = await graph(ISSUE, {
    input: { points: 0, description: 'a\0b', occurredAt: '2020-01-01T00:00:00Z' },
  })
  t.is(errors!.length, 1)
  t.deepEqual(errors![0].extensions, {
    code: 'INVALID_INPUT',
    fields: [
      { path: 'points', message: 'must be at least 1' },
      { path: 'description', message: 'must not contain NUL characters' },
    ],
  })
  t.is(errors![0].message, 'points: must be at least 1; description: must not contain NUL characters')
})

test('values that do not fit a type are bad input as well, wherever they stand', async (t) => {
  const { graph } = await createTenant(await startApp(t))
  const refused: [string, object?][] = [
    [ISSUE, { input: { points: 'many' } }],
    [ISSUE, { input: { points: 2 ** 31 } }],
    [ISSUE, { input: { userId: 'me', points: 1 } }],
    [ISSUE, { input: { points: 1, nonsense: 1 } }],
    [ISSUE, { input: [] }],
    [ISSUE, {}],
    ['query ($first: Int) { customers(first: $first) { totalCount } }', { first: '1' }],
  ]
  for (const [query, variables] of refused) {
    const { data, errors } = await graph(query, variables as Record<string, unknown>)
    t.deepEqual(
      [data ?? null, errors![0].extensions.code],
      [null, 'INVALID_INPUT'],
      JSON.stringify(variables),
    )
  }
  const invalid = [
    '{ nobody }',
    '{ customers(first: "1") { totalCount } }',
    'query ($a: Nothing) { __typename }',
    '{ business }',
  ]
  for (const query of invalid)
    t.is((await graph(query)).errors![0].extensions.code, 'GRAPHQL_VALIDATION_FAILED', query)
  t.is((await graph('{')).errors![0].extensions.code, 'GRAPHQL_PARSE_FAILED')
  const two = 'query A { business { id } } query B { business { id } }'
  t.is((await graph(two)).errors![0].extensions.code, 'OPERATION_RESOLUTION_FAILURE')
})

test('a field needs the scope that its REST route needs', async (t) => {
  const app = await startApp(t)
  const { businessId } = await createTenant(app)
  const made = { businessId, name: 'reader', scopes: ['customers:read' as const] }
  const reader = await createApiKey(app.database, app.secrets, made, app.clock.now())
  const graph = graphClient(app.url, reader.key)
  t.is((await graph('{ customers { totalCount } }')).errors, undefined)
  for (const query of ['{ transactions { totalCount } }', '{ customers { totalCount } business { name } }']) {
    const { errors } = await graph(query)
    t.is(errors![0].extensions.code, 'INSUFFICIENT_SCOPE', query)
  }
  const { errors } = await graph(ISSUE, { input: { points: 0 } })
  t.deepEqual(
    [errors![0].message, errors![0].extensions.value],
    ['Insufficient scope: points:write', 'points:write'],
  )
})

test('a key makes one mutation happen once; the replay is the same, byte for byte', async (t) => {
  const app = await startApp(t)
  const tenant = await createTenant(app)
  const { user_id } = await createCustomer(tenant)
  const post = async (points: number, headers: Record<string, string> = key('a'), query = ISSUE) => {
    const response = await fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tenant.key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query, variables: { input: { points, userId: user_id } } }),
    })
    return { text: await response.text(), replayed: response.headers.get('idempotency-replayed') }
  }
  const first = await post(10)
  t.is(first.replayed, null)
  t.deepEqual(await post(10), { text: first.text, replayed: 'true' })
  t.regex((await post(11)).text, /IDEMPOTENCY_KEY_REUSED/)
  t.regex((await post(10, key('a'), `${ISSUE} `)).text, /IDEMPOTENCY_KEY_REUSED/)
  t.regex((await post(10, key(''))).text, /INVALID_IDEMPOTENCY_KEY/)
  t.is((await tenant.rest(`GET /customers/${user_id}/balance`)).body.data.balance, 10)
  // The facade's requests are others.
  const rest = await tenant.rest('POST /points/issue', { user_id, points: 10 }, key('a'))
  t.is(rest.status, 422)
})

test('a refusal of the graph is stored with its code, and replayed when it no longer holds', async (t) => {
  const { graph, rest } = await createTenant(await startApp(t))
  const { user_id } = await createCustomer({ rest })
  const redeem =
    'mutation ($input: RedeemPointsInput!) { redeemPoints(input: $input) { balance { balance } } }'
  const variables = { input: { userId: user_id, points: 5 } }
  const first = await graph(redeem, variables, key('a'))
  t.deepEqual(first.errors![0].extensions, { code: 'INSUFFICIENT_POINTS', value: 0 })
  await graph(ISSUE, variables)
  const retry = await graph(redeem, variables, key('a'))
  t.deepEqual([retry.data, retry.errors], [first.data, first.errors])
  t.is(retry.headers.get('idempotency-replayed'), 'true')
  t.is((await graph(redeem, variables, key('b'))).data.redeemPoints.balance.balance, 0)
})

test('bad input is not stored: the key serves the corrected mutation', async (t) => {
  const { graph, rest } = await createTenant(await startApp(t))
  const { user_id } = await createCustomer({ rest })
  const issue = (points: unknown) => graph(ISSUE, { input: { userId: user_id, points } }, key('a'))
  t.is((await issue(0)).errors![0].extensions.code, 'INVALID_INPUT')
  t.is((await issue('x')).errors![0].extensions.code, 'INVALID_INPUT')
  t.is((await issue(5)).data.issuePoints.balance.balance, 5)
})

test('a key with several mutations is refused, however they are written, and none of them happens', async (t) => {
  const { graph, rest } = await createTenant(await startApp(t))
  const { user_id } = await createCustomer({ rest })
  const issue = `issuePoints(input: { userId: "${user_id}", points: 1 }) { balance { balance } }`
  for (const mutation of [
    `mutation { a: ${issue} b: ${issue} }`,
    `mutation { ... on Mutation { a: ${issue} b: ${issue} } }`,
    `mutation { ...both } fragment both on Mutation { a: ${issue} ... on Mutation { b: ${issue} } }`,
    'mutation { __typename }',
  ]) {
    const { errors } = await graph(mutation, {}, key('a'))
    t.deepEqual(
      [errors![0].message, errors![0].extensions.code],
      ['Idempotency-Key needs a request of one mutation', 'INVALID_IDEMPOTENCY_KEY'],
    )
  }
  t.is((await rest(`GET /customers/${user_id}/balance`)).body.data.balance, 0)
  const one = await graph(
    `mutation { __typename ...one } fragment one on Mutation { ${issue} }`,
    {},
    key('a'),
  )
  t.is(one.data.issuePoints.balance.balance, 1)
  t.is((await graph('{ viewer { business { id } } }', {}, key('a'))).errors, undefined)
})

test('a replay needs the scope of its mutation and counts against its limit', async (t) => {
  const app = await startApp(t, { env: { RATE_LIMIT_POINTS_PER_MINUTE: '2' } })
  const { graph, rest, businessId } = await createTenant(app)
  const { user_id } = await createCustomer({ rest })
  const variables = { input: { userId: user_id, points: 5 } }
  const made = { businessId, name: 'reader', scopes: ['customers:read' as const] }
  const reader = await createApiKey(app.database, app.secrets, made, app.clock.now())
  const first = await graph(ISSUE, variables, key('a'))
  t.is(first.headers.get('ratelimit-remaining'), '1')
  const stranger = await graphClient(app.url, reader.key)(ISSUE, variables, key('a'))
  t.is(stranger.errors![0].extensions.code, 'INSUFFICIENT_SCOPE')
  const replay = await graph(ISSUE, variables, key('a'))
  t.deepEqual([replay.data, replay.headers.get('ratelimit-remaining')], [first.data, '0'])
  t.is((await graph(ISSUE, variables, key('a'))).errors![0].extensions.code, 'RATE_LIMIT_EXCEEDED')
})
