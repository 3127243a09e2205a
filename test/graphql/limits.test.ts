import test from 'ava'
import { getIntrospectionQuery } from 'graphql'
import * as z from 'zod'
import { builder } from '../../src/graphql/builder.js'
import { query } from '../../src/graphql/fields.js'

/*
 * A type that holds itself, so that queries can be as deep as a test wants. It has to be declared before the schema is
 * assembled, which importing the app does.
 */
const Nest = builder.objectRef<object>('Nest')
Nest.implement({
  fields: (t) => ({
    nest: t.field({ type: Nest, resolve: () => ({}) }),
    leaf: t.int({ resolve: () => 1 }),
  }),
})
query('nest', { description: 'For tests.', type: Nest, args: z.strictObject({}), resolve: () => ({}) })
const { createTenant, startApp } = await import('../helpers/app.js')

/** `{ nest { nest { leaf } } }`: three levels. */
const nested = (levels: number): string => `${'{ nest '.repeat(levels - 1)}{ leaf }${' }'.repeat(levels - 1)}`

const TOO_COMPLEX = 'QUERY_TOO_COMPLEX'
const codeOf = ({ errors }: { errors: { extensions: { code: string } }[] | undefined }) =>
  errors?.[0]?.extensions.code

test('a query has at most 10 levels, counted through fragments', async (t) => {
  const { graph } = await createTenant(await startApp(t))
  t.is(codeOf(await graph(nested(10))), undefined)
  const { data, errors } = await graph(nested(11))
  t.is(data, null)
  t.is(errors![0].extensions.code, TOO_COMPLEX)
  t.is(errors![0].message, 'Query exceeds maximum depth (depth: 11, max: 10)')
  const spread = (levels: number) => `{ nest { nest { ...rest } } } fragment rest on Nest ${nested(levels)}`
  t.is(codeOf(await graph(spread(8))), undefined)
  t.is(codeOf(await graph(spread(9))), TOO_COMPLEX)
  t.is(codeOf(await graph(`{ nest { ... on Nest ${nested(10)} } }`)), TOO_COMPLEX)
})

test('a query asks for at most 10,000 objects: lists count as long as they may be, scalars nothing', async (t) => {
  const { graph } = await createTenant(await startApp(t))
  // The connection, and for each of the nodes: itself, its edge and the two things it names.
  const page = (first: number) =>
    `rewards(first: ${first}) { edges { node { id name pool { total } tierGate { mode } } } }`
  const cost = (first: number) => 1 + first * 4
  const pages = (count: number, last: number) =>
    `{ ${Array.from({ length: count - 1 }, (_, index) => `p${index}: ${page(100)}`).join(' ')} ${page(last)} }`
  const below = pages(15, 100)
  t.true(15 * cost(100) < 10_000)
  t.is(codeOf(await graph(below)), undefined)

  const wide = (first: number) =>
    `customers(first: ${first}) { nodes { tier { id } identifiers { id } } edges { node { tier { id } identifiers { id } } } }`
  const wideCost = (first: number) => 1 + first * 7
  const wides = (last: number) =>
    `{ ${Array.from({ length: 14 }, (_, index) => `p${index}: ${wide(100)}`).join(' ')} ${wide(last)} }`
  const room = Math.floor((10_000 - 14 * wideCost(100) - 1) / 7)
  t.true(room > 0 && room < 100)
  t.is(codeOf(await graph(wides(room))), undefined)
  const { data, errors } = await graph(wides(room + 1))
  t.deepEqual([data, errors![0].extensions.code], [null, TOO_COMPLEX])
  t.is(
    errors![0].message,
    `Query exceeds maximum complexity (complexity: ${14 * wideCost(100) + wideCost(room + 1)}, max: 10000)`,
  )
  t.is(codeOf(await graph('{ transactions { nodes { id } } }')), undefined)
})

test('how long a list may be is also read from variables and from last', async (t) => {
  const { graph } = await createTenant(await startApp(t))
  const asked = (argument: string) =>
    `query${argument.includes('$') ? ' ($n: Int)' : ''} { ${Array.from({ length: 15 }, (_, index) => `p${index}: redemptions${argument} { nodes { reward { pool { total } tierGate { mode } } customer { tier { id } identifiers { id } } } }`).join(' ')} }`
  for (const argument of ['(first: $n)', '(last: $n)', '(first: 100)', '(last: 100)']) {
    t.is(codeOf(await graph(asked(argument), { n: 100 })), TOO_COMPLEX, argument)
    if (argument.includes('$')) t.is(codeOf(await graph(asked(argument), { n: 10 })), undefined, argument)
  }
  t.is(codeOf(await graph(asked(''))), undefined)
})

