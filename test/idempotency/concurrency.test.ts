import test, { type ExecutionContext } from 'ava'
import { audit } from '../../src/audit/audit.js'
import {
  createTenant,
  graphClient,
  type RestAnswer,
  restClient,
  startApp,
  type TestApp,
} from '../helpers/app.js'
import { createCustomer } from '../helpers/factories.js'
import { untilWaiting } from '../helpers/locks.js'

const key = (value: string) => ({ 'idempotency-key': value })
const range = (length: number) => Array.from({ length }, (_, index) => index)

async function twoInstances(t: ExecutionContext) {
  const one = await startApp(t)
  const two = await startApp(t, { beside: one })
  const tenant = await createTenant(one)
  const clients = [tenant.rest, restClient(two.url, tenant.key)]
  const graphs = [tenant.graph, graphClient(two.url, tenant.key)]
  const { user_id } = await createCustomer(tenant)
  const balance = async () => (await tenant.rest(`GET /customers/${user_id}/balance`)).body.data.balance
  return { app: one, tenant, clients, graphs, user_id, balance }
}

/** The first request's own answer; all others replay it or were told to come again. */
function assertOnce(t: ExecutionContext, answers: RestAnswer[], status: number): void {
  const inUse = answers.filter(({ body }) => body.error?.message === 'IDEMPOTENCY_KEY_IN_USE')
  for (const answer of inUse) t.deepEqual([answer.status, answer.headers.get('retry-after')], [409, '1'])
  const answered = answers.filter((answer) => !inUse.includes(answer))
  t.deepEqual(
    [...new Set(answered.map((answer) => `${answer.status} ${answer.text}`))],
    [`${status} ${answered[0]?.text}`],
  )
  t.is(answered.filter(({ headers }) => !headers.get('idempotency-replayed')).length, 1)
}

async function assertAudit(t: ExecutionContext, app: TestApp): Promise<void> {
  const { checks } = await audit(app.database)
  t.deepEqual(
    checks.filter(({ broken }) => broken > 0),
    [],
  )
}

test.serial(
  'one key sent 100 times at once to two instances has one effect; all others replay it or come again',
  async (t) => {
    const { app, clients, user_id, balance } = await twoInstances(t)
    const body = { user_id, points: 10 }
    const issue = (index: number) => clients[index % 2]!('POST /points/issue', body, key('a'))
    assertOnce(t, await Promise.all(range(100).map(issue)), 200)
    for (const index of [0, 1]) t.is((await issue(index)).headers.get('idempotency-replayed'), 'true')
    t.is(await balance(), 10)
    await assertAudit(t, app)
  },
)

test.serial('a refusal sent 100 times at once is decided once', async (t) => {
  const { app, clients, user_id, balance } = await twoInstances(t)
  const body = { user_id, points: 10 }
  const redeem = (index: number) => clients[index % 2]!('POST /points/redeem', body, key('a'))
  assertOnce(t, await Promise.all(range(100).map(redeem)), 409)
  await clients[0]!('POST /points/issue', body)
  const retry = await redeem(1)
  t.deepEqual(
    [retry.body.error.message, retry.headers.get('idempotency-replayed')],
    ['INSUFFICIENT_POINTS:0', 'true'],
  )
  t.is(await balance(), 10)
  await assertAudit(t, app)
})

test.serial('two different requests that race for one key: one is done, the other refused', async (t) => {
  const { app, clients, user_id, balance } = await twoInstances(t)
  for (const round of range(20)) {
    const race = [1, 2].map((points, index) =>
      clients[index]!('POST /points/issue', { user_id, points }, key(`round ${round}`)),
    )
    const answers = await Promise.all(race)
    const statuses = answers.map(({ status }) => status).sort()
    t.is(statuses[0], 200)
    t.true(statuses[1] === 409 || statuses[1] === 422, String(statuses))
  }
  const { rows } = await app.database.pool.query('SELECT count(*)::int AS count FROM transactions')
  t.is(rows[0].count, 20)
  t.true((await balance()) >= 20 && (await balance()) <= 40)
  await assertAudit(t, app)
})

test.serial('100 different keys at once on two instances are 100 effects', async (t) => {
  const { app, clients, user_id, balance } = await twoInstances(t)
  const issue = (index: number) =>
    clients[index % 2]!('POST /points/issue', { user_id, points: 1 }, key(`key ${index}`))
  t.deepEqual([...new Set((await Promise.all(range(100).map(issue))).map(({ status }) => status))], [200])
  const retries = await Promise.all(range(100).map(issue))
  t.true(retries.every(({ headers }) => headers.get('idempotency-replayed') === 'true'))
  t.is(await balance(), 100)
  await assertAudit(t, app)
})

test.serial(
  'while the first request is running the others are told so at once, on every instance',
  async (t) => {
    const { app, clients, user_id } = await twoInstances(t)
    const issue = (index: number) => clients[index]!('POST /points/issue', { user_id, points: 10 }, key('a'))
    const holder = await app.database.pool.connect()
    await holder.query('BEGIN')
    await holder.query('SELECT FROM customers WHERE id = $1 FOR UPDATE', [user_id])
    const first = issue(0)
    await untilWaiting(app, 1)
    for (const index of [0, 1]) {
      const { status, headers, body } = await issue(index)
      t.deepEqual([status, body.error.message], [409, 'IDEMPOTENCY_KEY_IN_USE'])
      t.is(headers.get('retry-after'), '1')
    }
    await holder.query('ROLLBACK')
    holder.release()
    const { status, text } = await first
    t.is(status, 200)
    t.deepEqual([(await issue(0)).text, (await issue(1)).text], [text, text])
  },
)

test.serial('a mutation of the graph sent 50 times at once with one key has one effect', async (t) => {
  const { app, graphs, user_id, balance } = await twoInstances(t)
  const mutation =
    'mutation ($input: IssuePointsInput!) { issuePoints(input: $input) { transaction { id } } }'
  const variables = { input: { userId: user_id, points: 10 } }
  const issue = (index: number) => graphs[index % 2]!(mutation, variables, key('a'))
  const answers = await Promise.all(range(50).map(issue))
  const refused = answers.filter(({ errors }) => errors)
  for (const { errors } of refused)
    t.deepEqual(errors![0].extensions, { code: 'IDEMPOTENCY_KEY_IN_USE', retryAfter: 1 })
  const ids = answers.flatMap(({ data }) => (data ? [data.issuePoints.transaction.id] : []))
  t.is(ids.length + refused.length, 50)
  t.is(new Set(ids).size, 1)
  const retry = await issue(1)
  t.deepEqual(
    [retry.data.issuePoints.transaction.id, retry.headers.get('idempotency-replayed')],
    [ids[0], 'true'],
  )
  t.is(await balance(), 10)
  await assertAudit(t, app)
})
