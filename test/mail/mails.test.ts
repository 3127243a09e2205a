import test from 'ava'
import { quickAddJob } from 'graphile-worker'
import pino from 'pino'
import { createApiKey } from '../../src/businesses/accounts.js'
import type { Scope } from '../../src/context.js'
import { startJobs } from '../../src/jobs/worker.js'
import { takeDueMail } from '../../src/mail/queue.js'
import { sendDueMails } from '../../src/mail/send-due-mails.js'
import { createSecrets } from '../../src/secrets.js'
import { createTenant, graphClient, startApp } from '../helpers/app.js'
import { createCustomer } from '../helpers/factories.js'
import { startMailServer, withMailer } from '../helpers/mail-server.js'
import { createMailedReward, mailsOf, redeemMailed } from '../helpers/mails.js'

type Test = Parameters<typeof startApp>[0]

/** A tenant with one mail that is due. */
async function withWaitingMail(t: Test) {
  const app = await startApp(t)
  const tenant = await createTenant(app)
  const customer = await redeemMailed(tenant)
  return { app, tenant, customer, mail: async () => (await mailsOf(tenant))[0]! }
}

/** The same, given up. */
async function withDeadMail(t: Test) {
  const waiting = await withWaitingMail(t)
  await waiting.app.database.db.mail.updateMany({ data: { status: 'dead', attempts: 10 } })
  return { ...waiting, id: (await waiting.mail()).id as string }
}

const retry = (id: string) => `mutation { retryMail(input: { id: "${id}" }) { status } }`

test('a redemption queues one mail if its reward is e-mailed and its customer has an address', async (t) => {
  const tenant = await createTenant(await startApp(t))
  await redeemMailed(tenant, { customer: { email: null } })
  await redeemMailed(tenant, { reward: { digital_email_delivery: false } })
  t.deepEqual(await mailsOf(tenant), [])
  const { user_id } = await redeemMailed(tenant)
  const [mail, ...more] = await mailsOf(tenant)
  t.like(mail, { status: 'waiting', attempts: 0, lastError: null, sentAt: null, userId: user_id })
  t.is(mail!.nextAttemptAt, mail!.createdAt)
  t.deepEqual(more, [])
})

test('a redemption that is refused queues nothing', async (t) => {
  const tenant = await createTenant(await startApp(t))
  const reward = await createMailedReward(tenant, { points_cost: 1 })
  const { user_id } = await createCustomer(tenant, { email: 'ada@example.com' })
  t.is((await tenant.rest('POST /redemptions', { reward_id: reward.id, user_id })).status, 409)
  t.deepEqual(await mailsOf(tenant), [])
})

test('without SMTP_URL mails wait, untouched, and the log says so once', async (t) => {
  const { app, mail } = await withWaitingMail(t)
  const lines: string[] = []
  const services = withMailer(app, undefined, pino({}, { write: (line) => void lines.push(line) }))
  for (let sweep = 0; sweep < 3; sweep++) t.is(await sendDueMails(services), 0)
  t.like(await mail(), { status: 'waiting', attempts: 0, lastError: null })
  t.is(lines.length, 1)
  t.like(JSON.parse(lines[0]!), {
    level: 40,
    msg: 'SMTP_URL is not set: e-mails to customers wait until it is',
  })
  const server = await startMailServer(t)
  t.is(await sendDueMails(withMailer(app, server.url)), 1)
})

test('the log of a failed attempt names neither address nor value', async (t) => {
  const { app } = await withWaitingMail(t)
  const server = await startMailServer(t, { refuseMessage: '451 <ada@example.com> SESAME-42' })
  const lines: string[] = []
  await sendDueMails(withMailer(app, server.url, pino({}, { write: (line) => void lines.push(line) })))
  t.is(lines.length, 1)
  t.notRegex(lines[0]!, /ada|SESAME/)
})

test('mails are listed by status, newest first, and have no field for the address or the value', async (t) => {
  const { app, tenant, id } = await withDeadMail(t)
  await redeemMailed(tenant)
  const mails = await mailsOf(tenant)
  t.deepEqual(
    mails.map(({ status }) => status),
    ['waiting', 'dead'],
  )
  const { data } = await tenant.graph('{ mails(status: dead, first: 1) { totalCount nodes { id } } }')
  t.deepEqual(data.mails, { totalCount: 1, nodes: [{ id }] })
  const type = await tenant.graph('{ __type(name: "Mail") { fields { name } } }')
  t.deepEqual(
    type.data.__type.fields.map(({ name }: { name: string }) => name).sort(),
    Object.keys(mails[0]!).sort(),
  )
  const stored = JSON.stringify(await app.database.db.mail.findMany())
  t.notRegex(stored, /ada@|SESAME/)
})

