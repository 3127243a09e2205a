import type pg from 'pg'
import { readKey } from '../src/businesses/businesses.js'
import { claimCode } from '../src/code-batches/claim.js'
import type { Context } from '../src/context.js'
import { type Sql, type Statement, sqlOn } from '../src/database/sql.js'
import { type Answer, once } from '../src/idempotency.js'
import { issuePoints, readBalance } from '../src/points/points.js'
import { enterRaffle } from '../src/raffles/entries.js'
import { completeRedemption, createRedemption } from '../src/redemptions/redemptions.js'
import { createSecrets } from '../src/secrets.js'
import { segmentPage } from '../src/segments/segments.js'
import { listTransactions } from '../src/transactions/transactions.js'
import { poolRewardId } from './pool.js'
import { segmentBody, segmentKinds } from './segments.js'
import { BENCH_BUSINESS, RAFFLE_ID } from './tenants.js'

/** A statement as the service runs it, with the values of one run. */
export interface Call {
  readonly name: string
  readonly text: string
  readonly values: readonly unknown[]
}

/** What the benchmarked requests are about. */
export interface Subject {
  businessId: string
  keyId: string
  customerId: string
  /** Of a redemption that is pending. */
  code: string
  /** Of a batch, unclaimed. */
  claimCode: string
}

type Operation = (ctx: Context) => Promise<unknown>

/**
 * The SQL behind each benchmarked request, from the service itself: its domain functions run once, in a
 * transaction that is rolled back, and what they send is written down. So the reference cannot come to measure
 * other SQL than the service's.
 */
export async function recordCalls(pool: pg.Pool, subject: Subject) {
  const { businessId, keyId, customerId, code } = subject
  const issue = (ctx: Context) => issuePoints(ctx, { userId: customerId, amount: '12.50' })
  const complete = (ctx: Context) => completeRedemption(ctx, { code })
  const enter = (ctx: Context) => enterRaffle(ctx, { raffleId: RAFFLE_ID, userId: customerId, entries: 1 })
  const done: Answer = { status: 200, body: '{}', refused: false, storable: true }
  const keyed = (operation: Operation) => (ctx: Context) =>
    once(ctx, 'recorded', Buffer.alloc(32), async (inside) => {
      await operation(inside)
      return done
    })
  const record = (operation: Operation) => recordOne(pool, businessId, keyId, operation)
  /** By the body that asks for them, as JSON. */
  const segments = new Map<string, Call[]>()
  for (const kind of segmentKinds) {
    const calls = await record((ctx) => segmentPage(ctx, { input: kind.input, defaultLimit: 50 }))
    segments.set(JSON.stringify(segmentBody(kind)), calls)
  }
  return {
    me: await record(readKey),
    balance: await record((ctx) => readBalance(ctx, { userId: customerId })),
    transactions: await record(async (ctx) => (await listTransactions(ctx, {})).totalCount()),
    issue: await record(issue),
    keyedIssue: await record(keyed(issue)),
    complete: await record(complete),
    poolRedemption: await record((ctx) =>
      createRedemption(ctx, { rewardId: poolRewardId(0), userId: customerId }),
    ),
    claim: await record((ctx) => claimCode(ctx, { userId: customerId, code: subject.claimCode })),
    enter: await record(enter),
    segments,
  }
}

async function recordOne(
  pool: pg.Pool,
  businessId: string,
  keyId: string,
  operation: Operation,
): Promise<Call[]> {
  const calls: Call[] = []
  const client = await pool.connect()
  const sql = sqlOn(client)
  const write = ({ name, text }: Statement<unknown>, values: readonly unknown[]) =>
    calls.push({ name, text, values })
  const recorder: Sql = {
    rows: (statement, values) => {
      write(statement, values)
      return sql.rows(statement, values)
    },
    row: (statement, values) => {
      write(statement, values)
      return sql.row(statement, values)
    },
    run: (statement, values) => {
      write(statement, values)
      return sql.run(statement, values)
    },
  }
  // Prisma is not on the paths that are measured; where it comes to be, the recording has to learn of it.
  const noPrisma = {
    get db(): never {
      throw new Error('this request uses Prisma')
    },
  }
  const open = Object.assign(Object.create(noPrisma), { sql: recorder })
  const ctx: Context = Object.assign(Object.create(noPrisma), {
    database: { transaction: (work: (transaction: unknown) => unknown) => work(open) },
    sql: recorder,
    inTransaction: false,
    secrets: createSecrets('recorded answers are thrown away'),
    business: { id: businessId, timezone: BENCH_BUSINESS.timezone },
    actor: { kind: 'api_key', id: keyId, scopes: [] },
    now: new Date(),
    requestId: 'recording',
    internal: true,
    customerIds: new Set(),
    consume: async () => {},
  })
  try {
    await client.query('BEGIN')
    await operation(ctx)
    return calls
  } finally {
    await client.query('ROLLBACK')
    client.release()
  }
}
