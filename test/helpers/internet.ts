import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, isIP, isIPv6, type LookupFunction, type Server, type Socket } from 'node:net'
import { checkServerIdentity, connect as tlsConnect } from 'node:tls'
import type { ExecutionContext } from 'ava'
import { decode, encode } from 'dns-packet'
import { generate } from 'selfsigned'
import { internet, type Network } from '../../src/outbound/network.js'

/**
 * An internet of a test's own: a name server and peers with real certificates, all of them on loopback. The service
 * sees public names and addresses, and everything it does to reach them is real but for the last step: whichever
 * address it dials, the socket goes to loopback, to the port of the peer that has the name.
 */
export interface TestInternet {
  /** Give it to the code under test in place of the real one. */
  network: Network
  /** Host → addresses, as the name server tells them from now on; a host that is not here does not exist. */
  names: Map<string, string[]>
  /** Questions that the name server leaves unanswered: `AAAA host`. */
  silent: Set<string>
  /** Every address to which a connection was opened, with its port. */
  dialled: string[]
  /** Lets a server on loopback answer for `host`, under a public address where `names` has none. */
  join(host: string, server: Server): Promise<void>
  /** A business's server: HTTPS for `host` with a certificate for it. Returns its origin. */
  serve(host: string, handler: RequestListener): Promise<string>
  /** What `loopbackNetwork` needs to build the same network in another process. */
  map: InternetMap
}

export interface InternetMap {
  nameServerPort: number
  /** The certificate authority of this internet, PEM. */
  authority: string
  /** Host → port on loopback. */
  ports: Record<string, number>
}

/** The real client's own network, led to loopback. */
export function loopbackNetwork(map: InternetMap, dialled: string[] = []): Network {
  return {
    newResolver() {
      const resolver = internet.newResolver()
      resolver.setServers([`127.0.0.1:${map.nameServerPort}`])
      return resolver
    },
    connect(options) {
      const { host, port, lookup } = options
      const note = (address: string) =>
        dialled.push(isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`)
      const toLoopback: LookupFunction = (name, asked, callback) =>
        lookup!(name, { ...asked, all: true }, (error, addresses) => {
          for (const { address } of addresses as { address: string }[]) note(address)
          callback(error, [{ address: '127.0.0.1', family: 4 }])
        })
      if (isIP(host!)) note(host!)
      return tlsConnect({
        ...options,
        ...(isIP(host!) ? { host: '127.0.0.1' } : {}),
        checkServerIdentity: (_loopback, certificate) =>
          checkServerIdentity(options.servername || host!, certificate),
        // Port 1 of loopback refuses.
        port: map.ports[host!.replace(/\.$/, '')] ?? 1,
        lookup: toLoopback,
        ca: map.authority,
      })
    },
  }
}

/** Starts an empty internet; all of it goes when the test ends. */
export async function startInternet(t: Pick<ExecutionContext, 'teardown'>): Promise<TestInternet> {
  const names = new Map<string, string[]>()
  const silent = new Set<string>()
  const dialled: string[] = []
  const { cert } = await certificateAuthority()
  const map: InternetMap = {
    nameServerPort: await startNameServer(t, names, silent),
    authority: cert,
    ports: {},
  }
  let joined = 0

  async function join(host: string, server: Server): Promise<void> {
    map.ports[host] = await listen(t, server)
    if (!names.has(host) && !isIP(host)) names.set(host, [`93.184.215.${++joined}`])
  }
  return {
    network: loopbackNetwork(map, dialled),
    names,
    silent,
    dialled,
    join,
    map,
    async serve(host, handler) {
      await join(host, createHttpsServer(await certificateFor(host), handler))
      return `https://${host}`
    },
  }
}

/** Listens on loopback until the test ends, connections that hang included; the port. */
export async function listen(t: Pick<ExecutionContext, 'teardown'>, server: Server): Promise<number> {
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => open.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    for (const socket of open) socket.destroy()
  })
  return (server.address() as AddressInfo).port
}

async function startNameServer(
  t: Pick<ExecutionContext, 'teardown'>,
  names: ReadonlyMap<string, string[]>,
  silent: ReadonlySet<string>,
): Promise<number> {
  const socket = createSocket('udp4')
  socket.on('message', (bytes, from) => {
    const { id, questions } = decode(bytes)
    const { name, type } = questions![0]!
    if (silent.has(`${type} ${name}`)) return
    const known = names.get(name)
    const answers = (known ?? [])
      .filter((address) => (isIPv6(address) ? 'AAAA' : 'A') === type)
      .map((data) => ({ name, type: type as 'A' | 'AAAA', ttl: 0, data }))
    const NXDOMAIN = 3
    socket.send(
      encode({ type: 'response', id: id!, questions: questions!, answers, flags: known ? 0 : NXDOMAIN }),
      from.port,
    )
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.teardown(() => socket.close())
  return socket.address().port
}

interface KeyPair {
  key: string
  cert: string
}

let authority: Promise<KeyPair> | undefined

/** The authority that the tests of this process trust. */
const certificateAuthority = (): Promise<KeyPair> => {
  authority ??= issue('Test authority', [{ name: 'basicConstraints', cA: true, critical: true }])
  return authority
}

/** A key and a certificate of the test internet's authority, good for `host` and nothing else. */
export async function certificateFor(host: string, notAfterDate?: Date): Promise<KeyPair> {
  const altName = isIP(host) ? { type: 7 as const, ip: host } : { type: 2 as const, value: host }
  return issue(
    host,
    [{ name: 'subjectAltName', altNames: [altName] }],
    await certificateAuthority(),
    notAfterDate,
  )
}

type Extensions = NonNullable<NonNullable<Parameters<typeof generate>[1]>['extensions']>

async function issue(
  commonName: string,
  extensions: Extensions,
  ca?: KeyPair,
  notAfterDate = new Date(Date.now() + 86_400_000),
): Promise<KeyPair> {
  const pems = await generate([{ name: 'commonName', value: commonName }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions,
    notBeforeDate: new Date(notAfterDate.getTime() - 2 * 86_400_000),
    notAfterDate,
    ...(ca ? { ca } : {}),
  })
  return { key: pems.private, cert: pems.cert }
}
