import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { connect } from 'node:net'
import test from 'ava'
import { listen } from '../src/http-server.js'
import { OperatorError } from '../src/operator-error.js'

const anywhere = { host: '127.0.0.1', port: 0 }

test('draining closes idle keep-alive connections instead of waiting for them', async (t) => {
  const server = await listen((_request, response) => void response.end('done'), anywhere)
  const agent = new Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  const [response] = await once(get(server.url, { agent }), 'response')
  const closed = once(response.socket, 'close')
  response.resume()
  await once(response, 'end')
  t.is(await server.drain(60), 0)
  await closed
})

test('requests that were sent before the drain are answered, and their connections end', async (t) => {
  const server = await listen((_request, response) => void response.end('done'), anywhere)
  const port = Number(new URL(server.url).port)
  const sockets = Array.from({ length: 20 }, () => connect(port, '127.0.0.1'))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  for (const socket of sockets) socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  const drained = server.drain(60)
  for (const socket of sockets) {
    const [answer] = await once(socket.setEncoding('utf8'), 'data')
    t.regex(answer, /^HTTP\/1\.1 200 OK\r\nConnection: close\r\n.*done/s)
  }
  t.is(await drained, 0)
  await t.throwsAsync(once(connect(port, '127.0.0.1'), 'connect'), { code: 'ECONNREFUSED' })
})

test('a connection that never sends anything does not hold up the drain', async (t) => {
  const server = await listen((_request, response) => void response.end(), anywhere)
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  await once(socket, 'connect')
  const closed = once(socket, 'close')
  t.is(await server.drain(60), 0)
  await closed
})

test('an address that cannot be had is told to the operator', async (t) => {
  const server = await listen(() => {}, anywhere)
  t.teardown(() => server.drain(0))
  const taken = Number(new URL(server.url).port)
  await t.throwsAsync(
    listen(() => {}, { host: '127.0.0.1', port: taken }),
    {
      instanceOf: OperatorError,
      message: /is in use/,
    },
  )
  await t.throwsAsync(
    listen(() => {}, { host: '192.0.2.1', port: 0 }),
    {
      instanceOf: OperatorError,
      message: /HOST/,
    },
  )
})

test('the url is one that people can open', async (t) => {
  for (const [host, url] of [
    ['0.0.0.0', /^http:\/\/localhost:\d+$/],
    ['127.0.0.1', /^http:\/\/127\.0\.0\.1:\d+$/],
  ] as const) {
    const server = await listen(() => {}, { host, port: 0 })
    t.regex(server.url, url)
    await server.drain(0)
  }
})
