import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { createServer as createTcpServer, type Socket } from 'node:net'
import { createServer as createTlsServer, type TLSSocket } from 'node:tls'
import { gzipSync } from 'node:zlib'
import test, { type ExecutionContext } from 'ava'
import { guardedRequest, type OutboundRequest } from '../../src/outbound/guarded-request.js'
import type { Network } from '../../src/outbound/network.js'
import { PRIVATE_ADDRESSES } from '../helpers/addresses.js'
import {
  certificateFor,
  listen,
  loopbackNetwork,
  startInternet,
  type TestInternet,
} from '../helpers/internet.js'

const HOST = 'hooks.example.com'
const CAP_BYTES = 65_536

const call = (network: Network, request: Partial<OutboundRequest> = {}) =>
  guardedRequest(network, {
    method: 'POST',
    url: `https://${HOST}/provision`,
    headers: { 'Content-Type': 'application/json' },
    body: '{}',
    maxBodyBytes: CAP_BYTES,
    ...request,
  })

/** An internet in which HOST answers by `handler`, and how many requests have reached it. */
async function withPeer(t: ExecutionContext, handler: RequestListener) {
  const internet = await startInternet(t)
  const seen = { requests: 0 }
  await internet.serve(HOST, (request, response) => {
    seen.requests++
    handler(request, response)
  })
  return { ...internet, seen }
}

/** An internet in which HOST speaks TLS and then whatever `speak` writes once a request has come. */
async function withTlsPeer(t: ExecutionContext, speak: (socket: TLSSocket) => void) {
  const internet = await startInternet(t)
  const seen = { requests: 0 }
  const server = createTlsServer(await certificateFor(HOST), (socket) => {
    socket.on('error', () => {})
    socket.on('data', () => {
      seen.requests++
      speak(socket)
    })
  })
  await internet.join(HOST, server)
  return { ...internet, seen }
}

/** An internet in which HOST takes TCP connections. */
async function withTcpPeer(t: ExecutionContext, accept: (socket: Socket) => void) {
  const internet = await startInternet(t)
  const seen = { connections: 0 }
  await internet.join(
    HOST,
    createTcpServer((socket) => {
      seen.connections++
      accept(socket)
    }),
  )
  return { ...internet, seen }
}

/** Repeats until the socket is gone. */
function drip(socket: Socket, write: () => void): void {
  const timer = setInterval(write, 100)
  socket.once('close', () => clearInterval(timer))
}

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