test('only a mail that was given up can be retried', async (t) => {
  const { tenant, id } = await withDeadMail(t)
  t.is((await tenant.graph(retry(id))).data.retryMail.status, 'waiting')
  const { errors } = await tenant.graph(retry(id))
  t.like(errors?.[0], {
    message: 'MAIL_NOT_RETRYABLE:waiting',
    extensions: { code: 'MAIL_NOT_RETRYABLE' },
  })
})

test("another business's mails are not listed, and retrying one is as retrying none", async (t) => {
  const { app, id, mail } = await withDeadMail(t)
  const other = await createTenant(app)
  t.deepEqual(await mailsOf(other), [])
  const [foreign, none] = await Promise.all(
    [id, '00000000-0000-7000-8000-000000000000'].map(async (each) => (await other.graph(retry(each))).errors),
  )
  t.like(foreign?.[0], { message: 'Mail not found' })
  t.deepEqual(foreign, none)
  t.is((await mail()).status, 'dead')
})

test('mails need the scopes of redemptions', async (t) => {
  const { app, tenant, id } = await withDeadMail(t)
  const answers = async (scopes: Scope[], query: string) => {
    const { key } = await createApiKey(
      app.database,
      app.secrets,
      { businessId: tenant.businessId, name: 'scoped', scopes },
      app.clock.now(),
    )
    return (await graphClient(app.url, key)(query)).errors?.[0]?.message
  }
  t.is(await answers(['customers:read'], '{ mails { totalCount } }'), 'Insufficient scope: redemptions:read')
  t.is(await answers(['redemptions:read'], '{ mails { totalCount } }'), undefined)
  t.is(await answers(['redemptions:read'], retry(id)), 'Insufficient scope: redemptions:write')
  t.is(await answers(['redemptions:write'], retry(id)), undefined)
})

test('the address is the one that the customer has when the mail is sent', async (t) => {
  const { app, tenant, customer } = await withWaitingMail(t)
  const server = await startMailServer(t)
  await tenant.rest(`PATCH /customers/${customer.user_id}`, { email: 'ada@example.org' })
  t.is(await sendDueMails(withMailer(app, server.url)), 1)
  t.deepEqual(server.received[0]!.recipients, ['ada@example.org'])
})

test('a customer who has no address any more gets no mail, and the dashboard says why', async (t) => {
  const { app, tenant, customer, mail } = await withWaitingMail(t)
  const server = await startMailServer(t)
  await tenant.rest(`PATCH /customers/${customer.user_id}`, { email: null })
  t.is(await sendDueMails(withMailer(app, server.url)), 0)
  t.like(await mail(), { status: 'dead', lastError: 'the customer has no e-mail address any more' })
  t.deepEqual(server.received, [])
})

test('a customer who is erased while a mail is on its way is erased, and the mail is not repeated', async (t) => {
  const { app, tenant, customer } = await withWaitingMail(t)
  const server = await startMailServer(t, { hang: 'message' })
  const sending = sendDueMails(withMailer(app, `${server.url}?socketTimeout=3000`))
  while (server.received.length === 0) await new Promise((resolve) => setTimeout(resolve, 20))
  t.is((await tenant.rest(`DELETE /customers/${customer.user_id}`)).status, 200)
  t.is(await sending, 0)
  t.deepEqual(await mailsOf(tenant), [])
})

test('a value sealed by a secret that is gone keeps its mail waiting', async (t) => {
  const { app, mail } = await withWaitingMail(t)
  const server = await startMailServer(t)
  const secrets = createSecrets('another secret that is also long enough')
  t.is(await sendDueMails({ ...withMailer(app, server.url), secrets }), 0)
  t.like(await mail(), {
    status: 'waiting',
    attempts: 1,
    lastError: 'the value cannot be opened: SECRET_KEY has changed',
  })
})

test('a mail is taken by one of many who ask at once', async (t) => {
  const { app } = await withWaitingMail(t)
  const now = app.clock.now()
  const taken = await Promise.all(Array.from({ length: 10 }, () => takeDueMail(app.database.sql, now)))
  t.is(taken.filter((mail) => mail !== undefined).length, 1)
})

test('the worker sends what is due', async (t) => {
  const { app, mail } = await withWaitingMail(t)
  const server = await startMailServer(t)
  const services = { ...app, ...withMailer(app, server.url) }
  const jobs = await startJobs(services, app.databaseUrl, pino({ level: 'silent' }))
  t.teardown(() => jobs.stop())
  await quickAddJob({ pgPool: app.database.pool }, 'send_mails', {})
  while ((await mail()).status === 'waiting') await new Promise((resolve) => setTimeout(resolve, 50))
  t.is((await mail()).status, 'sent')
})
