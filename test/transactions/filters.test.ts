import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { v7 as uuidv7 } from 'uuid'
import { closeTransactionDays } from '../../src/transactions/transaction-days.js'
import { createTenant, startApp, type Tenant, type TestApp, testClock } from '../helpers/app.js'
import { createCustomer } from '../helpers/factories.js'
import { bookRows, type PlannedRow, plannedRow, recount } from './ledger-rows.js'

const DAY_MS = 24 * 60 * 60 * 1000
const FIRST = Date.parse('2026-03-01T00:00:00Z')
const DAYS = 12
const ROWS = 2600
const TYPES = ['earn', 'redeem'] as const
const STATUSES = ['pending', 'completed', 'failed'] as const

interface Asked {
  type?: PlannedRow['type']
  status?: PlannedRow['status']
  userId?: string
  identifier?: string
  deviceId?: string
  from?: Date
  to?: Date
}

interface World {
  app: TestApp
  clock: ReturnType<typeof testClock>
  tenant: Tenant
  rows: PlannedRow[]
  customers: { id: string; identifier: string }[]
  devices: string[]
}

/** Twelve days of a business, some moments of which had several rows, beside a neighbour with rows of its own. */
async function busyDays(t: ExecutionContext): Promise<World> {
  const clock = testClock(new Date(FIRST))
  const app = await startApp(t, { clock })
  const devices = [uuidv7(), uuidv7()]
  const businesses = await Promise.all(
    [createTenant(app), createTenant(app)].map(async (creating, which) => {
      const tenant = await creating
      const customers = await Promise.all(
        [0, 1, 2].map(async (index) => {
          const identifier = `card-${index}`
          const { user_id } = await createCustomer(tenant, { identifiers: [{ value: identifier }] })
          return { id: user_id as string, identifier }
        }),
      )
      const pick = <T>(of: readonly T[], by: number): T => of[by % of.length]!
      const rows = Array.from({ length: which === 0 ? ROWS : 50 }, (_, n) => {
        // Squares spread the rows unevenly over the days, and hit midnight and each other.
        const moment = FIRST + Math.floor((((n * n * 7919) % 100_003) / 100_003) * DAYS * 24 * 12) * 300_000
        return plannedRow(new Date(moment), {
          customerId: pick(customers, n * 31 + (n >> 3)).id,
          deviceId: n % 3 === 0 ? pick(devices, n >> 2) : null,
          type: n % 4 === 0 ? 'redeem' : 'earn',
          status: n % 40 === 0 ? pick(STATUSES, n / 40) : 'completed',
          points: n % 7,
        })
      })
      await bookRows(app, tenant, rows)
      return { tenant, rows, customers }
    }),
  )
  return { app, clock, devices, ...businesses[0]! }
}

/** What the list has to be, in plain code over the same rows. */
function oracle({ rows, customers }: World, asked: Asked): string[] {
  const customerId = asked.userId ?? customers.find(({ identifier }) => identifier === asked.identifier)?.id
  return rows
    .filter(
      (row) =>
        (!asked.type || row.type === asked.type) &&
        (!asked.status || row.status === asked.status) &&
        ((!asked.userId && !asked.identifier) || row.customerId === customerId) &&
        (!asked.deviceId || row.deviceId === asked.deviceId) &&
        (!asked.from || row.createdAt >= asked.from) &&
        (!asked.to || row.createdAt < asked.to),
    )
    .sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? 1 : -1))
    .map(({ id }) => id)
}

/** Often a midnight, else any moment; now and then outside of all days. */
const moments = fc
  .oneof(
    fc.integer({ min: -1, max: DAYS + 1 }).map((day) => day * DAY_MS),
    fc.integer({ min: 0, max: DAYS * 24 * 12 }).map((step) => step * 300_000),
    fc.integer({ min: 0, max: DAYS * DAY_MS }),
  )
  .map((ms) => new Date(FIRST + ms))

