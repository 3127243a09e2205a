import test, { type ExecutionContext } from 'ava'
import { startContractApp } from '../contract/table.js'
import { createTenant, type Tenant, testClock } from '../helpers/app.js'
import { statementsDuring } from '../helpers/statements.js'
import { type Connection, everythingOfNodes, fillConnections } from './connections.js'

interface PageOfList {
  totalCount: number
  ids: string[]
  cursors: string[]
  pageInfo: {
    hasNextPage: boolean
    hasPreviousPage: boolean
    startCursor: string | null
    endCursor: string | null
  }
}

async function read({ graph }: Tenant, { name, given }: Connection, args: string): Promise<PageOfList> {
  const { data, errors } = await graph(`{ list: ${name}(${given}${args}) {
    totalCount nodes { id } edges { cursor node { id } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  } }`)
  if (errors) throw new Error(`${name}(${args}): ${JSON.stringify(errors)}`)
  const { edges, nodes, ...rest } = data.list
  const ids = nodes.map(({ id }: { id: string }) => id)
  if (JSON.stringify(ids) !== JSON.stringify(edges.map(({ node }: { node: { id: string } }) => node.id)))
    throw new Error(`${name}: nodes and edges differ`)
  return { ...rest, ids, cursors: edges.map(({ cursor }: { cursor: string }) => cursor) }
}

/** Two businesses with entries of every kind, all made at one and the same moment. */
async function setUp(t: ExecutionContext, count: number) {
  const app = await startContractApp(t, { clock: testClock() })
  const tenant = await createTenant(app)
  const other = await createTenant(app)
  const connections = await fillConnections(app, tenant, count)
  await fillConnections(app, other, 2)
  return { app, tenant, other, connections }
}

test('every list is paged without a gap or a double, forwards, backwards and by offset, also where all was made at once', async (t) => {
  const { tenant, connections } = await setUp(t, 5)
  t.true(connections.length >= 6)
  for (const list of connections) {
    const all = await read(tenant, list, 'first: 100')
    t.true(all.ids.length >= 5, list.name)
    t.deepEqual([new Set(all.ids).size, all.totalCount], [all.ids.length, all.ids.length], list.name)
    t.deepEqual(all.pageInfo, {
      hasNextPage: false,
      hasPreviousPage: false,
      startCursor: all.cursors[0]!,
      endCursor: all.cursors.at(-1)!,
    })
    const size = 2
    const forwards: string[] = []
    for (let after = ''; ; ) {
      const page = await read(tenant, list, `first: ${size}${after}`)
      t.is(page.pageInfo.hasPreviousPage, forwards.length > 0)
      forwards.push(...page.ids)
      if (!page.pageInfo.hasNextPage) break
      t.is(page.ids.length, size)
      after = `, after: "${page.pageInfo.endCursor}"`
    }
    t.deepEqual(forwards, all.ids, list.name)
    const backwards: string[] = []
    for (let before = ''; ; ) {
      const page = await read(tenant, list, `last: ${size}${before}`)
      t.is(page.pageInfo.hasNextPage, backwards.length > 0)
      backwards.unshift(...page.ids)
      if (!page.pageInfo.hasPreviousPage) break
      before = `, before: "${page.pageInfo.startCursor}"`
    }
    t.deepEqual(backwards, all.ids, list.name)
    const byOffset: string[] = []
    while (byOffset.length < all.ids.length)
      byOffset.push(...(await read(tenant, list, `first: ${size}, offset: ${byOffset.length}`)).ids)
    t.deepEqual(byOffset, all.ids, list.name)

    const [first, , third] = all.cursors as [string, string, string]
    t.deepEqual((await read(tenant, list, `after: "${first}", before: "${third}"`)).ids, [all.ids[1]])
    t.deepEqual((await read(tenant, list, `last: 1, before: "${third}"`)).ids, [all.ids[1]])
    t.deepEqual((await read(tenant, list, `last: 1, after: "${first}"`)).ids, [all.ids.at(-1)])
    const skipping = await read(tenant, list, 'last: 1, offset: 1')
    t.deepEqual([skipping.ids, skipping.pageInfo.hasNextPage], [[all.ids.at(-2)], true])
    t.deepEqual((await read(tenant, list, `offset: 1000`)).ids, [])
  }
})

