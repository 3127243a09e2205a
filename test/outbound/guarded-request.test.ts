import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { createServer as createTcpServer } from 'node:net'
import type { TLSSocket } from 'node:tls'
import test, { type ExecutionContext } from 'ava'
import { PRIVATE_ADDRESSES } from '../helpers/addresses.js'
import {
  certificateFor,
  listen,
  loopbackNetwork,
  startInternet,
  type TestInternet,
} from '../helpers/internet.js'

import { call, HOST, withPeer, withTcpPeer } from './peers.js'

/*
 * Seen failing with its guard taken out: the check of every address (none, `some` for `every`), the pinned lookup (a
 * second question to the name server), the rules on the URL's text and length, `rejectUnauthorized`, the server name
 * without its final dot, the default port, `Accept-Encoding`.
 */

test('the request arrives as it was given, once, on a connection of its own, asking for no compression', async (t) => {
  const requests: unknown[] = []
  const { network, dialled, seen } = await withPeer(t, async (request, response) => {
    const chunks = await request.toArray()
    const { host, connection, 'accept-encoding': encoding, 'x-service-event': event } = request.headers
    requests.push([
      request.method,
      request.url,
      host,
      connection,
      encoding,
      event,
      Buffer.concat(chunks).toString(),
    ])
    response.writeHead(201, { 'Content-Type': 'application/json' }).end('{"type":"code"}')
  })
  const outcome = await call(network, {
    url: `https://${HOST}/provision?shop=1`,
    headers: { 'X-Service-Event': 'reward.provision' },
    body: '{"event":"reward.provision"}',
  })
  t.like(outcome, { answered: true, ok: true, status: 201 })
  t.is(outcome.answered && outcome.body.toString(), '{"type":"code"}')
  t.deepEqual(requests, [
    [
      'POST',
      '/provision?shop=1',
      HOST,
      'close',
      'identity',
      'reward.provision',
      '{"event":"reward.provision"}',
    ],
  ])
  await call(network)
  t.is(seen.requests, 2)
  t.is(dialled.length, 2)
})

test('any port, a name with a final dot, and a public address in place of a name are called', async (t) => {
  const { network, serve, dialled } = await withPeer(t, ({ socket }, response) =>
    response.end((socket as TLSSocket & { servername: string }).servername),
  )
  const hello: RequestListener = (request, response) => response.end(request.headers.host)
  await serve('93.184.215.99', hello)
  await serve('2606:4700:4700::1111', hello)
  const bodies = []
  for (const url of [
    `https://${HOST}:8443/`,
    `https://${HOST}./`,
    'https://93.184.215.99/',
    'https://[2606:4700:4700::1111]:444/',
  ]) {
    const outcome = await call(network, { url, method: 'GET' })
    bodies.push(outcome.answered && outcome.body.toString())
  }
  t.deepEqual(bodies, [HOST, HOST, '93.184.215.99', '[2606:4700:4700::1111]:444'])
  t.deepEqual(dialled, [
    '93.184.215.1:8443',
    '93.184.215.1:443',
    '93.184.215.99:443',
    '[2606:4700:4700::1111]:444',
  ])
})

test('a host whose name leads to any address that is not public is refused and no socket is opened', async (t) => {
  const { network, names, dialled, seen } = await withPeer(t, (_request, response) => response.end())
  const publicAddress = names.get(HOST)![0]!
  const answers = Object.values(PRIVATE_ADDRESSES)
    .flat()
    .filter((address) => !address.includes('%'))
    .map((address) => [address])
  answers.push([publicAddress, '10.0.0.1'], ['10.0.0.1', publicAddress], [publicAddress, 'fd00::1'])
  for (const addresses of answers) {
    names.set(HOST, addresses)
    t.like(
      await call(network),
      { answered: false, reason: 'address_not_public', status: null },
      `${addresses}`,
    )
  }
  t.deepEqual(dialled, [])
  t.is(seen.requests, 0)
})

test('what is dialled is the address that was checked, also when the name has turned private since', async (t) => {
  const { network, names, dialled } = await withPeer(t, (_request, response) => response.end('still here'))
  const checked = names.get(HOST)![0]!
  const outcome = await call({
    ...network,
    connect(options) {
      names.set(HOST, ['169.254.169.254'])
      return network.connect(options)
    },
  })
  t.like(outcome, { answered: true, status: 200 })
  t.deepEqual(dialled, [`${checked}:443`])
  t.like(await call(network), { reason: 'address_not_public' })
})

