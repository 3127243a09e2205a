import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import { sendDueMails } from '../../src/mail/send-due-mails.js'
import { createTenant, startApp, testClock } from '../helpers/app.js'
import { startMailServer, withMailer } from '../helpers/mail-server.js'
import { idleTransactions, mailsOf, redeemMailed } from '../helpers/mails.js'

/**
 * Seen failing, each with its guard taken out: no lock or no lease while a mail is sent, a Message-ID of its own for
 * each attempt, no pause, no end of attempts, no deadline, the server's own words as the reason, refusals for good
 * repeated, a late failure that overwrites, a password without TLS, the transaction of the lease open while sending.
 */

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

type Test = Parameters<typeof startApp>[0]

/** A tenant with one mail that is due, and a mail server. */
async function withWaitingMail(t: Test, conduct: Parameters<typeof startMailServer>[1] = {}) {
  const clock = testClock()
  const [app, server] = await Promise.all([startApp(t, { clock }), startMailServer(t, conduct)])
  const tenant = await createTenant(app)
  const customer = await redeemMailed(tenant)
  const sweep = (options = '') => sendDueMails(withMailer(app, server.url + options))
  const mail = async () => (await mailsOf(tenant))[0]!
  const messageIds = () => server.received.map(({ email }) => email.messageId)
  return { clock, app, server, tenant, customer, sweep, mail, messageIds }
}

test('a mail that the server took is sent, once', async (t) => {
  const { sweep, mail, messageIds, clock } = await withWaitingMail(t)
  t.is(await sweep(), 1)
  const { id, ...sent } = await mail()
  t.like(sent, { status: 'sent', attempts: 1, nextAttemptAt: null, lastError: null })
  t.is(sent.sentAt, clock.now().toISOString())
  clock.advance(24 * HOUR_MS)
  t.is(await sweep(), 0)
  t.deepEqual(messageIds(), [`<${id}@example.org>`])
})

test('a temporary refusal is tried again after a pause, under the same Message-ID', async (t) => {
  const { clock, server, sweep, mail, messageIds } = await withWaitingMail(t, {
    refuseMessage: '451 4.7.1 <ada@example.com> SESAME-42 try later',
  })
  t.is(await sweep(), 0)
  const refused = await mail()
  t.like(refused, { status: 'waiting', attempts: 1, sentAt: null })
  t.is(refused.lastError, 'the mail server refused the message (DATA 451 4.7.1)')
  t.is(Date.parse(refused.nextAttemptAt), clock.now().getTime() + MINUTE_MS)
  server.conduct = {}
  clock.advance(MINUTE_MS - 1)
  t.is(await sweep(), 0)
  clock.advance(1)
  t.is(await sweep(), 1)
  t.like(await mail(), { status: 'sent', attempts: 2, lastError: null })
  const [first, second, ...more] = messageIds()
  t.is(first, second)
  t.deepEqual(more, [])
})

for (const conduct of [
  { refuseRecipient: '550-5.1.1 <ada@example.com>: no such\0 person' },
  { refuseMessage: '554 5.7.1 SESAME-42 is spam' },
])
  test(`a refusal for good is not repeated, and its reason names neither address nor value: ${Object.keys(conduct)}`, async (t) => {
    const { clock, sweep, mail } = await withWaitingMail(t, conduct)
    t.is(await sweep(), 0)
    const dead = await mail()
    t.like(dead, { status: 'dead', attempts: 1, nextAttemptAt: null })
    t.regex(dead.lastError, /^the mail server refused the [a-z ]+ \((RCPT TO|DATA) 55\d( 5\.\d\.\d)?\)$/)
    clock.advance(24 * HOUR_MS)
    await sweep()
    t.is((await mail()).attempts, 1)
  })

test('after ten attempts over a day a mail is given up, and a retry begins anew', async (t) => {
  const { clock, server, tenant, sweep, mail, messageIds } = await withWaitingMail(t, {
    refuseMessage: '451 later',
  })
  const start = clock.now().getTime()
  const triedAfterMinutes: number[] = []
  for (let next = await mail(); next.status === 'waiting'; next = await mail()) {
    clock.set(next.nextAttemptAt)
    await sweep()
    triedAfterMinutes.push((clock.now().getTime() - start) / MINUTE_MS)
  }
  t.deepEqual(triedAfterMinutes, [0, 1, 4, 13, 40, 121, 364, 724, 1084, 1444])
  const { id, ...given } = await mail()
  t.like(given, { status: 'dead', attempts: 10, nextAttemptAt: null })
  clock.advance(30 * 24 * HOUR_MS)
  t.is(await sweep(), 0)
  t.is(server.received.length, 10)

  server.conduct = {}
  const { data } = await tenant.graph(`mutation { retryMail(input: { id: "${id}" }) { status attempts } }`)
  t.deepEqual(data.retryMail, { status: 'waiting', attempts: 0 })
  t.is(await sweep(), 1)
  t.like(await mail(), { status: 'sent', attempts: 1, lastError: null })
  t.deepEqual([...new Set(messageIds())], [`<${id}@example.org>`])
})

test('a server that says nothing is given up on, with no transaction open meanwhile', async (t) => {
  const { app, server, sweep, mail } = await withWaitingMail(t, { hang: 'greeting' })
  const sweeping = sweep('?greetingTimeout=1000')
  await server.visited()
  t.is(await idleTransactions(app), 0)
  t.is(await sweeping, 0)
  t.like(await mail(), { status: 'waiting', attempts: 1 })
  t.regex((await mail()).lastError, /^the mail server did not answer in time/)
})

