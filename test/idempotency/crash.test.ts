import { setTimeout as sleep } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { audit } from '../../src/audit/audit.js'
import {
  createTenant,
  type RestAnswer,
  restClient,
  startApp,
  TEST_SECRET,
  type Tenant,
} from '../helpers/app.js'
import { createCustomer, createReward } from '../helpers/factories.js'
import { startService } from '../helpers/program.js'
import { startWire } from './wire.js'

/** A write whose effect can be counted. */
interface Write {
  request: string
  body?: object
  /** SQL for how often it has happened, with its one parameter. */
  effects: [sql: string, about: string]
}

/** What came of one write whose process was killed. */
type Outcome = 'answered' | 'lost' | 'kept'

/**
 * Kills the process of the service when the database has answered so many messages of the write, sends the write to
 * another instance with the same key, and checks that it has happened once. Says whether the killed process had
 * committed it.
 */
async function killAndRetry(
  t: ExecutionContext,
  answers: number,
  prepare: (tenant: Tenant) => Promise<Write>,
) {
  const other = await startApp(t)
  const tenant = await createTenant(other)
  const { request, body, effects } = await prepare(tenant)
  const key = { 'idempotency-key': request }

  const wire = await startWire(t, other.databaseUrl)
  const settings = { DATABASE_URL: wire.url, SECRET_KEY: TEST_SECRET, JOBS: 'false', LOG_LEVEL: 'silent' }
  const { child, ready, exited } = await startService(t, settings)
  const rest = restClient(ready.url, tenant.key)
  t.is((await rest('GET /me')).status, 200)
  let killed = false
  wire.stopAfter(answers, () => {
    killed = child.kill('SIGKILL')
  })
  const answer = await rest(request, body, key).catch(() => undefined)
  if (!killed) child.kill('SIGKILL')
  await exited

  // The database may not have noticed yet that the process is gone.
  let retry: RestAnswer
  do {
    retry = await tenant.rest(request, body, key)
    if (retry.status === 409) await sleep(20)
  } while (retry.status === 409)
  t.true(retry.status < 300, retry.text)
  const kept = retry.headers.get('idempotency-replayed') === 'true'
  if (answer) t.is(retry.text, answer.text)
  const again = await tenant.rest(request, body, key)
  t.deepEqual([again.text, again.headers.get('idempotency-replayed')], [retry.text, 'true'])
  const { rows } = await other.database.pool.query(effects[0], [effects[1]])
  t.is(Number(rows[0].count), 1)
  const { checks } = await audit(other.database)
  t.deepEqual(
    checks.filter(({ broken }) => broken > 0),
    [],
  )
  const outcome: Outcome = answer ? 'answered' : kept ? 'kept' : 'lost'
  return outcome
}

/** Kills at every message there is, from the first on, until one comes through. */
const killAnywhere = test.macro(async (t, prepare: (tenant: Tenant) => Promise<Write>) => {
  t.timeout(180_000)
  const outcomes: Outcome[] = []
  while (outcomes.at(-1) !== 'answered') outcomes.push(await killAndRetry(t, outcomes.length, prepare))
  // At first nothing had happened, in the end all of it, and never a part.
  t.regex(outcomes.join(' '), /^(lost ){3,}(kept )+answered$/)
})

test('points are issued once, wherever the process is killed', killAnywhere, async (tenant) => {
  const { user_id } = await createCustomer(tenant)
  return {
    request: 'POST /points/issue',
    body: { user_id, points: 10 },
    effects: ['SELECT count(*) FROM transactions WHERE customer_id = $1 AND points = 10', user_id],
  }
})

test('a code is completed once, wherever the process is killed', killAnywhere, async (tenant) => {
  const { user_id } = await createCustomer(tenant)
  const reward = await createReward(tenant, { points_cost: 40, max_redemptions: 1 })
  await tenant.rest('POST /points/issue', { user_id, points: 100 })
  const created = await tenant.rest('POST /redemptions', { reward_id: reward.id, user_id })
  return {
    request: `POST /redemptions/${created.body.data.redemption.code}/complete`,
    effects: [`SELECT count(*) FROM transactions WHERE customer_id = $1 AND type = 'redeem'`, user_id],
  }
})
