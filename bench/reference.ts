import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type pg from 'pg'
import { v7 as uuidv7 } from 'uuid'
import { openDatabase } from '../src/database/database.js'
import { shardOf } from '../src/ledger/ledger.js'
import { generateCode } from '../src/redemptions/code.js'
import { type Call, recordCalls, type Subject } from './recorded.js'
import { BENCH_BUSINESS, RAFFLE_COST, RAFFLE_ID } from './tenants.js'

/**
 * The bare reference: what these requests cost with node:http and pg alone, on the service's own SQL, as prepared
 * statements in the same transactions on a pool of the same settings. No keys, limits, validation, log or
 * framework. Runs in a process of its own: `DATABASE_URL`, `PORT`, `SUBJECT` (JSON).
 */
const subject = JSON.parse(process.env.SUBJECT!) as Subject
const { pool } = openDatabase({
  url: process.env.DATABASE_URL!,
  poolSize: Number(process.env.DATABASE_POOL_SIZE),
  onError: (error) => console.error(error),
})
const recorded = await recordCalls(pool, subject)

/** The recorded statements by their order; another set of statements needs another reference. */
function statements<Names extends readonly string[]>(calls: readonly Call[], ...names: Names) {
  const found = calls.map((call) => call.name)
  if (found.join() !== names.join())
    throw new Error(
      `bench/reference.ts expects the statements ${names.join()}, the service runs ${found.join()}`,
    )
  return calls as { readonly [Index in keyof Names]: Call }
}

const [findViewer] = statements(recorded.me, 'find_viewer')
const [readAccount] = statements(recorded.balance, 'read_account_by_id')
const [listTransactions, countTransactions] = statements(
  recorded.transactions,
  'transactions_0',
  'count_transactions',
)
const [lockEarner, postEntry] = statements(recorded.issue, 'lock_earner_by_id', 'ledger_post')
const [lockKey, , , storeKey] = statements(
  recorded.keyedIssue,
  'idempotency_lock_and_find',
  'lock_earner_by_id',
  'ledger_post',
  'idempotency_store',
)
const segmentStatements = new Map(
  [...recorded.segments].map(([body, calls]) => [body, statements(calls, 'find_business', '')]),
)
const [lockCode, readReward, postRedeem, completeRedemption, countRedemption] = statements(
  recorded.complete,
  'lock_redemption_by_code',
  'read_reward_facts',
  'ledger_post',
  'complete_redemption',
  'count_redemption',
)
const [lockClaimant, lockBatchCode, postCode, claimBatchCode] = statements(
  recorded.claim,
  'lock_earner_by_id',
  'lock_batch_code',
  'ledger_post',
  'claim_batch_code',
)

const [
  lockCustomer,
  readPoolReward,
  lockValue,
  insertRedemption,
  consumeValue,
  postPayment,
  countPoolRedemption,
] = statements(
  recorded.poolRedemption,
  'lock_account_by_id',
  'read_reward_facts',
  'lock_free_pool_value',
  'insert_redemption',
  'consume_pool_value',
  'ledger_post',
  'count_redemption',
)

const [lockEntrant, findRaffle, postRaffle, enterRaffle] = statements(
  recorded.enter,
  'lock_account_by_id',
  'find_raffle_to_enter',
  'ledger_post',
  'enter_raffle',
)

type Client = pg.Pool | pg.PoolClient
// biome-ignore lint/suspicious/noExplicitAny: rows of any statement
type Row = Record<string, any>

/** Runs a recorded statement; `changed` replaces values of the recording by their place, from 0. */
async function run(client: Client, { name, text, values }: Call, changed: Record<number, unknown>) {
  const { rows } = await client.query<Row>({ name, text, values: Object.assign(values.slice(), changed) })
  return rows
}

async function inTransaction<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    const result = await work(client)
    await client.query('COMMIT')
    return result
  } catch (error) {
    await client.query('ROLLBACK')
    throw error
  } finally {
    client.release()
  }
}

async function me() {
  const [row] = await run(pool, findViewer, {})
  const { id, name, email, status, country, keyId, keyName, keyPrefix } = row!
  return success('API key is valid', {
    business: { id, name, email, status, country },
    api_key: { id: keyId, name: keyName, prefix: keyPrefix },
  })
}

const balanceOf = (account: Row) => ({
  user_id: account.id,
  balance: account.balance,
  points_expire_at: null,
  last_visit_at: account.lastVisitAt,
})

async function balance(customerId: string) {
  const [account] = await run(pool, readAccount, { 1: customerId })
  return success('Balance retrieved successfully', balanceOf(account!))
}

