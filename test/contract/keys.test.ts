import test from 'ava'
import { revokeApiKeys } from '../../src/businesses/accounts.js'
import { generateApiKey } from '../../src/businesses/api-key.js'
import { resources, type Scope } from '../../src/context.js'
import { TRUST_MS } from '../../src/rest/authentication.js'
import { createTenant, restClient, testClock } from '../helpers/app.js'
import { sampleFor, send, thingsInPath, thingsOf } from './samples.js'
import { createKey, everyRow, keyedRows, proper, startContractApp, told } from './table.js'
import { createThings, thingsFor, thingsOfNobody } from './things.js'

test('every route refuses a key that is missing, malformed, mistyped, unknown, revoked or expired with one 401', async (t) => {
  const clock = testClock()
  const app = await startContractApp(t, { clock })
  const tenant = await createTenant(app)
  const things = await createThings(tenant)
  const revoked = await createKey(app, tenant)
  await revokeApiKeys(app.database, tenant.businessId, { id: revoked.id }, clock.now())
  const expired = await createKey(app, tenant, { expiresAt: new Date(clock.now().getTime() + 1000) })
  clock.advance(1000)
  const mistyped = tenant.key.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'))
  const clients = [
    restClient(app.url, undefined),
    restClient(app.url, 'secret'),
    restClient(app.url, mistyped),
    restClient(app.url, generateApiKey().key),
    revoked.rest,
    expired.rest,
  ]
  await everyRow(
    t,
    keyedRows,
    (row) => Promise.all(clients.map(async (rest) => told(await send(rest, sampleFor(row, things))))),
    () => clients.map(() => proper(401, 'Invalid API key')),
  )
})

test('a revocation takes effect on every route within five seconds, however busy the key is', async (t) => {
  t.true(TRUST_MS <= 5000)
  const clock = testClock()
  const app = await startContractApp(t, { clock })
  const tenant = await createTenant(app)
  const things = await createThings(tenant)
  await everyRow(
    t,
    keyedRows,
    async (row) => {
      const { id, rest } = await createKey(app, tenant)
      const before = (await rest('GET /me')).status
      await revokeApiKeys(app.database, tenant.businessId, { id }, clock.now())
      clock.advance(TRUST_MS - 1)
      await rest('GET /me')
      clock.advance(1)
      return [before, told(await send(rest, sampleFor(row, things)))]
    },
    () => [200, proper(401, 'Invalid API key')],
  )
})

test('every route refuses a suspended business with 403', async (t) => {
  const app = await startContractApp(t)
  const tenant = await createTenant(app)
  const things = await createThings(tenant)
  await app.database.db.business.update({ where: { id: tenant.businessId }, data: { status: 'suspended' } })
  const { rest } = await createKey(app, tenant)
  await everyRow(
    t,
    keyedRows,
    async (row) => told(await send(rest, sampleFor(row, things))),
    () => proper(403, 'Business suspended'),
  )
})

test('every route with a scope refuses a key that has all others, whatever it sends, and takes one that has just it', async (t) => {
  const app = await startContractApp(t)
  const tenant = await createTenant(app)
  const things = thingsFor(tenant)
  const scopes = resources.flatMap((resource): Scope[] => [`${resource}:read`, `${resource}:write`])
  await everyRow(
    t,
    keyedRows.filter(({ facts }) => facts.scope),
    async (row) => {
      const sample = sampleFor(row, await things(row))
      const others = await createKey(app, tenant, {
        scopes: scopes.filter((scope) => scope !== row.facts.scope),
      })
      const exact = await createKey(app, tenant, { scopes: [row.facts.scope!] })
      return [
        told(await send(others.rest, sample)),
        told(await others.rest(`${sample.request}?nonsense=1`)),
        told(await send(exact.rest, sample)).status,
      ]
    },
    ({ facts, status }) => {
      const lacking = proper(403, `Insufficient scope: ${facts.scope}`)
      return [lacking, lacking, status]
    },
  )
})

test('no route needs a scope but what its resource and its effect say', async (t) => {
  await everyRow(
    t,
    keyedRows,
    async ({ facts }) => facts.scope?.split(':')[1],
    ({ path, isWrite, facts }) => {
      if (path === '/me') return undefined
      return isWrite || facts.storesNothing ? 'write' : 'read'
    },
  )
})

test('a write that was done once is not replayed to a key that lacks its scope', async (t) => {
  const app = await startContractApp(t)
  const tenant = await createTenant(app)
  const things = thingsFor(tenant)
  const { rest } = await createKey(app, tenant, { scopes: ['settings:read'] })
  await everyRow(
    t,
    keyedRows.filter(({ isWrite }) => isWrite),
    async (row) => {
      const sample = sampleFor(row, await things(row))
      const key = { 'idempotency-key': row.name }
      const done = await send(tenant.rest, sample, key)
      return [done.status, told(await send(rest, sample, key))]
    },
    ({ status, facts }) => [status, proper(403, `Insufficient scope: ${facts.scope}`)],
  )
})

test('every route answers about another business as about nothing', async (t) => {
  const app = await startContractApp(t)
  const owner = await createTenant(app)
  const stranger = await createTenant(app)
  const things = thingsFor(owner)
  const own = await createThings(stranger)
  const nobodys = thingsOfNobody()
  await everyRow(
    t,
    keyedRows,
    async (row) => {
      const owned = await things(row)
      const differing: string[] = []
      for (const kind of thingsOf(row)) {
        const foreign = await send(stranger.rest, sampleFor(row, { ...own, [kind]: owned[kind] }))
        const nothing = await send(stranger.rest, sampleFor(row, { ...own, [kind]: nobodys[kind] }))
        if (foreign.text !== nothing.text) differing.push(`${kind}: ${foreign.text} ≠ ${nothing.text}`)
        if (thingsInPath(row).includes(kind) && foreign.status !== 404)
          differing.push(`${kind}: ${foreign.status}`)
      }
      // After all of that, it is still there for its owner.
      return { differing, owner: (await send(owner.rest, sampleFor(row, owned))).status }
    },
    ({ status }) => ({ differing: [], owner: status }),
  )
})
