import type { RequestListener } from 'node:http'
import { createServer as createTcpServer, type Socket } from 'node:net'
import { createServer as createTlsServer, type TLSSocket } from 'node:tls'
import type { ExecutionContext } from 'ava'
import { guardedRequest, type OutboundRequest } from '../../src/outbound/guarded-request.js'
import type { Network } from '../../src/outbound/network.js'
import { certificateFor, startInternet } from '../helpers/internet.js'

export const HOST = 'hooks.example.com'
export const CAP_BYTES = 65_536

/** One call, by default a POST to HOST with room for an answer of CAP_BYTES. */
export const call = (network: Network, request: Partial<OutboundRequest> = {}) =>
  guardedRequest(network, {
    method: 'POST',
    url: `https://${HOST}/provision`,
    headers: { 'Content-Type': 'application/json' },
    body: '{}',
    maxBodyBytes: CAP_BYTES,
    ...request,
  })

/** An internet in which HOST answers by `handler`, and how many requests have reached it. */
export async function withPeer(t: ExecutionContext, handler: RequestListener) {
  const internet = await startInternet(t)
  const seen = { requests: 0 }
  await internet.serve(HOST, (request, response) => {
    seen.requests++
    handler(request, response)
  })
  return { ...internet, seen }
}

/** An internet in which HOST speaks TLS and then whatever `speak` writes once a request has come. */
export async function withTlsPeer(t: ExecutionContext, speak: (socket: TLSSocket) => void) {
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
export async function withTcpPeer(t: ExecutionContext, accept: (socket: Socket) => void) {
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
export function drip(socket: Socket, write: () => void): void {
  const timer = setInterval(write, 100)
  socket.once('close', () => clearInterval(timer))
}
