import assert from 'node:assert/strict'
import test from 'ava'
import fc from 'fast-check'
import { audit } from '../../src/audit/audit.js'
import { drawDueRaffles, refundCancelledRaffles } from '../../src/raffles/raffle-sweeps.js'
import { createTenant, restClient, testClock } from '../helpers/app.js'
import { createRaffle, type Resource } from '../helpers/factories.js'
import { untilWaiting } from '../helpers/locks.js'
import { sharedApps } from '../helpers/shared-app.js'
import { addCustomers } from './people.js'

// Seen failing with its guard taken out: the ceiling and the cost in `enter_raffle`, the lock of the customer, the lock of
// the raffle before a draw.

const START = '2026-06-01T10:00:00Z'
const END = '2026-06-01T11:00:00Z'
const range = (length: number) => Array.from({ length }, (_, index) => index)

// Three instances of the service on one database; the clock of the last one is past the end of the raffles.
const apps = sharedApps(
  test,
  { clock: testClock(START) },
  { clock: testClock(START) },
  { clock: testClock(END) },
)

/** A business on the instances, in turn. */
async function setUp() {
  const [one, two, three] = apps()
  const tenant = await createTenant(one)
  const clients = [tenant.rest, restClient(two.url, tenant.key)]
  return {
    one,
    three,
    tenant,
    customers: (count: number, points: number) => addCustomers(one, tenant.businessId, count, points),
    raffle: (fields: Record<string, unknown>): Promise<Resource> => createRaffle(tenant, fields),
    late: restClient(three.url, tenant.key),
    on: (index: number) => clients[index % 2]!,
  }
}

async function assertAudit({ one, tenant }: Awaited<ReturnType<typeof setUp>>): Promise<void> {
  const { checks } = await audit(one.database, tenant.businessId)
  const broken = checks.filter((check) => check.broken > 0)
  if (broken.length > 0) throw new Error(JSON.stringify(broken))
}

const tally = (answers: { status: number; body: { success: boolean; error?: { message: string } } }[]) => {
  const counts: Record<string, number> = {}
  for (const { status, body } of answers) {
    const outcome = body.success ? String(status) : `${status} ${body.error!.message}`
    counts[outcome] = (counts[outcome] ?? 0) + 1
  }
  return counts
}

test('of 300 people who enter at once from two instances exactly as many get in as the ceiling says, in both modes', async (t) => {
  t.timeout(120_000)
  const set = await setUp()
  const { one, tenant, customers, raffle, on } = set
  const people = await customers(300, 5)
  const total = await raffle({ points_cost: 1, entries_per_user: 2, max_entries: 100 })
  const unique = await raffle({
    points_cost: 1,
    entries_per_user: 3,
    max_entries: 50,
    max_entries_mode: 'unique_entrants',
  })
  const enter = (id: string, entries: number, who = people) =>
    Promise.all(who.map((user_id, index) => on(index)(`POST /raffles/${id}/entries`, { user_id, entries })))
  t.deepEqual(tally(await enter(total.id, 2)), { '200': 50, '409 RAFFLE_FULL': 250 })
  const answers = await enter(unique.id, 1)
  t.deepEqual(tally(answers), { '200': 50, '409 RAFFLE_FULL': 250 })
  // Who is in may still add to it.
  const isIn = (index: number) => answers[index]!.status === 200
  const out = people.filter((_, index) => !isIn(index)).slice(0, 10)
  const again = await enter(unique.id, 2, [...people.filter((_, index) => isIn(index)), ...out])
  t.deepEqual(tally(again), { '200': 50, '409 RAFFLE_FULL': 10 })
  const read = async (id: string) => (await on(0)(`GET /raffles/${id}`)).body.data.raffle
  t.like(await read(total.id), {
    total_entries: 100,
    unique_entrants: 50,
    entries_remaining_global: 0,
    is_full: true,
  })
  t.like(await read(unique.id), {
    total_entries: 150,
    unique_entrants: 50,
    entries_remaining_global: 0,
    is_full: true,
  })
  const sum = await one.database.db.customer.aggregate({
    where: { businessId: tenant.businessId },
    _sum: { balance: true },
  })
  t.is(sum._sum.balance, 300 * 5 - 100 - 150)
  await assertAudit(set)
})

test('one person who enters 30 times at once has no more entries than are allowed, or can be paid', async (t) => {
  const set = await setUp()
  const { customers, raffle, on } = set
  const [ada, bob] = (await customers(2, 50)) as [string, string]
  const { id } = await raffle({ entries_per_user: 7, points_cost: 1 })
  const dear = await raffle({ entries_per_user: 30, points_cost: 9 })
  const enter = (raffleId: string, user_id: string) =>
    Promise.all(range(30).map((index) => on(index)(`POST /raffles/${raffleId}/entries`, { user_id })))
  const [limited, poor] = await Promise.all([enter(id, ada), enter(dear.id, bob)])
  t.deepEqual(tally(limited), { '200': 7, '409 RAFFLE_ENTRY_LIMIT_REACHED:7': 23 })
  t.deepEqual(tally(poor), { '200': 5, '409 INSUFFICIENT_POINTS:5': 25 })
  await assertAudit(set)
})