for (const url of [
  `http://${HOST}/`,
  `https://user:secret@${HOST}/`,
  `https://@${HOST}/`,
  'https://localhost/',
  'https://intranet/',
  'https://printer.local/',
  'https://metadata.google.internal/',
  'https://router.home.arpa/',
  'https://127.0.0.1/',
  'https://2130706433/',
  'https://[::127.0.0.1]/',
  'https://[::ffff:10.0.0.1]/',
  `https://${HOST}/${'a'.repeat(500)}`,
  'not a url',
])
  test(`a URL that breaks the rules is refused and no socket is opened: ${url.slice(0, 50)}`, async (t) => {
    const { network, dialled } = await startInternet(t)
    t.like(await call(network, { url }), { answered: false, reason: 'url_not_allowed', status: null })
    t.deepEqual(dialled, [])
  })

test('a name that does not exist, or has no address, is refused and no socket is opened', async (t) => {
  const { network, names, dialled } = await startInternet(t)
  t.like(await call(network), { answered: false, reason: 'dns_failed' })
  names.set(HOST, [])
  t.like(await call(network), { answered: false, reason: 'dns_failed' })
  t.deepEqual(dialled, [])
})

test('a name server that is silent is given up within the deadline', async (t) => {
  const { network, silent, dialled } = await startInternet(t)
  silent.add(`A ${HOST}`).add(`AAAA ${HOST}`)
  t.like(await call(network), { answered: false, reason: 'dns_failed' })
  t.deepEqual(dialled, [])
})

test('a name server that is silent about one family does not stop the other', async (t) => {
  const { network, silent } = await withPeer(t, (_request, response) => response.end())
  silent.add(`AAAA ${HOST}`)
  t.like(await call(network), { answered: true, status: 200 })
})

test('no proxy of the environment is used', async (t) => {
  let proxied = 0
  const port = await listen(
    t,
    createTcpServer(() => proxied++),
  )
  for (const name of ['HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'HTTP_PROXY'])
    process.env[name] = `http://127.0.0.1:${port}`
  const { network } = await withPeer(t, (_request, response) => response.end())
  t.like(await call(network), { answered: true, status: 200 })
  t.is(proxied, 0)
})

async function withCertificate(
  t: ExecutionContext,
  pair: { key: string; cert: string },
): Promise<TestInternet> {
  const internet = await startInternet(t)
  await internet.join(
    HOST,
    createHttpsServer(pair, (_request, response) => {
      t.fail('a request was sent')
      response.end()
    }),
  )
  return internet
}

const badCertificates: Record<string, () => Promise<{ key: string; cert: string }>> = {
  'for another host': () => certificateFor('other.example.com'),
  'for the address instead of the name': () => certificateFor('93.184.215.1'),
  expired: () => certificateFor(HOST, new Date(Date.now() - 86_400_000)),
}
for (const [what, certificate] of Object.entries(badCertificates))
  test(`nothing is sent to a server whose certificate is ${what}`, async (t) => {
    const { network } = await withCertificate(t, await certificate())
    t.like(await call(network), { answered: false, reason: 'tls_failed', status: null })
  })

test('nothing is sent to a server that nobody trusted vouches for, whatever the environment says', async (t) => {
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  t.teardown(() => {
    delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
  })
  const { map } = await withCertificate(t, await certificateFor(HOST))
  const { cert: authority } = await certificateFor('stranger.example.com')
  t.like(await call(loopbackNetwork({ ...map, authority })), {
    answered: false,
    reason: 'tls_failed',
    status: null,
  })
})

test('nothing is sent to a server that does not speak TLS', async (t) => {
  const internet = await startInternet(t)
  await internet.join(
    HOST,
    createHttpServer(() => t.fail('a request was sent')),
  )
  t.like(await call(internet.network), { answered: false, reason: 'tls_failed', status: null })
})

test('a connection that is refused, or reset before TLS, is one attempt and no answer', async (t) => {
  const { network, names, dialled } = await startInternet(t)
  names.set(HOST, ['93.184.215.77'])
  t.like(await call(network), { answered: false, reason: 'connection_failed', status: null })
  t.is(dialled.length, 1)

  const resetting = await withTcpPeer(t, (socket) => socket.resetAndDestroy())
  const outcome = await call(resetting.network)
  t.like(outcome, { answered: false, status: null })
  t.true(!outcome.answered && ['connection_failed', 'tls_failed'].includes(outcome.reason))
  t.is(resetting.seen.connections, 1)
})