test('a server that takes the message and says nothing is given up on', async (t) => {
  const { clock, server, sweep, mail, messageIds } = await withWaitingMail(t, { hang: 'message' })
  t.is(await sweep('?socketTimeout=500'), 0)
  t.regex((await mail()).lastError, /^the mail server did not answer in time/)
  server.conduct = {}
  clock.advance(MINUTE_MS)
  t.is(await sweep(), 1)
  t.is(new Set(messageIds()).size, 1)
})

test('however long a server may take for a step, an attempt ends', async (t) => {
  const { sweep, mail } = await withWaitingMail(t, { hang: 'message' })
  t.is(await sweep('?socketTimeout=600000'), 0)
  t.like(await mail(), {
    status: 'waiting',
    attempts: 1,
    lastError: 'the mail server did not answer in time',
  })
})

test('a message that may have arrived before the connection broke is repeated under the same Message-ID', async (t) => {
  const { clock, server, sweep, mail, messageIds } = await withWaitingMail(t, { dropAfterMessage: true })
  t.is(await sweep(), 0)
  t.like(await mail(), { status: 'waiting', attempts: 1 })
  t.regex((await mail()).lastError, /^the mail server closed the connection/)
  server.conduct = {}
  clock.advance(MINUTE_MS)
  t.is(await sweep(), 1)
  const [first, second, ...more] = messageIds()
  t.is(first, second)
  t.deepEqual(more, [])
})

test('no server at all costs an attempt and no mail', async (t) => {
  const { app, mail } = await withWaitingMail(t)
  t.is(await sendDueMails(withMailer(app, 'smtp://127.0.0.1:1')), 0)
  t.like(await mail(), {
    status: 'waiting',
    attempts: 1,
    lastError: 'no connection to the mail server (ECONNREFUSED)',
  })
})

test('a password is not sent to a server without TLS', async (t) => {
  const clock = testClock()
  const [app, server] = await Promise.all([
    startApp(t, { clock }),
    startMailServer(t, {}, { disabledCommands: ['STARTTLS'], authOptional: true, allowInsecureAuth: true }),
  ])
  const tenant = await createTenant(app)
  await redeemMailed(tenant)
  const url = server.url.replace('//', '//loyalty:password@')
  t.is(await sendDueMails(withMailer(app, url)), 0)
  t.deepEqual(server.logins, [])
  t.like((await mailsOf(tenant))[0], { status: 'waiting', attempts: 1 })
  clock.advance(MINUTE_MS)
  t.is(await sendDueMails(withMailer(app, `${url}?requireTLS=false`)), 1)
  t.deepEqual(server.logins, ['loyalty'])
})

test('two instances that sweep 100 due mails send each exactly once', async (t) => {
  const clock = testClock()
  const one = await startApp(t, { clock })
  const two = await startApp(t, { beside: one, clock })
  const server = await startMailServer(t)
  const tenant = await createTenant(one)
  await redeemMailed(tenant, { times: 100 })
  const instances = [one, two, one, two].map((app) => withMailer(app, server.url))
  const sent = await Promise.all(instances.map(sendDueMails))
  t.is(
    sent.reduce((sum, count) => sum + count),
    100,
  )
  t.is(server.received.length, 100)
  t.is(new Set(server.received.map(({ email }) => email.messageId)).size, 100)
  const mails = await one.database.db.mail.groupBy({ by: ['status', 'attempts'], _count: true })
  t.deepEqual(mails, [{ status: 'sent', attempts: 1, _count: 100 }])
})

const SENDER = fileURLToPath(new URL('fixtures/sender.ts', import.meta.url))

test('what an instance that was killed had in hand is sent by another once its lease has run out', async (t) => {
  const { clock, app, server, sweep, mail, messageIds } = await withWaitingMail(t, { hang: 'message' })
  const args = [`--import=${import.meta.resolve('tsx')}`, SENDER, app.databaseUrl, server.url]
  const child = spawn(process.execPath, args, { stdio: 'inherit' })
  t.teardown(() => child.kill('SIGKILL'))
  while (server.received.length === 0) await new Promise((resolve) => setTimeout(resolve, 20))
  child.kill('SIGKILL')
  await once(child, 'exit')

  server.conduct = {}
  const { nextAttemptAt: leasedUntil, ...taken } = await mail()
  t.like(taken, { status: 'waiting', attempts: 1, lastError: null })
  clock.set(new Date(Date.parse(leasedUntil) - 1))
  t.is(await sweep(), 0)
  clock.set(leasedUntil)
  t.is(await sweep(), 1)
  t.like(await mail(), { status: 'sent', attempts: 2 })
  t.is(new Set(messageIds()).size, 1)
})

test('a mail whose last attempt nobody came back from is given up', async (t) => {
  const { clock, app, sweep, mail } = await withWaitingMail(t)
  await app.database.db.mail.updateMany({ data: { attempts: 10 } })
  t.is(await sweep(), 0)
  t.like(await mail(), { status: 'dead', attempts: 10, lastError: 'the last attempt was cut off' })
  clock.advance(24 * HOUR_MS)
  t.is(await sweep(), 0)
})

test('a sender whose lease has run out does not undo what another has done since', async (t) => {
  const { clock, app, server, sweep, mail } = await withWaitingMail(t, { hang: 'message' })
  const slow = sweep('?socketTimeout=3000')
  await server.visited()
  while (server.received.length === 0) await new Promise((resolve) => setTimeout(resolve, 20))
  clock.set((await mail()).nextAttemptAt)
  const refusing = await startMailServer(t, { refuseMessage: '451 later' })
  t.is(await sendDueMails(withMailer(app, refusing.url)), 0)
  const since = await mail()
  t.like(since, { status: 'waiting', attempts: 2 })
  t.is(await slow, 0)
  t.deepEqual(await mail(), since)
})
