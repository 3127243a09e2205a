import test from 'ava'
import { createTenant } from '../helpers/app.js'
import { pathFor, sampleFor, send, thingsInPath } from './samples.js'
import { done, everyRow, flawsOf, keyedRows, proper, rows, startContractApp, told } from './table.js'
import { createThings, thingsFor, thingsOfNobody } from './things.js'

const rowsWithIds = rows.filter((row) => thingsInPath(row).length > 0)
const rowsWithBody = rows.filter(({ method }) => method !== 'get')

test('every route answers a request of its business with its own status and message, and HEAD as GET', async (t) => {
  const app = await startContractApp(t)
  const tenant = await createTenant(app)
  const things = thingsFor(tenant)
  await everyRow(
    t,
    rows,
    async (row) => {
      const sample = sampleFor(row, await things(row))
      const answer = await send(tenant.rest, sample)
      if (row.method !== 'get') return told(answer)
      const head = await tenant.rest(sample.request.replace('GET', 'HEAD'))
      const differing = ['content-type', 'content-length', 'ratelimit-limit'].filter(
        (name) => head.headers.get(name) !== answer.headers.get(name),
      )
      return { ...told(answer), head: { status: head.status, text: head.text, differing } }
    },
    (row) => ({
      ...done(row),
      ...(row.method === 'get' && { head: { status: row.status, text: '', differing: [] } }),
    }),
  )
})

test('every route with an id takes what cannot be one for the id of nothing', async (t) => {
  const app = await startContractApp(t)
  const tenant = await createTenant(app)
  const things = await createThings(tenant)
  await everyRow(
    t,
    rowsWithIds,
    async (row) => {
      const differing: string[] = []
      for (const kind of thingsInPath(row)) {
        const ask = (value: string) => send(tenant.rest, sampleFor(row, { ...things, [kind]: value }))
        const nothing = await ask(thingsOfNobody()[kind])
        if (nothing.status !== 404) differing.push(`${kind}: ${nothing.status}`)
        for (const value of ['1', 'x'.repeat(300), 'a\0b', "'", '../me', '💥', things[kind].slice(1)]) {
          const { text } = await ask(value)
          if (text !== nothing.text) differing.push(`${kind} ${value}: ${text}`)
        }
      }
      return differing
    },
    () => [],
  )
})

test('every route takes its ids in any case', async (t) => {
  const app = await startContractApp(t)
  const tenant = await createTenant(app)
  const things = thingsFor(tenant)
  await everyRow(
    t,
    rowsWithIds,
    async (row) => {
      const upper = { ...(await things(row)) }
      for (const kind of thingsInPath(row)) upper[kind] = upper[kind].toUpperCase()
      return (await send(tenant.rest, sampleFor(row, upper))).status
    },
    ({ status }) => status,
  )
})

test('every path answers a method it does not have with 405 and Allow', async (t) => {
  const app = await startContractApp(t)
  const tenant = await createTenant(app)
  const things = await createThings(tenant)
  const pathOf = (row: (typeof rows)[number]) => pathFor(row, things)
  await everyRow(
    t,
    rows,
    async (row) => {
      const [put, options] = [
        await tenant.rest(`PUT ${pathOf(row)}`),
        await tenant.rest(`OPTIONS ${pathOf(row)}`),
      ]
      return [put, options].map((answer) => ({ ...told(answer), allow: answer.headers.get('allow') }))
    },
    (row) => {
      const here = rows.filter(({ path }) =>
        new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}$`).test(pathOf(row)),
      )
      const methods = here.flatMap(({ method }) =>
        method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()],
      )
      const allow = [...new Set(methods)].sort().join(', ')
      return [1, 2].map(() => ({ ...proper(405, 'Method not allowed'), allow }))
    },
  )
})

test('every route refuses a query parameter it does not know, and one given twice', async (t) => {
  const app = await startContractApp(t)
  const tenant = await createTenant(app)
  const things = await createThings(tenant)
  const unknown = ['nonsense', 'constructor', '__proto__', 'toString']
  await everyRow(
    t,
    rows,
    async (row) => {
      const { request, body } = sampleFor(row, things)
      const queries = [
        ...unknown.map((name) => `${name}=1`),
        ...[...row.queryTargets.keys()].map((name) => `${name}=1&${name}=2`),
      ]
      const answers = []
      for (const query of queries) {
        const withQuery = `${request}${request.includes('?') ? '&' : '?'}${query}`
        answers.push(told(await tenant.rest(withQuery, body)))
      }
      return answers
    },
    ({ queryTargets }) => [
      ...unknown.map((name) => proper(400, `${name}: unknown query parameter`)),
      ...[...queryTargets.keys()].map((name) => proper(400, `${name}: given more than once`)),
    ],
  )
})

test('every route with a body refuses what is not a JSON object, and names each field it does not know', async (t) => {
  const app = await startContractApp(t)
  const tenant = await createTenant(app)
  const things = await createThings(tenant)
  await everyRow(
    t,
    rowsWithBody,
    async (row) => {
      const { request, body } = sampleFor(row, things)
      const answers = [
        await tenant.rest(request, 'points=1', { 'content-type': 'application/x-www-form-urlencoded' }),
        await tenant.rest(request, '{"points": '),
        await tenant.rest(request, [body ?? {}]),
        await tenant.rest(request, 'null'),
        await tenant.rest(request, '"text"'),
        await tenant.rest(request, { ...body, nonsense: 1, userID: 2 }),
      ]
      return answers.map(told)
    },
    ({ csv, multipart }) => [
      proper(
        415,
        `Content-Type must be application/json${csv ? ' or text/csv' : ''}${multipart ? ' or multipart/form-data' : ''}`,
      ),
      proper(400, 'Request body is not valid JSON'),
      ...[1, 2, 3].map(() => proper(400, 'Request body must be a JSON object')),
      proper(400, 'nonsense: unknown field; userID: unknown field'),
    ],
  )
})

test('every write answers a retry with its Idempotency-Key by the first answer, and no read takes a key', async (t) => {
  const app = await startContractApp(t)
  const tenant = await createTenant(app)
  const things = thingsFor(tenant)
  await everyRow(
    t,
    keyedRows,
    async (row) => {
      const sample = sampleFor(row, await things(row))
      const ask = (key: string) => send(tenant.rest, sample, { 'idempotency-key': key })
      const [first, second, tooLong] = [await ask(row.name), await ask(row.name), await ask('k'.repeat(256))]
      return {
        status: first.status,
        same: !row.isWrite || (first.text === second.text && first.status === second.status),
        replayed: [first, second].map(({ headers }) => headers.get('idempotency-replayed')),
        flaws: [...flawsOf(first), ...flawsOf(second)],
        tooLong: tooLong.status,
      }
    },
    ({ isWrite, status }) => ({
      status,
      same: true,
      replayed: [null, isWrite ? 'true' : null],
      flaws: [],
      tooLong: isWrite ? 400 : status,
    }),
  )
})