test('what is added meanwhile does not move the pages that come after it', async (t) => {
  const { tenant, connections } = await setUp(t, 4)
  const lists = connections.filter(({ name }) => name !== 'poolValues')
  const before = new Map<string, { rest: string[]; after: string }>()
  for (const list of lists) {
    const { ids, cursors } = await read(tenant, list, 'first: 100')
    before.set(list.name, { rest: ids.slice(2), after: cursors[1]! })
  }
  const app = { rest: tenant.rest }
  const { user_id } = (await app.rest('POST /customers', {})).body.data.customer
  const reward = (await app.rest('POST /rewards', { name: 'New', points_cost: 1 })).body.data.reward
  await app.rest('POST /points/issue', { user_id, points: 5 })
  await app.rest('POST /redemptions', { reward_id: reward.id, user_id })
  for (const list of lists) {
    const { rest, after } = before.get(list.name)!
    t.deepEqual((await read(tenant, list, `first: 100, after: "${after}"`)).ids, rest, list.name)
  }
})

test("another business's cursor is no more than a place in the order", async (t) => {
  const { tenant, other, connections } = await setUp(t, 2)
  for (const list of connections.filter(({ given }) => given === '')) {
    const own = (await read(tenant, list, 'first: 100')).ids
    const { cursors } = await read(other, list, 'first: 100')
    for (const cursor of cursors)
      for (const side of ['after', 'before'])
        for (const id of (await read(tenant, list, `${side}: "${cursor}"`)).ids)
          t.true(own.includes(id), list.name)
  }
})

test('what is no cursor is refused by name', async (t) => {
  const { tenant, connections } = await setUp(t, 1)
  const encoded = (text: string) => Buffer.from(text).toString('base64url')
  const id = '01900000-0000-7000-8000-000000000000'
  const bad = [
    'x',
    '💥',
    encoded('1'),
    encoded(`1:${'-'.repeat(36)}`),
    encoded(`${'9'.repeat(15)}:${id}`),
    encoded(`-1:${id}`),
    encoded(`:${id}`),
    encoded(`1:${id}x`),
    encoded(`1e3:${id}`),
  ]
  for (const { name, given } of connections)
    for (const side of ['after', 'before']) {
      for (const cursor of bad) {
        const { errors } = await tenant.graph(`{ ${name}(${given}${side}: "${cursor}") { totalCount } }`)
        const { code, fields } = errors![0].extensions
        t.deepEqual(
          [code, fields],
          ['INVALID_INPUT', [{ path: side, message: 'is not a cursor of this list' }]],
          cursor,
        )
      }
      const far = encoded(`${'9'.repeat(14)}:${id}`)
      const { errors } = await tenant.graph(`{ ${name}(${given}${side}: "${far}") { nodes { id } } }`)
      t.is(errors, undefined)
    }
})

test('arguments that contradict each other, or ask for too much, are refused by name', async (t) => {
  const { tenant, connections } = await setUp(t, 1)
  for (const list of connections) {
    const { cursors } = await read(tenant, list, 'first: 1')
    const cursor = `"${cursors[0]}"`
    const refused: [string, string][] = [
      ['first: 1, last: 1', 'last'],
      [`offset: 0, after: ${cursor}`, 'offset'],
      [`offset: 0, before: ${cursor}`, 'offset'],
      ['first: 0', 'first'],
      ['last: 0', 'last'],
      ['last: 101', 'last'],
      ['first: 1001', 'first'],
      ['offset: -1', 'offset'],
      ['after: ""', 'after'],
    ]
    for (const [args, field] of refused) {
      const { errors } = await tenant.graph(`{ ${list.name}(${list.given}${args}) { totalCount } }`)
      t.deepEqual(
        errors![0].extensions.fields?.map(({ path }: { path: string }) => path),
        [field],
        `${list.name}(${args})`,
      )
    }
  }
})

test('no list asks the database more often for more entries, whatever is asked of them', async (t) => {
  const app = await startContractApp(t)
  const [few, many] = [await createTenant(app), await createTenant(app)]
  const lists = await fillConnections(app, few, 2)
  const longer = await fillConnections(app, many, 6)
  for (const [index, list] of lists.entries()) {
    const statements = async (tenant: Tenant, { name, given }: Connection) => {
      const query = `{ ${name}(${given}first: 100) { totalCount nodes ${everythingOfNodes(list)} } }`
      let entries = 0
      const sent = await statementsDuring(app, async () => {
        const { data, errors } = await tenant.graph(query)
        if (errors) throw new Error(`${query}: ${JSON.stringify(errors)}`)
        entries = data[name].nodes.length
      })
      return { entries, sent: sent.length }
    }
    // Once for what a process asks only at first: keys, Prisma's own preparation.
    for (const [tenant, own] of [
      [few, list],
      [many, longer[index]!],
    ] as const)
      await statements(tenant, own)
    const [short, long] = [await statements(few, list), await statements(many, longer[index]!)]
    t.true(long.entries > short.entries, list.name)
    t.is(long.sent, short.sent, list.name)
  }
})
