import test, { type ExecutionContext } from 'ava'
import { InvalidInput } from '../../src/errors.js'
import { assertPublicHttpsUrl } from '../../src/outbound/destination.js'
import { guardedRequest } from '../../src/outbound/guarded-request.js'
import { PRIVATE_ADDRESSES } from '../helpers/addresses.js'
import { startInternet, type TestInternet } from '../helpers/internet.js'

/*
 * Seen failing with its guard taken out: the check of every address, IPv6 answers, the refusal of a name without any.
 */

const HOST = 'hooks.example.com'
const FIELD = 'digitalWebhookUrl'

const save = (internet: TestInternet, url: string) => assertPublicHttpsUrl(internet.network, FIELD, url)

async function refused(
  t: ExecutionContext,
  internet: TestInternet,
  url: string,
  message: string,
): Promise<void> {
  const error = await t.throwsAsync(save(internet, url), { instanceOf: InvalidInput }, url)
  t.deepEqual(error?.issues, [{ path: FIELD, message }], url)
  t.deepEqual(internet.dialled, [])
}

test('a URL whose host is public can be saved; nothing is dialled for it', async (t) => {
  const internet = await startInternet(t)
  internet.names.set(HOST, ['93.184.215.14', '2606:4700:4700::1111'])
  for (const url of [
    `https://${HOST}/a?b=c`,
    `https://${HOST}:8443`,
    'https://93.184.215.14/',
    `HTTPS://${HOST}./`,
  ]) {
    await t.notThrowsAsync(save(internet, url), url)
  }
  t.deepEqual(internet.dialled, [])
})

test('saving refuses, by the name of the field, a host with any address that is not public', async (t) => {
  const internet = await startInternet(t)
  const addresses = Object.values(PRIVATE_ADDRESSES)
    .flat()
    .filter((address) => !address.includes('%'))
  for (const address of addresses)
    for (const answers of [[address], ['93.184.215.14', address]]) {
      internet.names.set(HOST, answers)
      await refused(t, internet, `https://${HOST}/`, 'must lead to a public host')
    }
})

test('saving refuses those addresses in place of a name, however they are spelled', async (t) => {
  const internet = await startInternet(t)
  const literals = Object.values(PRIVATE_ADDRESSES)
    .flat()
    .filter((address) => !address.includes('%'))
    .map((address) => (address.includes(':') ? `[${address}]` : address))
  literals.push(
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '127.1',
    '0',
    '127.0.0.1.',
    '１２７.0.0.1',
    '①27.0.0.1',
    '127。0。0。1',
  )
  for (const host of literals)
    await refused(t, internet, `https://${host}:8443/`, 'must lead to a public host')
})

test('saving refuses names of private networks without asking for them', async (t) => {
  const internet = await startInternet(t)
  for (const host of [
    'localhost',
    'a.localhost',
    'intranet',
    'nas.local',
    'x.internal',
    'x.home.arpa',
    'NAS.LOCAL.',
  ]) {
    internet.names.set(host, ['93.184.215.14'])
    await refused(t, internet, `https://${host}/`, 'must lead to a public host')
  }
})

test('saving refuses other schemes, credentials, and a host that nobody knows', async (t) => {
  const internet = await startInternet(t)
  internet.names.set(HOST, ['93.184.215.14'])
  for (const url of [
    `http://${HOST}/`,
    'ftp://example.com',
    '//example.com',
    `https:\\\\${HOST}`,
    `https:/${HOST}`,
  ])
    await refused(t, internet, url, 'must be an https URL')
  for (const authority of [`user:secret@${HOST}`, `user@${HOST}`, `@${HOST}`, `:@${HOST}`])
    await refused(t, internet, `https://${authority}/`, 'must not contain credentials')
  await refused(t, internet, 'https://unknown.example.com/', 'host name does not resolve')
})

test('a name that turns private after it was saved is refused at the call, and no socket is opened', async (t) => {
  const internet = await startInternet(t)
  const origin = await internet.serve(HOST, (_request, response) => {
    t.fail('a request arrived')
    response.end()
  })
  await save(internet, origin)
  internet.names.set(HOST, ['127.0.0.1'])
  const outcome = await guardedRequest(internet.network, {
    method: 'GET',
    url: origin,
    headers: {},
    maxBodyBytes: 100,
  })
  t.like(outcome, { answered: false, reason: 'address_not_public' })
  t.deepEqual(internet.dialled, [])
})