test('a refused query has run nothing: no part of it, and no mutation', async (t) => {
  const { graph, rest } = await createTenant(await startApp(t))
  const tokens = 'mutation { updateSettings(input: { timezone: "Asia/Tokyo" }) { timezone } }'
  t.is((await graph(tokens)).data.updateSettings.timezone, 'Asia/Tokyo')
  const aliased = `mutation { ${Array.from({ length: 16 }, (_, index) => `m${index}: updateSettings(input: { timezone: "UTC" }) { timezone }`).join(' ')} }`
  t.is(codeOf(await graph(aliased)), 'GRAPHQL_VALIDATION_FAILED')
  t.is((await rest('GET /settings')).body.data.settings.timezone, 'Asia/Tokyo')
})

test('a document has at most 15 aliases, wherever they stand', async (t) => {
  const { graph } = await createTenant(await startApp(t))
  const roots = (count: number) =>
    `{ ${Array.from({ length: count }, (_, index) => `a${index}: business { id }`).join(' ')} }`
  const inner = (count: number) =>
    `{ business { ...many } } fragment many on Business { ${Array.from({ length: count }, (_, index) => `a${index}: id`).join(' ')} }`
  for (const document of [roots, inner]) {
    t.is(codeOf(await graph(document(15))), undefined)
    const { errors } = await graph(document(16))
    t.deepEqual(
      [errors![0].message, errors![0].extensions.code],
      ['At most 15 aliases are allowed', 'GRAPHQL_VALIDATION_FAILED'],
    )
  }
})

test('a document has at most 1000 tokens; one that reads the schema 2000', async (t) => {
  const { graph } = await createTenant(await startApp(t))
  // Five tokens around so many names, or nine; past the limit nobody looks whether it is a valid query.
  const isRead = async (names: number, beside = '') =>
    codeOf(await graph(`{ ${beside} business { ${'nobody '.repeat(names)} } }`)) ===
    'GRAPHQL_VALIDATION_FAILED'
  const schema = '__schema { description }'
  t.deepEqual([await isRead(995), await isRead(996)], [true, false])
  t.deepEqual([await isRead(1991, schema), await isRead(1992, schema)], [true, false])
  const { errors } = await graph(`{ business { ${'id '.repeat(996)} } }`)
  t.is(errors![0].extensions.code, 'GRAPHQL_PARSE_FAILED')
})

test('the standard introspection query passes as deep as it is, alone or beside others; no other goes with it', async (t) => {
  const { graph } = await createTenant(await startApp(t))
  const full = getIntrospectionQuery({
    descriptions: true,
    specifiedByUrl: true,
    directiveIsRepeatable: true,
    schemaDescription: true,
    inputValueDeprecation: true,
    oneOf: true,
  })
  for (const introspection of [full, getIntrospectionQuery()]) {
    const { data, errors } = await graph(introspection)
    t.is(errors, undefined)
    t.true(data.__schema.types.length > 50)
  }
  const beside = full.replace('__schema {', `${nested(11).slice(1, -1)} __schema {`)
  t.is(codeOf(await graph(beside)), TOO_COMPLEX)
})

test('the limits of the graph are not those of REST: the longest page of everything passes there', async (t) => {
  const { rest } = await createTenant(await startApp(t))
  for (const path of ['/redemptions', '/rewards', '/customers', '/transactions'])
    t.is((await rest(`GET ${path}?limit=100`)).status, 200)
})

test('each mutation field counts against its own limit, aliases too; the request itself against the default one', async (t) => {
  const app = await startApp(t, {
    env: { RATE_LIMIT_POINTS_PER_MINUTE: '3', RATE_LIMIT_DEFAULT_PER_MINUTE: '5' },
  })
  const { graph, rest } = await createTenant(app)
  const { user_id } = (await rest('POST /customers', {})).body.data.customer
  const issue = `issuePoints(input: { userId: "${user_id}", points: 1 }) { balance { balance } }`
  const two = await graph(`mutation { a: ${issue} b: ${issue} }`)
  t.deepEqual([two.data.b.balance.balance, two.headers.get('ratelimit-limit')], [2, '3'])
  const { errors, data } = await graph(`mutation { a: ${issue} b: ${issue} }`)
  t.is(data, null)
  t.deepEqual(
    [errors!.length, errors![0].path, errors![0].extensions.code],
    [1, ['b'], 'RATE_LIMIT_EXCEEDED'],
  )
  t.true(errors![0].extensions.retryAfter >= 1)
  // Only the fourth was too many; what had been done before it stays done.
  t.is((await rest(`GET /customers/${user_id}/balance`)).body.data.balance, 3)
  // One customer, two requests, one reading: one is left.
  t.is((await graph('{ viewer { business { id } } }')).status, 200)
  const refused = await graph('{ viewer { business { id } } }')
  t.deepEqual([refused.status, codeOf(refused)], [429, 'RATE_LIMIT_EXCEEDED'])
})
