import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import pino from 'pino'
import { createApp } from '../../src/app.js'
import { readConfig } from '../../src/config.js'
import { schema } from '../../src/graphql/schema.js'
import { compileRoute, compileRoutes } from '../../src/rest/compile.js'
import type { Route } from '../../src/rest/route.js'
import { routes } from '../../src/rest/routes.js'
import { createTenant, restClient, startApp } from '../helpers/app.js'
import { createCustomer } from '../helpers/factories.js'

const valid: Route = {
  method: 'get',
  path: '/transactions/:id',
  operation: 'query ($customer: String!) { customerBalance(customer: $customer) { balance } }',
  params: { id: 'customer' },
  status: 200,
  message: 'Found',
}

/** Rows that do not fit the schema, each with what is said of it. */
const broken: Record<string, [Partial<Route>, RegExp]> = {
  'no GraphQL': [{ operation: '{ viewer' }, /Syntax Error/],
  'an unknown field': [{ operation: '{ viewer { nobody } }' }, /Cannot query field "nobody"/],
  'a variable of the wrong type': [
    { operation: 'query ($customer: Int!) { customerBalance(customer: $customer) { balance } }' },
    /position expecting type "String!"/,
  ],
  'two root fields': [{ operation: '{ viewer { business { id } } business { id } }' }, /one root field/],
  'two operations': [
    { operation: 'query A { viewer { business { id } } } query B { business { id } }' },
    /one operation/,
  ],
  'a field that says nothing of itself': [{ operation: '{ __typename }' }, /not declared/],
  'a path parameter that fills nothing': [{ params: {} }, /:id fills no variable/],
  'a path parameter that is not in the path': [
    { params: { id: 'customer', code: 'customer' } },
    /:code is not in the path/,
  ],
  'a parameter for an unknown variable': [{ query: { limit: 'first' } }, /no variable \$first/],
  'a parameter for an unknown field': [
    {
      operation:
        'mutation ($input: RedeemPointsInput!) { redeemPoints(input: $input) { balance { balance } } }',
      params: { id: 'input.transaction' },
    },
    /\$input has no field transaction/,
  ],
  'a variable that nothing fills': [{ path: '/transactions', params: {} }, /nothing fills \$customer/],
  'a file of which nothing takes the position': [
    {
      operation: 'query ($customer: UUID!) { poolValues(rewardId: $customer) { nodes { value } } }',
      file: 'values',
    },
    /no variable \$after/,
  ],
  'a file without a next page': [
    {
      operation: `query ($customer: UUID!, $after: String) {
        poolValues(rewardId: $customer, after: $after) { nodes { value } }
      }`,
      notFound: 'REWARD_NOT_FOUND',
      file: 'values',
    },
    /a file needs nodes/,
  ],
  'CSV that fills nothing': [
    {
      operation:
        'mutation ($input: ReverseTransactionInput!) { reverseTransaction(input: $input) { balance { balance } } }',
      params: { id: 'input.id' },
      csv: { column: 'value', fills: 'values' },
    },
    /\$input has no field values/,
  ],
  'an id without a word for its absence': [
    {
      operation:
        'mutation ($input: ReverseTransactionInput!) { reverseTransaction(input: $input) { balance { balance } } }',
      params: { id: 'input.id' },
    },
    /:id needs notFound/,
  ],
}

for (const [what, [change, problem]] of Object.entries(broken))
  test(`a row with ${what} stops the start, by name`, (t) => {
    const error = t.throws(() => compileRoute(schema, { ...valid, ...change }))
    t.regex(error.message, /^route GET \/transactions/)
    t.regex(error.message, problem)
  })

test('a valid row does not', (t) => {
  t.notThrows(() => compileRoute(schema, valid))
})

test('the same row twice stops the start', (t) => {
  t.throws(() => compileRoutes(schema, [valid, { ...valid, message: 'Found again' }]), {
    message: 'route GET /transactions/:id: stands in the table twice',
  })
})

test('a literal path is no id, whatever the order of the rows', async (t) => {
  const services = await startApp(t)
  const tenant = await createTenant(services)
  await createCustomer(tenant, { identifiers: [{ value: 'card-1' }] })
  const config = readConfig({ NODE_ENV: 'test' })
  const log = pino({ level: 'silent' })
  for (const table of [routes, [...routes].reverse()]) {
    const app = createApp({ ...services, config, log, schema, routes: table })
    const server = createServer(app.koa.callback()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => server.close())
    const rest = restClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, tenant.key)
    t.is((await rest('GET /customers/lookup?identifier=card-1')).status, 200)
    t.is((await rest('GET /customers/card-1')).status, 200)
  }
})
