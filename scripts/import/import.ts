import { createHash } from 'node:crypto'
import Big from 'big.js'
import { OperatorError } from '../../src/operator-error.js'
import { type Api, createApi, type Reply } from './api.js'
import { type Format, type Purchase, type Refusal, readPurchases } from './purchases.js'

export interface ImportOptions {
  /** Of the service, such as `http://127.0.0.1:3000`. */
  readonly url: string
  /** With the scopes `customers:write` and `points:write`, and `settings:read` where no time zone is given. */
  readonly key: string
  readonly file: Uint8Array
  readonly format: Omit<Format, 'timezone'>
  /** IANA zone in which the file's days are; default: the business's own. */
  readonly timezone?: string | undefined
  /** How many requests may be under way at once. */
  readonly concurrency: number
  readonly onProgress?: ((done: number, lines: number) => void) | undefined
}

/** The outcome of a run, as it is printed. */
export interface Summary {
  /** Purchases in the file. */
  lines: number
  /** Booked by this run. */
  issued: number
  /** Booked by an earlier run of the same file. */
  replayed: number
  failed: number
  /** Of all that is booked: an exact decimal, and whole points. */
  total_amount: string
  total_points: number
  /** Made by this run, made by an earlier one of the same file, known to the business before. */
  customers: { created: number; replayed: number; existing: number }
}

/** What a run needs for each of its requests, and what has come of it so far. */
interface Run {
  readonly api: Api
  readonly fileHash: string
  readonly refused: Refusal[]
  readonly booked: { amount: string; points: number; replayed: boolean }[]
  readonly customers: Summary['customers']
}

/**
 * Sends every purchase of a file to the service, once: each has an Idempotency-Key of the file's hash and its line, so
 * a run that broke off is simply started again (within the 24 hours for which the service remembers keys). The
 * purchases of one customer go in the file's order, those of different customers side by side. Throws OperatorError where
 * the run as a whole cannot succeed.
 */
export async function importPurchases(
  options: ImportOptions,
): Promise<{ summary: Summary; refused: Refusal[] }> {
  const api = createApi(options.url.replace(/\/$/, ''), options.key)
  const timezone = options.timezone ?? (await timezoneOf(api))
  const text = new TextDecoder().decode(options.file)
  const { purchases, refused } = readPurchases(text, { ...options.format, timezone })
  const lines = purchases.length + refused.length
  const run: Run = {
    api,
    fileHash: createHash('sha256').update(options.file).digest('hex'),
    refused,
    booked: [],
    customers: { created: 0, replayed: 0, existing: 0 },
  }

  const waiting = byCustomer(purchases).entries()
  const work = async (): Promise<void> => {
    for (const [customer, theirs] of waiting) {
      await bookAll(run, customer, theirs)
      options.onProgress?.(run.booked.length + refused.length, lines)
    }
  }
  await Promise.all(Array.from({ length: options.concurrency }, work))
  refused.sort((a, b) => a.line - b.line)
  return { summary: summaryOf(run), refused }
}

async function timezoneOf(api: Api): Promise<string> {
  const reply = await api.get('/settings')
  if (reply.status !== 200)
    throw new OperatorError(`the business's time zone cannot be read (${reply.error}); --timezone names it`)
  return (reply.data as { settings: { timezone: string } }).settings.timezone
}

function byCustomer(purchases: readonly Purchase[]): Map<string, Purchase[]> {
  const groups = new Map<string, Purchase[]>()
  for (const purchase of purchases) {
    const group = groups.get(purchase.customer)
    if (group) group.push(purchase)
    else groups.set(purchase.customer, [purchase])
  }
  return groups
}

async function bookAll(run: Run, customer: string, purchases: readonly Purchase[]): Promise<void> {
  const problem = await ensureCustomer(run, customer, purchases[0]!.line)
  for (const purchase of purchases) {
    const reason = problem ?? (await book(run, purchase))
    if (reason !== undefined) run.refused.push({ line: purchase.line, reason })
  }
}

/** Returns why the customer cannot be had, if so. */
async function ensureCustomer(run: Run, identifier: string, line: number): Promise<string | undefined> {
  const body = { identifiers: [{ value: identifier }] }
  const reply = await post(run, '/customers', body, `${run.fileHash}:${line}:customer`)
  if (reply.status === 409 && reply.error === 'IDENTIFIER_TAKEN') run.customers.existing++
  else if (reply.status !== 201) return reply.error
  else if (reply.replayed) run.customers.replayed++
  else run.customers.created++
  return undefined
}

/** Returns why the purchase was refused, if so. */
async function book(run: Run, { line, customer, amount, occurredAt }: Purchase): Promise<string | undefined> {
  const body = { identifier: customer, amount, occurred_at: occurredAt.toISOString() }
  const reply = await post(run, '/points/issue', body, `${run.fileHash}:${line}`)
  if (reply.status !== 200) return reply.error
  const { points } = (reply.data as { transaction: { points: number } }).transaction
  run.booked.push({ amount, points, replayed: reply.replayed })
  return undefined
}

async function post({ api }: Run, path: string, body: object, idempotencyKey: string): Promise<Reply> {
  const reply = await api.post(path, body, idempotencyKey)
  // Of the key, so every other line would be refused too.
  if (reply.status === 401 || reply.status === 403) throw new OperatorError(reply.error)
  return reply
}

function summaryOf({ booked, refused, customers }: Run): Summary {
  const replayed = booked.filter((purchase) => purchase.replayed).length
  const decimals = booked.reduce((most, { amount }) => Math.max(most, amount.split('.')[1]?.length ?? 0), 0)
  return {
    lines: booked.length + refused.length,
    issued: booked.length - replayed,
    replayed,
    failed: refused.length,
    total_amount: booked.reduce((sum, { amount }) => sum.plus(amount), new Big(0)).toFixed(decimals),
    total_points: booked.reduce((sum, { points }) => sum + points, 0),
    customers,
  }
}
