import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import test, { type ExecutionContext } from 'ava'
import type { Network } from '../../src/outbound/network.js'
import { startInternet } from '../helpers/internet.js'
import { CAP_BYTES, call, drip, HOST, withPeer, withTcpPeer, withTlsPeer } from './peers.js'

/*
 * Seen failing with its guard taken out: the deadline's signal (request, name server), the count of the body, the
 * refusal of encodings, the limit of headers, the end of calls that Node gives up silently, the end of the connection
 * after a refusal.
 */

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
    t.true(
      await Promise.race([closed!.then(() => true), delay(3_000, false)]),
      'closed before the deadline does it',
    )
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
