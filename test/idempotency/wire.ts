import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { ExecutionContext } from 'ava'
import pg from 'pg'

/** A wire between a service and its database on which a test can stop the service at a chosen message. */
export interface Wire {
  /** The database's connection string, through the wire. */
  url: string
  /**
   * Calls `stop` when the database has answered so many messages of the service, counted from now; neither that answer
   * nor anything later gets through. 0 = when the first one is sent, before the database hears of it.
   */
  stopAfter(answers: number, stop: () => void): void
}

export async function startWire(t: ExecutionContext, databaseUrl: string): Promise<Wire> {
  const { host, port, user, password, database } = new pg.Client({ connectionString: databaseUrl })
  const upstreamAddress = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port }
  let answersLeft = Number.POSITIVE_INFINITY
  let stop = () => {}

  function join(service: Socket): void {
    const upstream = connect(upstreamAddress)
    let cut = false
    const cutNow = () => {
      cut = true
      stop()
    }
    service.on('data', (message) => {
      if (answersLeft === 0 && !cut) cutNow()
      if (!cut) upstream.write(message)
    })
    upstream.on('data', (answer) => {
      if (--answersLeft === 0) cutNow()
      if (!cut) service.write(answer)
    })
    for (const [socket, other] of [
      [service, upstream],
      [upstream, service],
    ] as const) {
      socket.on('error', () => {})
      socket.on('close', () => other.destroy())
    }
    t.teardown(() => service.destroy())
  }

  const server = createServer(join).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const login = `${encodeURIComponent(user!)}:${encodeURIComponent(password!)}`
  return {
    url: `postgres://${login}@127.0.0.1:${(server.address() as AddressInfo).port}/${database}`,
    stopAfter(answers, action) {
      answersLeft = answers
      stop = action
    },
  }
}
