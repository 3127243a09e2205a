import { Resolver } from 'node:dns/promises'
import type { TcpNetConnectOpts } from 'node:net'
import { type ConnectionOptions, type TLSSocket, connect as tlsConnect } from 'node:tls'

export type DialOptions = ConnectionOptions & TcpNetConnectOpts

/**
 * The way out of the service. Tests lead it to peers of their own on loopback; no setting does, and the rules on
 * addresses hold whatever stands here.
 */
export interface Network {
  /** A resolver of its own for each request: giving a request up cancels its queries and no others. */
  newResolver(): Resolver
  /** Opens a TLS connection; `options.lookup` gives the addresses that were checked. */
  connect(options: DialOptions): TLSSocket
}

/** Of the first try; the second waits twice as long. */
const DNS_TIMEOUT_MS = 700
const DNS_TRIES = 2

export const internet: Network = {
  newResolver: () => new Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES }),
  connect: (options) => tlsConnect(options),
}