const option = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })

const requests = ({ customers, devices }: World) =>
  fc.record({
    kind: fc.record({
      type: option(fc.constantFrom(...TYPES)),
      status: option(fc.constantFrom(...STATUSES)),
    }),
    who: fc.oneof(
      { weight: 3, arbitrary: fc.constant({}) },
      { weight: 1, arbitrary: fc.constantFrom(...customers).map(({ id }) => ({ userId: id })) },
      { weight: 1, arbitrary: fc.constantFrom(...customers).map(({ identifier }) => ({ identifier })) },
      { weight: 1, arbitrary: fc.constant({ identifier: 'nobody' }) },
    ),
    deviceId: fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, fc.constantFrom(...devices)),
    range: fc.tuple(option(moments), option(moments)).map(([one, other]) => {
      const swapped = one && other && one > other
      const [from, to] = swapped ? [other, one] : [one, other]
      return from && to && from.getTime() === to.getTime() ? { from } : { from, to }
    }),
    first: fc.integer({ min: 1, max: 100 }),
    offset: fc.oneof(
      fc.constant(0),
      fc.integer({ min: 0, max: ROWS + 10 }),
      fc.constantFrom(999, 1000, 1001),
    ),
    backwards: fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, fc.constant(true)),
  })

const LIST = `query ($first: Int, $last: Int, $offset: Int, $after: String, $type: TransactionType,
    $status: TransactionStatus, $userId: UUID, $identifier: String, $deviceId: UUID, $from: DateTime, $to: DateTime) {
  transactions(first: $first, last: $last, offset: $offset, after: $after, type: $type, status: $status, userId: $userId,
               identifier: $identifier, deviceId: $deviceId, from: $from, to: $to) {
    totalCount pageInfo { endCursor } nodes { id } } }`

async function agreesWithOracle(t: ExecutionContext, world: World, numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(requests(world), async ({ kind, who, deviceId, range, first, offset, backwards }) => {
      const asked: Asked = { ...kind, ...who, deviceId, ...range } as Asked
      const expected = oracle(world, asked)
      const page = backwards ? { last: first } : { first }
      const { data, errors } = await world.tenant.graph(LIST, { ...asked, ...page, offset })
      t.is(errors, undefined)
      const ids = data.transactions.nodes.map(({ id }: { id: string }) => id)
      const end = expected.length - offset
      const wanted = backwards
        ? expected.slice(Math.max(0, end - first), Math.max(0, end))
        : expected.slice(offset, offset + first)
      t.deepEqual(ids, wanted)
      t.is(data.transactions.totalCount, expected.length)
      if (backwards || ids.length === 0) return
      const after = data.transactions.pageInfo.endCursor
      const next = await world.tenant.graph(LIST, { ...asked, first, after })
      t.deepEqual(
        next.data.transactions.nodes.map(({ id }: { id: string }) => id),
        expected.slice(offset + first, offset + 2 * first),
      )
    }),
    { numRuns },
  )
}

test('every combination of filters lists and counts what plain code finds, whichever days are closed', async (t) => {
  const world = await busyDays(t)
  const { app, clock, rows } = world
  t.is(await closeTransactionDays(app), 0)
  await agreesWithOracle(t, world, 60)

  clock.set(new Date(FIRST + 6 * DAY_MS))
  t.true((await closeTransactionDays(app)) > 0)
  await agreesWithOracle(t, world, 100)

  // What was pending on a closed day comes to its end.
  await app.database.pool.query(`UPDATE transactions SET status = 'completed' WHERE status = 'pending'`)
  for (const row of rows) if (row.status === 'pending') row.status = 'completed'
  await recount(app)
  clock.set(new Date(FIRST + (DAYS + 5) * DAY_MS))
  t.true((await closeTransactionDays(app)) > 0)
  t.is(await closeTransactionDays(app), 0)
  await agreesWithOracle(t, world, 140)
})