test('who enters while the terms change pays what they are in the end', async (t) => {
  const set = await setUp()
  const { one, customers, raffle, on } = set
  const [user_id] = (await customers(1, 100)) as [string]
  const { id } = await raffle({ points_cost: 10 })
  const changing = await one.database.pool.connect()
  t.teardown(() => changing.release())
  await changing.query('BEGIN')
  await changing.query('UPDATE raffles SET points_cost = 20 WHERE id = $1', [id])
  const entering = on(0)(`POST /raffles/${id}/entries`, { user_id })
  await untilWaiting(one, 1)
  await changing.query('COMMIT')
  t.is((await entering).body.data.balance.balance, 80)
  await assertAudit(set)
})

test('where entries, end, confirmation, sweep and cancellation of 50 raffles meet, each is drawn once or refunded once', async (t) => {
  t.timeout(120_000)
  const set = await setUp()
  const { one, three, tenant, customers, raffle, on, late } = set
  const people = await customers(4, 1000)
  const raffles = await Promise.all(
    range(50).map(() => raffle({ ends_at: END, entries_per_user: 2, winners_count: 2 })),
  )
  for (const { id } of raffles)
    await Promise.all(
      people.slice(0, 2).map((user_id) => tenant.rest(`POST /raffles/${id}/entries`, { user_id })),
    )
  const answers = await Promise.all([
    drawDueRaffles(three),
    ...raffles.flatMap(({ id }, index) => [
      ...people.slice(1, 4).map((user_id) => on(index)(`POST /raffles/${id}/entries`, { user_id })),
      late(`POST /raffles/${id}/end`),
      tenant.rest(`POST /raffles/${id}/end`).then(() => late(`POST /raffles/${id}/confirm`)),
      ...(index % 2 === 0 ? [on(1)(`POST /raffles/${id}/cancel`), late(`POST /raffles/${id}/cancel`)] : []),
    ]),
    drawDueRaffles(three),
    refundCancelledRaffles(three),
    refundCancelledRaffles(one),
  ])
  for (const answer of answers)
    if (typeof answer !== 'number') t.true([200, 409].includes(answer.status), answer.text)
  await Promise.all([refundCancelledRaffles(three), refundCancelledRaffles(three)])

  const { rows } = await one.database.pool.query(
    `SELECT r.completed_at IS NOT NULL AS completed, r.drawn_at IS NOT NULL AS drawn, r.refunded_at IS NOT NULL AS refunded,
            (SELECT count(*)::int FROM raffle_entries n JOIN raffle_entrants e ON e.id = n.entrant_id
              WHERE e.raffle_id = r.id) AS payments,
            (SELECT count(*)::int FROM raffle_entries n JOIN raffle_entrants e ON e.id = n.entrant_id
               JOIN transactions b ON b.reverses_id = n.transaction_id WHERE e.raffle_id = r.id) AS refunds,
            (SELECT count(*)::int FROM raffle_winners w WHERE w.raffle_id = r.id) AS winners
       FROM raffles r WHERE r.business_id = $1`,
    [tenant.businessId],
  )
  t.is(rows.length, 50)
  for (const { completed, drawn, refunded, payments, refunds, winners } of rows) {
    t.is(drawn || refunded, true)
    t.is(completed && refunded, false)
    t.is(refunds, refunded ? payments : 0)
    t.is(winners, drawn ? 2 : 0)
  }
  t.true(rows.filter(({ refunded }) => !refunded).length >= 25)
  await assertAudit(set)
})

test('whatever was entered, a cancellation leaves everybody with what they had', async (t) => {
  t.timeout(120_000)
  const set = await setUp()
  const { tenant, customers, raffle, on } = set
  const people = await customers(3, 10_000)
  const balances = () =>
    Promise.all(
      people.map(
        async (id) => (await tenant.rest(`GET /customers/${id}/balance`)).body.data.balance as number,
      ),
    )
  const before = await balances()
  const entry = fc.record({ person: fc.nat({ max: 2 }), entries: fc.integer({ min: 1, max: 4 }) })
  const refunded = fc.asyncProperty(
    fc.array(entry, { maxLength: 8 }),
    fc.integer({ min: 0, max: 900 }),
    fc.boolean(),
    async (entries, cost, drawn) => {
      const { id } = await raffle({ points_cost: cost, entries_per_user: 9 })
      const paid = [0, 0, 0]
      await Promise.all(
        entries.map(async ({ person, entries: count }, index) => {
          const body = { user_id: people[person], entries: count }
          const { status } = await on(index)(`POST /raffles/${id}/entries`, body)
          if (status === 200) paid[person]! += count * cost
        }),
      )
      assert.deepEqual(
        await balances(),
        before.map((balance, person) => balance - paid[person]!),
      )
      if (drawn) await on(0)(`POST /raffles/${id}/end`)
      await Promise.all([0, 1].map((index) => on(index)(`POST /raffles/${id}/cancel`)))
      assert.deepEqual(await balances(), before)
    },
  )
  await t.notThrowsAsync(fc.assert(refunded, { numRuns: 8 }))
  await assertAudit(set)
})