// Each of these waits for the whole deadline.
const hanging: Record<string, (t: ExecutionContext) => Promise<{ network: Network; status: number | null }>> =
  {
    'a name server that never answers': async (t) => {
      const { network, map, silent } = await startInternet(t)
      silent.add(`A ${HOST}`).add(`AAAA ${HOST}`)
      const newResolver = () => {
        const patient = new Resolver({ timeout: 60_000, tries: 10 })
        patient.setServers([`127.0.0.1:${map.nameServerPort}`])
        return patient
      }
      return { network: { ...network, newResolver }, status: null }
    },
    'a connection that is never accepted': async (t) => {
      const { network } = await withPeer(t, () => {})
      const never: Network['connect'] = (options) => network.connect({ ...options, lookup: () => {} })
      return { network: { ...network, connect: never }, status: null }
    },
    'a TLS handshake that never comes': async (t) => ({ ...(await withTcpPeer(t, () => {})), status: null }),
    'an answer that never begins': async (t) => ({ ...(await withPeer(t, () => {})), status: null }),
    'a header that drips': async (t) => {
      const peer = await withTlsPeer(t, (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n')
        drip(socket, () => socket.write('X-Slow: 1\r\n'))
      })
      return { ...peer, status: null }
    },
    'interim answers without end': async (t) => {
      const peer = await withTlsPeer(t, (socket) =>
        drip(socket, () => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n')),
      )
      return { ...peer, status: null }
    },
    'a body that stops': async (t) => {
      const peer = await withPeer(t, (_request, response) => response.writeHead(200).write('{'))
      return { ...peer, status: 200 }
    },
    'a body that drips': async (t) => {
      const peer = await withPeer(t, (_request, response) => {
        response.writeHead(200)
        drip(response.socket!, () => response.write(' '))
      })
      return { ...peer, status: 200 }
    },
  }
for (const [what, start] of Object.entries(hanging))
  test(`the deadline ends a call to ${what}`, async (t) => {
    const { network, status } = await start(t)
    const outcome = await call(network)
    t.like(outcome, { answered: false, reason: 'timeout', status })
    t.true(outcome.durationMs < 15_000, 'soon after its 5 seconds')
  })

test('a body of exactly the cap is read whole', async (t) => {
  const { network } = await withPeer(t, (_request, response) => response.end(Buffer.alloc(CAP_BYTES, 'x')))
  const outcome = await call(network)
  t.is(outcome.answered && outcome.body.length, CAP_BYTES)
})

const oversized: Record<string, RequestListener> = {
  'announced by its length': (_request, response) => response.end(Buffer.alloc(CAP_BYTES + 1)),
  'in chunks': (_request, response) => {
    response.write(Buffer.alloc(CAP_BYTES))
    response.end('x')
  },
  'until the connection closes': (_request, response) => {
    response.useChunkedEncodingByDefault = false
    response.end(Buffer.alloc(CAP_BYTES + 1))
  },
  'without end': (_request, response) => {
    const pour = () => {
      while (response.write(Buffer.alloc(16_384)));
    }
    response.on('drain', pour)
    pour()
  },
}
for (const [what, handler] of Object.entries(oversized))
  test(`one byte of body past the cap ends the call and the connection: ${what}`, async (t) => {
    let closed: Promise<unknown> | undefined
    const { network, seen } = await withPeer(t, (request, response) => {
      closed = once(request.socket, 'close')
      handler(request, response)
    })
    t.like(await call(network), { answered: false, reason: 'body_too_large', status: 200 })
    await closed
    t.is(seen.requests, 1)
  })

for (const headers of [
  { 'Content-Encoding': 'gzip' },
  { 'Content-Encoding': 'br' },
  { 'Content-Encoding': 'identity, gzip' },
  { 'Transfer-Encoding': 'gzip, chunked' },
])
  test(`an encoded body is refused unread: ${Object.entries(headers)}`, async (t) => {
    let closed: Promise<unknown> | undefined
    const { network } = await withPeer(t, (request, response) => {
      closed = once(request.socket, 'close')
      // There would be more, for whoever goes on reading.
      response.writeHead(200, headers).write(gzipSync('{"type":"code","value":"x"}'))
    })
    t.like(await call(network), { answered: false, reason: 'encoded_body', status: 200 })
    await closed
  })

test('Content-Encoding: identity is no encoding', async (t) => {
  const { network } = await withPeer(t, (_request, response) =>
    response.writeHead(200, { 'Content-Encoding': 'Identity' }).end('plain'),
  )
  t.like(await call(network), { answered: true, ok: true })
})

for (const status of [301, 302, 303, 307, 308])
  test(`a redirect is an answer, not a way: ${status}`, async (t) => {
    const { network, serve, dialled, seen } = await withPeer(t, (_request, response) =>
      response.writeHead(status, { Location: 'https://elsewhere.example.com/' }).end(),
    )
    let led = 0
    await serve('elsewhere.example.com', (_request, response) => {
      led++
      response.end()
    })
    t.like(await call(network), { answered: true, ok: false, status })
    t.is(seen.requests, 1)
    t.is(led, 0)
    t.is(dialled.length, 1)
  })

for (const [status, ok] of [
  [200, true],
  [204, true],
  [299, true],
  [400, false],
  [500, false],
] as const)
  test(`status ${status} is ${ok ? '' : 'not '}ok, and no failure is tried again`, async (t) => {
    const { network, seen } = await withPeer(t, (_request, response) => response.writeHead(status).end())
    const outcome = await call(network)
    t.like(outcome, { answered: true, ok, status })
    t.is(outcome.answered && outcome.body.length, 0)
    t.is(seen.requests, 1)
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

test('15 KB of header pass, 17 KB do not, in one field or many', async (t) => {
  const { network } = await withPeer(t, (request, response) => {
    const [count, size] = request.url!.slice(1).split('x').map(Number) as [number, number]
    for (let n = 0; n < count; n++) response.setHeader(`x-${n}`, 'a'.repeat(size))
    response.end()
  })
  const get = (path: string) => call(network, { url: `https://${HOST}/${path}` })
  t.like(await get('1x15000'), { answered: true, ok: true })
  t.like(await get('1x17000'), { answered: false, reason: 'header_too_large' })
  t.like(await get('170x100'), { answered: false, reason: 'header_too_large' })
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

const brokenAnswers: Record<string, [answer: string, reason: string, status: number | null]> = {
  'nothing at all': ['', 'connection_lost', null],
  'half a header': ['HTTP/1.1 200 OK\r\nContent-Le', 'connection_lost', null],
  'less body than announced': ['HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{', 'connection_lost', 200],
  'chunks without the last': [
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n',
    'connection_lost',
    200,
  ],
  'a chunk of no size': [
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{\r\n',
    'invalid_response',
    200,
  ],
  'another protocol': ['SSH-2.0-OpenSSH_9.6\r\n', 'invalid_response', null],
  'two lengths': [
    'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}',
    'invalid_response',
    null,
  ],
  'a change of protocol': [
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n',
    'invalid_response',
    null,
  ],
}
for (const [what, [answer, reason, status]] of Object.entries(brokenAnswers))
  test(`an answer that breaks off or is none ends the call at once: ${what}`, async (t) => {
    const { network, seen } = await withTlsPeer(t, (socket) => socket.end(answer))
    t.like(await call(network), { answered: false, reason, status })
    t.is(seen.requests, 1)
  })

test('a connection reset in the middle of the body ends the call', async (t) => {
  const { network, seen } = await withTlsPeer(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{', () =>
      setTimeout(() => socket.destroy(), 50),
    )
  })
  t.like(await call(network), { answered: false, reason: 'connection_lost', status: 200 })
  t.is(seen.requests, 1)
})