async function transactions(limit: number) {
  const rows = await run(pool, listTransactions, { 1: limit + 1 })
  const [total] = await run(pool, countTransactions, {})
  const shown = rows.slice(0, limit)
  return success('Transactions retrieved successfully', {
    transactions: shown.map((row) => ({
      id: row.id,
      type: row.type,
      status: row.status,
      points: row.points,
      user_id: row.customerId,
      device_id: row.deviceId,
      location_id: row.locationId,
      source: row.source,
      reward_id: row.rewardId,
      redemption_id: row.redemptionId,
      reverses_id: row.reversesId,
      amount: row.amountMinor === null ? null : (row.amountMinor / 100).toFixed(2),
      description: row.description,
      occurred_at: row.occurredAt,
      created_at: row.createdAt,
    })),
    pagination: { limit, offset: 0, returned: shown.length, total_count: total!.count },
  })
}

const localDay = new Intl.DateTimeFormat('sv-SE', { timeZone: BENCH_BUSINESS.timezone })

/** What the ledger's statement takes that differs from one entry to the next. */
function entryValues(customerId: string, id: string, delta: number, now: Date): Record<number, unknown> {
  return {
    1: customerId,
    2: id,
    3: delta,
    4: localDay.format(now),
    5: now,
    9: now,
    12: Math.abs(delta),
    21: shardOf(customerId),
  }
}

async function issue(client: pg.PoolClient, { user_id, amount }: { user_id: string; amount: string }) {
  const now = new Date()
  const [account] = await run(client, lockEarner, { 1: user_id })
  const minor = Math.round(Number(amount) * 100)
  const points = Math.floor(minor / 100)
  const id = uuidv7()
  const values = entryValues(user_id, id, points, now)
  const [after] = await run(client, postEntry, { ...values, 7: minor, 8: points, 13: minor })
  return success('Points issued successfully', {
    transaction: { id, type: 'earn', points, created_at: now },
    balance: { ...balanceOf(account!), balance: after!.balance, last_visit_at: after!.lastVisitAt },
  })
}

/** The answer is stored with the effect, as it is: nothing is encrypted. */
async function keyedIssue(client: pg.PoolClient, key: string, body: { user_id: string; amount: string }) {
  await run(client, lockKey, { 1: key, 2: Math.floor(Math.random() * 2 ** 53) })
  const answer = await issue(client, body)
  await run(client, storeKey, {
    1: key,
    4: Buffer.from(answer),
    5: [body.user_id],
    6: new Date(),
  })
  return answer
}

async function complete(client: pg.PoolClient, code: string) {
  const now = new Date()
  const [found] = await run(client, lockCode, { 1: code })
  const row = found!
  await run(client, readReward, {})
  const id = uuidv7()
  const entry = entryValues(row.redemption_customerId, id, -row.redemption_pointsCost, now)
  await run(client, postRedeem, { ...entry, 18: row.redemption_id })
  await run(client, completeRedemption, { 1: row.redemption_id, 2: now })
  await run(client, countRedemption, {})
  return success('Redemption completed successfully', {
    redemption: {
      code,
      status: 'completed',
      reward_name: row.redemption_rewardName,
      points_cost: row.redemption_pointsCost,
      type: row.redemption_type,
      cashback_cents: row.redemption_cashbackCents,
    },
    transaction: { id, type: 'redeem', points: row.redemption_pointsCost, created_at: now },
  })
}

/** The value is stored with the redemption, as it is: nothing is encrypted. */
async function redeemFromPool(client: pg.PoolClient, body: { reward_id: string; user_id: string }) {
  const { reward_id, user_id } = body
  const now = new Date()
  await run(client, lockCustomer, { 1: user_id })
  const [reward] = await run(client, readPoolReward, { 1: reward_id })
  const { name, type, pointsCost, digitalAssetType } = reward!
  const [locked] = await run(client, lockValue, { 1: reward_id })
  const { id: valueId, value } = locked!
  const id = uuidv7()
  const code = generateCode()
  const stored = { 1: id, 2: code, 3: reward_id, 4: user_id, 12: now, 14: now, 21: Buffer.from(value) }
  await run(client, insertRedemption, stored)
  await run(client, consumeValue, { 1: valueId, 2: id, 3: now })
  const payment = uuidv7()
  const entry = entryValues(user_id, payment, -pointsCost, now)
  await run(client, postPayment, { ...entry, 17: reward_id, 18: id })
  await run(client, countPoolRedemption, { 1: reward_id })
  return success('Redemption created successfully', {
    redemption: {
      code,
      status: 'completed',
      reward_name: name,
      points_cost: pointsCost,
      type,
      cashback_cents: 0,
    },
    details: {
      id,
      reward_id,
      user_id,
      delivery_mode: 'digital',
      fulfilment_status: null,
      shipping_address: null,
      created_at: now,
      expires_at: null,
      completed_at: now,
    },
    asset: { type: digitalAssetType, value, expires_at: null },
    transaction: { id: payment, type: 'redeem', points: pointsCost, created_at: now },
  })
}

