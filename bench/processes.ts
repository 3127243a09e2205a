import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, openSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Measured, Order } from './loader.js'
import type { CpuProfile } from './profile.js'
import type { Subject } from './recorded.js'

/** The processes of a run: the service, the reference and the load, each alone. */

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const SERVICE = here('../dist/main.js')
const START_SECONDS_MAX = 30

/** Raised so far that no limit is met; counting against them is part of what is measured. */
const NO_LIMITS = Object.fromEntries(
  ['DEFAULT', 'POINTS', 'BATCHES'].map((scope) => [`RATE_LIMIT_${scope}_PER_MINUTE`, '1000000000']),
)

/** The same for both, so that neither waits for a connection more often than the other. */
const DATABASE_POOL_SIZE = '10'

export interface Measurable {
  port: number
  /** Processor time used since it started, in microseconds, of all threads. */
  cpuMicroseconds(): Promise<number>
  /** Resident memory at its highest, since it was started. */
  peakMemoryBytes(): Promise<number>
  startProfile(): Promise<void>
  stopProfile(): Promise<CpuProfile>
  stop(): Promise<void>
}

export const newSecret = (): string => randomBytes(32).toString('base64url')

/** The service as `npm start` runs it, in production and with its log to a file. */
export async function startService(databaseUrl: string, secret: string, folder: string): Promise<Measurable> {
  if (!existsSync(SERVICE)) throw new Error('the service is not built: npm run build')
  const port = await freePort()
  const logFile = join(folder, 'service.log')
  const log = openSync(logFile, 'w')
  const child = fork(SERVICE, ['serve'], {
    execArgv: [`--import=${here('probe.mjs')}`],
    // Not where a developer's .env lies.
    cwd: folder,
    env: {
      ...NO_LIMITS,
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      LOG_LEVEL: 'info',
      DATABASE_URL: databaseUrl,
      DATABASE_POOL_SIZE,
      SECRET_KEY: secret,
      HOST: '127.0.0.1',
      PORT: String(port),
    },
    stdio: ['ignore', log, log, 'ipc'],
  })
  return started(child, `the service (log: ${logFile})`, port, async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined)
    return answer?.ok === true
  })
}

export async function startReference(databaseUrl: string, subject: Subject): Promise<Measurable> {
  const port = await freePort()
  const child = fork(here('reference.ts'), {
    execArgv: ['--import=tsx', `--import=${here('probe.mjs')}`],
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      DATABASE_URL: databaseUrl,
      DATABASE_POOL_SIZE,
      SUBJECT: JSON.stringify(subject),
      PORT: String(port),
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  let ready = false
  child.on('message', (message) => {
    if (message === 'ready') ready = true
  })
  return started(child, 'the reference', port, async () => ready)
}

async function started(
  child: ChildProcess,
  name: string,
  port: number,
  isReady: () => Promise<boolean>,
): Promise<Measurable> {
  const deadline = Date.now() + START_SECONDS_MAX * 1000
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}`)
    if (Date.now() > deadline) {
      child.kill('SIGKILL')
      throw new Error(`${name} did not start`)
    }
    await sleep(50)
  }
  async function ask<Answer>(question: string): Promise<Answer> {
    child.send(question)
    for (;;) {
      const [message] = (await once(child, 'message')) as [{ question?: string; answer: Answer }]
      if (message.question === question) return message.answer
    }
  }
  return {
    port,
    async cpuMicroseconds() {
      const { user, system } = await ask<NodeJS.CpuUsage>('cpu')
      return user + system
    },
    peakMemoryBytes: async () => 1024 * (await ask<number>('memory')),
    startProfile: () => ask('profile'),
    stopProfile: () => ask('profiled'),
    stop: () => end(child),
  }
}

export interface Loader {
  run(order: Order): Promise<Measured>
  stop(): Promise<void>
}

export function startLoader(): Loader {
  const child = fork(here('loader.ts'), { execArgv: ['--import=tsx'] })
  return {
    async run(order) {
      child.send(order)
      const [{ measured, error }] = (await once(child, 'message')) as [
        { measured?: Measured; error?: string },
      ]
      if (!measured) throw new Error(`${order.workload}: ${error}`)
      return measured
    },
    stop: () => end(child),
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}
