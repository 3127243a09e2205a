import { connect, type Socket } from 'node:net'
import { type HttpRequest, type Material, workloads } from './workloads.js'

/**
 * Sends a workload over a number of connections, each of which sends its next request when the last one was
 * answered, and measures. In a process of its own, and light: it shares the machine with what it measures.
 */
export interface Order {
  workload: string
  port: number
  connections: number
  seconds: number
  material: Material
}

export interface Measured {
  requests: number
  seconds: number
  latencyMs: { p50: number; p95: number; p99: number }
  /** Answers by HTTP status. */
  statuses: Record<number, number>
  /** The body of an answer that was not a success, for the message. */
  failure?: string
}

async function measure({ workload, port, connections, seconds, material }: Order): Promise<Measured> {
  const requests = workloads.find(({ name }) => name === workload)!.requests(material)
  const latencies: number[] = []
  const statuses: Record<number, number> = {}
  let failure: string | undefined
  const began = performance.now()
  const end = began + seconds * 1000

  async function client(): Promise<void> {
    const connection = await Connection.open(port)
    try {
      while (performance.now() < end) {
        const next = requests.next()
        if (next.done) return
        const sent = performance.now()
        const { status, body } = await connection.send(bytesOf(next.value, material.apiKey))
        latencies.push(performance.now() - sent)
        statuses[status] = (statuses[status] ?? 0) + 1
        if (status >= 300) failure ??= body()
      }
    } finally {
      connection.close()
    }
  }

  await Promise.all(Array.from({ length: connections }, client))
  const took = (performance.now() - began) / 1000
  const sorted = Float64Array.from(latencies).sort()
  const percentile = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN
  return {
    requests: latencies.length,
    seconds: took,
    latencyMs: { p50: percentile(0.5), p95: percentile(0.95), p99: percentile(0.99) },
    statuses,
    ...(failure === undefined ? {} : { failure }),
  }
}

function bytesOf({ method, path, headers = {}, body }: HttpRequest, apiKey: string): string {
  let head = `${method} /api/v1${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${apiKey}\r\n`
  for (const name in headers) head += `${name}: ${headers[name]}\r\n`
  if (!body) return method === 'POST' ? `${head}Content-Length: 0\r\n\r\n` : `${head}\r\n`
  const json = JSON.stringify(body)
  return `${head}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`
}

interface Reply {
  status: number
  /** Read only where it is asked for. */
  body(): string
}

/** One keep-alive connection; answers must say their length. */
class Connection {
  readonly #socket: Socket
  #received: Buffer = Buffer.alloc(0)
  #resolve: ((reply: Reply) => void) | undefined
  #reject: ((error: Error) => void) | undefined

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true })
      socket.once('error', reject).once('connect', () => resolve(new Connection(socket)))
    })
  }

  constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (bytes) => this.#receive(bytes))
    socket.on('error', (error) => this.#reject?.(error))
    socket.on('close', () => this.#reject?.(new Error('the connection was closed')))
  }

  send(bytes: string): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
      this.#socket.write(bytes)
    })
  }

  close(): void {
    this.#reject = undefined
    this.#socket.destroy()
  }

  #receive(bytes: Buffer): void {
    this.#received = this.#received.length === 0 ? bytes : Buffer.concat([this.#received, bytes])
    const headEnd = this.#received.indexOf('\r\n\r\n')
    if (headEnd === -1) return
    const head = this.#received.toString('latin1', 0, headEnd)
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)
    if (!length) {
      this.#reject?.(new Error(`an answer without its length: ${head}`))
      return
    }
    const end = headEnd + 4 + Number(length[1])
    if (this.#received.length < end) return
    const body = this.#received.subarray(headEnd + 4, end)
    this.#received = this.#received.subarray(end)
    this.#resolve?.({ status: Number(head.slice(9, 12)), body: () => body.toString() })
  }
}

process.on('message', (order: Order) => {
  measure(order).then(
    (measured) => process.send!({ measured }),
    (error: Error) => process.send!({ error: error.message }),
  )
})