async function claim(client: pg.PoolClient, { user_id, code }: { user_id: string; code: string }) {
  const now = new Date()
  const [account] = await run(client, lockClaimant, { 1: user_id })
  const [prefix, suffix] = code.split('-')
  const [found] = await run(client, lockBatchCode, { 1: suffix, 2: prefix })
  const { points } = found!
  const id = uuidv7()
  const [after] = await run(client, postCode, { ...entryValues(user_id, id, points, now), 8: points })
  await run(client, claimBatchCode, { 1: found!.batchId, 2: found!.id, 3: user_id, 4: id, 5: now })
  return success('Code claimed successfully', {
    transaction: { id, type: 'earn', points, created_at: now },
    balance: { ...balanceOf(account!), balance: after!.balance, last_visit_at: after!.lastVisitAt },
  })
}

async function enter(client: pg.PoolClient, { user_id }: { user_id: string }) {
  const now = new Date()
  const [account] = await run(client, lockEntrant, { 1: user_id })
  const [raffle] = await run(client, findRaffle, { 2: user_id })
  const id = uuidv7()
  const [after] = await run(client, postRaffle, { ...entryValues(user_id, id, -RAFFLE_COST, now), 4: null })
  const isNew = raffle!.ownEntries === null ? 1 : 0
  const [entered] = await run(client, enterRaffle, { 2: uuidv7(), 3: user_id, 5: id, 6: now, 7: isNew })
  return success('Raffle entered successfully', {
    entry: {
      raffle_id: RAFFLE_ID,
      user_id,
      entrant_id: entered!.entrantId,
      entries: 1,
      user_entries: entered!.userEntries,
    },
    transaction: { id, type: 'redeem', points: RAFFLE_COST, created_at: now },
    balance: { ...balanceOf(account!), balance: after!.balance },
  })
}

/** No filter is made into SQL, and none is checked. */
async function segment(body: object) {
  const [findBusiness, findPage] = segmentStatements.get(JSON.stringify(body))!
  await run(pool, findBusiness, {})
  const rows = await run(pool, findPage, {})
  const customers = rows.filter(({ id }) => id !== null)
  return success('Segment customers retrieved successfully', {
    customers: customers.map((row) => ({
      user_id: row.id,
      display_name: row.displayName,
      points_balance: row.pointsBalance,
      visit_count: row.visitCount,
      redemption_count: row.redemptionCount,
      spend_usd_estimated: row.spendUsdEstimated,
      last_visit_at: row.lastVisitAt,
      joined_at: row.joinedAt,
      tier_id: row.tierId,
      identifiers: row.identifiers.map(({ id, value, label, createdAt }: Row) => ({
        id,
        value,
        label,
        created_at: new Date(createdAt),
      })),
    })),
    pagination: { limit: 50, offset: 0, returned: customers.length, total_count: rows[0]!.totalCount },
  })
}

const success = (message: string, data: object): string => JSON.stringify({ success: true, message, data })

async function bodyOf(request: IncomingMessage) {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return JSON.parse(Buffer.concat(chunks).toString())
}

async function answer(request: IncomingMessage): Promise<string> {
  const path = request.url!.slice('/api/v1'.length)
  if (path === '/me') return me()
  if (path.startsWith('/transactions?limit=')) return transactions(Number(path.slice(20)))
  if (path.startsWith('/customers/')) return balance(path.slice(11, 11 + 36))
  if (path.startsWith('/redemptions/')) return inTransaction((client) => complete(client, path.slice(13, 21)))
  if (path.startsWith('/raffles/')) {
    const body = await bodyOf(request)
    return inTransaction((client) => enter(client, body))
  }
  const key = request.headers['idempotency-key']
  const body = await bodyOf(request)
  if (path === '/redemptions') return inTransaction((client) => redeemFromPool(client, body))
  if (path === '/codes/claim') return inTransaction((client) => claim(client, body))
  if (path === '/segments/customers') return segment(body)
  return inTransaction((client) =>
    typeof key === 'string' ? keyedIssue(client, key, body) : issue(client, body),
  )
}

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const body = await answer(request)
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) })
    response.end(body)
  } catch (error) {
    response.writeHead(500).end(String(error))
  }
}

const server = createServer(handle).listen(Number(process.env.PORT), '127.0.0.1')
await once(server, 'listening')
process.send?.('ready')
