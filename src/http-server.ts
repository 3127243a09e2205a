import { once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { OperatorError } from './operator-error.js'

export interface HttpServer {
  /** As people reach it: `http://127.0.0.1:3000`. */
  readonly url: string
  /**
   * Takes no new connections, lets requests in flight finish and closes connections that are idle. What is still
   * running `seconds` later is cut off; returns how many requests that were.
   */
  drain(seconds: number): Promise<number>
}

const QUEUED_MS = 100
const CHECK_EVERY_MS = 20

/** Listens; throws OperatorError where the address cannot be had. */
export async function listen(
  handle: RequestListener,
  { host, port }: { host: string; port: number },
): Promise<HttpServer> {
  const inFlight = new Set<ServerResponse>()
  let draining = false
  const server = createServer((request, response) => {
    inFlight.add(response)
    response.once('close', () => inFlight.delete(response))
    if (draining) endConnectionAfter(response)
    return handle(request, response)
  })
  server.listen({ host, port })
  try {
    await once(server, 'listening')
  } catch (error) {
    throw explained(error as NodeJS.ErrnoException, host, port)
  }

  return {
    url: urlOf(server.address() as AddressInfo),
    async drain(seconds) {
      draining = true
      for (const response of inFlight) endConnectionAfter(response)
      // What was sent before may still wait in the system's queue; closing now would reset it.
      await sleep(QUEUED_MS)
      const closed = once(server, 'close')
      server.close()
      const deadline = Date.now() + seconds * 1000
      while (inFlight.size > 0 && Date.now() < deadline) await sleep(CHECK_EVERY_MS)
      const cut = inFlight.size
      // Keep-alive connections without a request among them.
      server.closeAllConnections()
      await closed
      return cut
    },
  }
}

/** Tells the client to send its next request elsewhere. */
function endConnectionAfter(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close')
}

function explained(error: NodeJS.ErrnoException, host: string, port: number): Error {
  if (error.code === 'EADDRINUSE')
    return new OperatorError(
      `port ${port} of ${host} is in use: stop the program that listens there, or set PORT to another one`,
    )
  if (error.code === 'EACCES')
    return new OperatorError(`no permission to listen on port ${port} of ${host}: set PORT to one above 1023`)
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')
    return new OperatorError(`${host} is no address of this machine: set HOST to one`)
  return error
}

/** How a browser on this machine reaches an address that is listened on. */
export function urlOf({ address, family, port }: AddressInfo): string {
  const everywhere = address === '0.0.0.0' || address === '::'
  const host = everywhere ? 'localhost' : family === 'IPv6' ? `[${address}]` : address
  return `http://${host}:${port}`
}
