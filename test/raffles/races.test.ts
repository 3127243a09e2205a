import assert from 'node:assert/strict'
import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { audit } from '../../src/audit/audit.js'
import { drawDueRaffles, refundCancelledRaffles } from '../../src/raffles/raffle-sweeps.js'
import { createTenant, restClient, startApp, type TestApp, testClock } from '../helpers/app.js'
import { createCustomer, createRaffle, type Resource } from '../helpers/factories.js'

// Seen failing with its guard taken out: the ceiling in `enter_raffle`, the lock of the customer, the lock of the
// raffle before a draw, `refunded_at IS NULL` in a batch of refunds.

const START = '2026-06-01T10:00:00Z'
const END = '2026-06-01T11:00:00Z'
const range = (length: number) => Array.from({ length }, (_, index) => index)

/** Two instances of the service on one database; the second one's clock is past the end of the raffles. */
async function twoInstances(t: ExecutionContext) {
  const one = await startApp(t, { clock: testClock(START) })
  const two = await startApp(t, { beside: one, clock: testClock(END) })
  const tenant = await createTenant(one)
  const early = await startApp(t, { beside: one, clock: testClock(START) })
  const clients = [tenant.rest, restClient(early.url, tenant.key)]
  const customers = (count: number, points: number) =>
    Promise.all(
      range(count).map(async (index) => {
        const { user_id } = await createCustomer({ rest: clients[index % 2]! })
        await clients[index % 2]!('POST /points/issue', { user_id, points })
        return user_id as string
      }),
    )
  const raffle = (fields: object): Promise<Resource> => createRaffle(tenant, { ends_at: END, ...fields })
  return {
    one,
    two,
    tenant,
    customers,
    raffle,
    late: restClient(two.url, tenant.key),
    on: (index: number) => clients[index % 2]!,
  }
}

async function assertAudit(app: TestApp): Promise<void> {
  const { checks } = await audit(app.database)
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
  const { one, customers, raffle, on } = await twoInstances(t)
  const people = await customers(300, 5)
  const total = await raffle({ points_cost: 1, entries_per_user: 2, max_entries: 100 })
  const unique = await raffle({
    points_cost: 1,
    entries_per_user: 3,
    max_entries: 50,
    max_entries_mode: 'unique_entrants',
  })
  const enter = (id: string, entries: number) =>
    Promise.all(
      people.map((user_id, index) => on(index)(`POST /raffles/${id}/entries`, { user_id, entries })),
    )
  t.deepEqual(tally(await enter(total.id, 2)), { '200': 50, '409 RAFFLE_FULL': 250 })
  t.deepEqual(tally(await enter(unique.id, 1)), { '200': 50, '409 RAFFLE_FULL': 250 })
  // Who is in may still add to it.
  t.deepEqual(tally(await enter(unique.id, 2)), { '200': 50, '409 RAFFLE_FULL': 250 })
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
  const sum = await one.database.db.customer.aggregate({ _sum: { balance: true } })
  t.is(sum._sum.balance, 300 * 5 - 100 - 150)
  await assertAudit(one)
})

test('one person who enters 30 times at once has no more entries than are allowed, or can be paid', async (t) => {
  const { one, customers, raffle, on } = await twoInstances(t)
  const [ada, bob] = (await customers(2, 50)) as [string, string]
  const { id } = await raffle({ entries_per_user: 7, points_cost: 1 })
  const dear = await raffle({ entries_per_user: 30, points_cost: 9 })
  const enter = (raffleId: string, user_id: string) =>
    Promise.all(range(30).map((index) => on(index)(`POST /raffles/${raffleId}/entries`, { user_id })))
  const [limited, poor] = await Promise.all([enter(id, ada), enter(dear.id, bob)])
  t.deepEqual(tally(limited), { '200': 7, '409 RAFFLE_ENTRY_LIMIT_REACHED:7': 23 })
  t.deepEqual(tally(poor), { '200': 5, '409 INSUFFICIENT_POINTS:5': 25 })
  await assertAudit(one)
})

test('where entries, end, confirmation, sweep and cancellation of 50 raffles meet, each is drawn once or refunded once', async (t) => {
  t.timeout(120_000)
  const { one, two, tenant, customers, raffle, on, late } = await twoInstances(t)
  const people = await customers(4, 1000)
  const raffles = await Promise.all(range(50).map(() => raffle({ entries_per_user: 2, winners_count: 2 })))
  for (const { id } of raffles)
    await Promise.all(
      people.slice(0, 2).map((user_id) => tenant.rest(`POST /raffles/${id}/entries`, { user_id })),
    )
  const answers = await Promise.all([
    drawDueRaffles(two),
    ...raffles.flatMap(({ id }, index) => [
      ...people.slice(1, 4).map((user_id) => on(index)(`POST /raffles/${id}/entries`, { user_id })),
      late(`POST /raffles/${id}/end`),
      tenant.rest(`POST /raffles/${id}/end`).then(() => late(`POST /raffles/${id}/confirm`)),
      ...(index % 2 === 0 ? [on(1)(`POST /raffles/${id}/cancel`), late(`POST /raffles/${id}/cancel`)] : []),
    ]),
    drawDueRaffles(two),
    refundCancelledRaffles(two),
    refundCancelledRaffles(one),
  ])
  for (const answer of answers)
    if (typeof answer !== 'number') t.true([200, 409].includes(answer.status), answer.text)
  await Promise.all([refundCancelledRaffles(two), refundCancelledRaffles(two)])

  const { rows } = await one.database.pool.query(
    `SELECT r.completed_at IS NOT NULL AS completed, r.drawn_at IS NOT NULL AS drawn, r.refunded_at IS NOT NULL AS refunded,
            (SELECT count(*)::int FROM raffle_entries n JOIN raffle_entrants e ON e.id = n.entrant_id
              WHERE e.raffle_id = r.id) AS payments,
            (SELECT count(*)::int FROM raffle_entries n JOIN raffle_entrants e ON e.id = n.entrant_id
               JOIN transactions b ON b.reverses_id = n.transaction_id WHERE e.raffle_id = r.id) AS refunds,
            (SELECT count(*)::int FROM raffle_winners w WHERE w.raffle_id = r.id) AS winners
       FROM raffles r`,
  )
  t.is(rows.length, 50)
  for (const { completed, drawn, refunded, payments, refunds, winners } of rows) {
    t.is(drawn || refunded, true)
    t.is(completed && refunded, false)
    t.is(refunds, refunded ? payments : 0)
    t.is(winners, drawn ? 2 : 0)
  }
  t.true(rows.filter(({ refunded }) => !refunded).length >= 25)
  await assertAudit(one)
})

test('whatever was entered, a cancellation leaves everybody with what they had', async (t) => {
  t.timeout(120_000)
  const { one, tenant, customers, raffle, on } = await twoInstances(t)
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
  await t.notThrowsAsync(fc.assert(refunded, { numRuns: 15 }))
  await assertAudit(one)
})
