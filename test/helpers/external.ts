import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ExecutionContext } from 'ava'
import { createReceiver } from '../../examples/receiver/receiver.js'
import { type Asset, fileStore } from '../../examples/receiver/store.js'
import { audit } from '../../src/audit/audit.js'
import { createTenant, restClient, startApp, type Tenant, type TestApp, type TestAppOptions } from './app.js'
import { createCustomer, createReward, type Resource } from './factories.js'
import { startInternet, type TestInternet } from './internet.js'

/** A business that mints its own values, and the service that asks it for them. */

const MINT_HOST = 'mint.example.com'

/** The business's server: the example receiver, which tests may stand in front of. */
export interface Mint {
  url: string
  /** The Idempotency-Key of every call that reached it, in their order. */
  keys: string[]
  /** What answers; the example receiver unless a test puts something else here. */
  answer: RequestListener
  readonly receiver: RequestListener
  /** The secrets that the receiver knows. */
  secrets: string[]
  /** What the receiver keeps, by key. */
  minted(): Record<string, Asset>
}

async function startMint(
  t: Pick<ExecutionContext, 'teardown'>,
  internet: TestInternet,
  host = MINT_HOST,
): Promise<Mint> {
  const folder = mkdtempSync(join(tmpdir(), 'loyalty-mint-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const secrets: string[] = []
  const receiver = createReceiver({ secrets, store: await fileStore(folder) })
  const mint: Mint = {
    url: '',
    keys: [],
    answer: receiver,
    receiver,
    secrets,
    minted: () =>
      Object.fromEntries(
        readdirSync(folder).map((file) => [
          file.replace(/\.json$/, ''),
          JSON.parse(readFileSync(join(folder, file), 'utf8')) as Asset,
        ]),
      ),
  }
  const origin = await internet.serve(host, (request, response) => {
    mint.keys.push(String(request.headers['idempotency-key']))
    mint.answer(request, response)
  })
  mint.url = `${origin}/provision`
  return mint
}

/** An external reward for 100 points whose values come from the mint; its secret is known there. */
export async function createExternalReward(
  tenant: Pick<Tenant, 'rest'>,
  mint: Mint,
  overrides: Record<string, unknown> = {},
): Promise<Resource> {
  const reward = await createReward(tenant, {
    delivery_mode: 'digital',
    digital_asset_type: 'code',
    digital_asset_source: 'external',
    digital_webhook_url: mint.url,
    ...overrides,
  })
  mint.secrets.push(reward.digital_webhook_secret)
  return reward
}

/** A customer with points; the user id. */
export async function customerWith(tenant: Pick<Tenant, 'rest'>, points: number): Promise<string> {
  const { user_id } = await createCustomer(tenant)
  if (points > 0) await tenant.rest('POST /points/issue', { user_id, points })
  return user_id
}

/** A service in an internet of its own. */
export async function startOutgoing(t: Pick<ExecutionContext, 'teardown'>, options: TestAppOptions = {}) {
  const internet = await startInternet(t)
  const app = await startApp(t, { network: internet.network, ...options })
  return { internet, app }
}

export type ExternalBusiness = Awaited<ReturnType<typeof createExternalBusiness>>

/** A business with a server of its own. */
export async function createExternalBusiness(
  t: Pick<ExecutionContext, 'teardown'>,
  { internet, app }: Awaited<ReturnType<typeof startOutgoing>>,
  host = MINT_HOST,
) {
  const mint = await startMint(t, internet, host)
  const tenant = await createTenant(app)
  return {
    internet,
    mint,
    app,
    tenant,
    reward: (overrides: Record<string, unknown> = {}) => createExternalReward(tenant, mint, overrides),
    /** A client of another instance on the same database. */
    beside: async () => restClient((await startApp(t, { beside: app, clock: app.clock })).url, tenant.key),
  }
}

/** A service of the test's own and a business in it. */
export const startExternal = async (
  t: Pick<ExecutionContext, 'teardown'>,
  options: TestAppOptions = {},
): Promise<ExternalBusiness> => createExternalBusiness(t, await startOutgoing(t, options))

/** Holds what passes through it until it is opened; `arrived` resolves with the first that came. */
export function gate() {
  let open = () => {}
  let arrive = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve
  })
  return {
    arrived,
    open,
    /** `listener`, behind the gate. */
    before: (listener: RequestListener): RequestListener => {
      return async (request, response) => {
        arrive()
        await opened
        listener(request, response)
      }
    },
  }
}

const PATIENCE_MS = 20_000

/** Returns when it holds; gives up after a while. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const giveUp = Date.now() + PATIENCE_MS
  while (Date.now() < giveUp) {
    if (await holds()) return
    await sleep(10)
  }
  throw new Error(`it did not come to be that ${what}`)
}

/** What the database says of a customer's points, and whether anything is left open. */
export async function pointsOf({ rest }: Pick<Tenant, 'rest'>, app: TestApp, userId: string) {
  const { balance } = (await rest(`GET /customers/${userId}/balance`)).body.data
  const [row] = (await app.database.pool.query('SELECT held FROM customers WHERE id = $1', [userId])).rows
  return { balance: balance as number, held: row.held as number }
}

/** Every invariant holds, of one business or of all; says by name what does not. */
export async function assertAudit({ database }: TestApp, businessId?: string): Promise<void> {
  const { checks } = await audit(database, businessId)
  const broken = checks.filter((check) => check.broken > 0)
  if (broken.length > 0) throw new Error(JSON.stringify(broken))
}

/** The code of the refusal that a mint's answer leads to. */
export const PROVISION_FAILED = '502 DIGITAL_PROVISION_FAILED'

/** `201 ok`, or the status with the refusal. */
export const said = ({ status, body }: { status: number; body: { error?: { message: string } } }): string =>
  `${status} ${body.error?.message ?? 'ok'}`
