import test from 'ava'
import { sendDueMails } from '../../src/mail/send-due-mails.js'
import { createTenant, startApp } from '../helpers/app.js'
import { startMailServer, withMailer } from '../helpers/mail-server.js'
import { redeemMailed } from '../helpers/mails.js'

type Redemption = Parameters<typeof redeemMailed>[1]

/** The one e-mail that a redemption brings about, as it reaches the customer. */
async function received(
  t: Parameters<typeof startApp>[0],
  {
    business = {},
    assetExpiresAt,
    ...redemption
  }: Redemption & {
    business?: Parameters<typeof createTenant>[1]
    assetExpiresAt?: string
  } = {},
) {
  const [app, server] = await Promise.all([startApp(t), startMailServer(t)])
  await redeemMailed(await createTenant(app, business), redemption)
  if (assetExpiresAt) await app.database.db.redemption.updateMany({ data: { assetExpiresAt } })
  await sendDueMails(withMailer(app, server.url))
  if (server.received.length !== 1) throw new Error(`${server.received.length} messages came`)
  return server.received[0]!
}

test('a code comes with the names of reward and business and the end of its validity, as text and as HTML', async (t) => {
  const { email, recipients } = await received(t, {
    business: { timezone: 'Europe/Berlin' },
    assetExpiresAt: '2026-12-31T22:59:59Z',
  })
  t.deepEqual(recipients, ['ada@example.com'])
  t.like(email.to?.[0], { address: 'ada@example.com' })
  t.like(email.from, { name: 'Corner Café', address: 'loyalty@example.org' })
  t.like(email.replyTo?.[0], { address: 'owner@example.com' })
  t.is(email.subject, 'Your code for Coffee')
  for (const part of [email.text!, email.html!])
    for (const said of ['“Coffee” at Corner Café', 'SESAME-42', '31 December 2026, 23:59 (Europe/Berlin)'])
      t.true(part.includes(said), said)
})

test('a link can be followed', async (t) => {
  const link = `https://shop.example/x?a=1&b="2"&long=${'é'.repeat(400)}`
  const { email } = await received(t, { reward: { digital_asset_type: 'link', digital_asset_value: link } })
  t.is(email.subject, 'Your link for Coffee')
  t.true(email.text!.split(/\r?\n/).includes(link))
  const href = link.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
  t.true(email.html!.includes(`<a href="${href}">${href}</a>`))
  t.false(email.text!.includes('Valid until'))
})

for (const [kind, value] of Object.entries({
  'with dots and spaces': '.  ..A  B.',
  'that looks like HTML': '<b>&amp;</b>',
  'that looks like an encoded word': '=?utf-8?Q?=41?= =41',
  'of other alphabets': '码🎁Ω'.repeat(100),
  'of 500 characters': 'x'.repeat(500),
}))
  test(`a code ${kind} arrives as it is`, async (t) => {
    const { email } = await received(t, { reward: { digital_asset_value: value } })
    t.true(email.text!.split(/\r?\n/).includes(value))
    const escaped = value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
    t.true(email.html!.includes(`>${escaped}<`))
  })

test('names of any alphabet arrive as they are', async (t) => {
  const { email } = await received(t, {
    business: { name: 'Zażółć 喫茶店 "☕"' },
    reward: { name: 'Ein Stück <Käse>kuchen 🍰' },
  })
  t.is(email.from?.name, 'Zażółć 喫茶店 "☕"')
  t.is(email.subject, 'Your code for Ein Stück <Käse>kuchen 🍰')
  t.true(email.html!.includes('Ein Stück &lt;Käse&gt;kuchen 🍰'))
})

test('a name adds no header, no recipient and no line', async (t) => {
  const evil = 'Free\r\nBcc: eve@example.net\r\n\r\n<x>\u2028\u0001, "eve" <eve@example.net>'
  const plain = await received(t)
  const { email, recipients } = await received(t, { business: { name: evil }, reward: { name: evil } })
  const names = (message: typeof email) => message.headers.map(({ key }) => key)
  t.deepEqual(names(email), names(plain.email))
  t.deepEqual(recipients, ['ada@example.com'])
  t.is(email.to?.length, 1)
  const harmless = 'Free Bcc: eve@example.net <x> , "eve" <eve@example.net>'
  t.like(email.from, { name: harmless, address: 'loyalty@example.org' })
  t.is(email.subject, `Your code for ${harmless}`)
  t.is(email.text!.trim().split(/\r?\n/).length, plain.email.text!.trim().split(/\r?\n/).length)
})

test('an address of another alphabet is written to', async (t) => {
  const { raw, recipients } = await received(t, { customer: { email: 'ada@bücher.example' } })
  t.deepEqual(recipients, ['ada@bücher.example'])
  t.regex(raw, /^To: ada@xn--bcher-kva\.example\r$/m)
})
