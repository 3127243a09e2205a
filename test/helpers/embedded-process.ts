import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdtempSync, readFileSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { ExecutionContext } from 'ava'
import pg from 'pg'
import type { Account } from '../../src/database/embedded-account.js'
import { isAlive } from '../../src/database/scratch.js'
import { clearUpLater } from './watchdog.js'

/** What test/database/fixtures/service.ts reports first. */
export interface Report {
  readonly url?: string
  readonly adopted?: boolean
  readonly refused?: string
  readonly message?: string
}

export interface ServiceProcess {
  readonly pid: number
  /** Resolves when the database is up, or when the process has said why not. */
  readonly report: Promise<Report>
  /** The next line after the report. */
  next(): Promise<Record<string, unknown>>
  /** Sends the signal and resolves with the exit code when the process is gone. */
  end(signal: NodeJS.Signals): Promise<number | null>
}

interface LaunchOptions {
  readonly account?: Account | undefined
  /** Another checkout to run it from. */
  readonly checkout?: string
  /** As a terminal would: the leader of a process group of its own. */
  readonly group?: boolean
}

const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url))

/** Starts a process that uses the embedded database; it ends with the test at the latest. */
export function launch(
  t: ExecutionContext,
  role: 'owner' | 'guest',
  dataDir: string,
  { account, checkout = CHECKOUT, group = false }: LaunchOptions = {},
): ServiceProcess {
  const fixture = join(checkout, 'test/database/fixtures/service.ts')
  const child: ChildProcess = spawn(
    process.execPath,
    [`--import=${import.meta.resolve('tsx')}`, fixture, role, dataDir],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
      detached: group,
      cwd: '/',
      ...(account && { uid: account.uid, gid: account.gid }),
    },
  )
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]()
  const next = async () => {
    const line = await lines.next()
    if (line.done) throw new Error('the process ended without a report')
    return JSON.parse(line.value) as Record<string, unknown>
  }
  const firstReport = async (): Promise<Report> => {
    // What it logs before is of no interest here.
    for (;;) {
      const line = await next()
      if (line.url || line.refused) return line
    }
  }
  const exited = once(child, 'exit').then(([code]) => code as number | null)
  t.teardown(() => (child.exitCode === null && child.signalCode === null ? child.kill('SIGKILL') : true))
  return {
    pid: child.pid!,
    report: firstReport(),
    next,
    async end(signal) {
      process.kill(group ? -child.pid! : child.pid!, signal)
      return exited
    },
  }
}

interface FolderOptions {
  /** Who owns the folder around it; by default we do and everybody may enter. */
  readonly owner?: Account
  /** Of the data folder. */
  readonly name?: string
}

/** A path for a data folder; the server in it is stopped and all of it removed at the test's end. */
export function temporaryDataDir(t: ExecutionContext, { owner, name = 'data' }: FolderOptions = {}): string {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'loyalty-embedded-'))
  if (owner) chownSync(folder, owner.uid, owner.gid)
  else chmodSync(folder, 0o755)
  const dataDir = join(folder, name)
  t.teardown(clearUpLater(dataDir, folder))
  return dataDir
}

/** PostgreSQL's own folder, wherever it was put. */
export function dataFolder(dataDir: string): string | undefined {
  try {
    return realpathSync(join(dataDir, 'postgres/data'))
  } catch {
    return undefined
  }
}

/** The process id in postmaster.pid; undefined when the server has stopped in good order. */
export function serverPid(dataDir: string): number | undefined {
  try {
    return Number(readFileSync(join(dataFolder(dataDir) ?? '', 'postmaster.pid'), 'utf8').split('\n')[0])
  } catch {
    return undefined
  }
}

export async function killServer(dataDir: string, signal: NodeJS.Signals = 'SIGQUIT'): Promise<void> {
  const pid = serverPid(dataDir)
  if (!pid || !isAlive(pid)) return
  process.kill(pid, signal)
  while (isAlive(pid)) await sleep(20)
}

/** The first column of the first row; the connection is opened for it and closed again. */
export async function ask(url: string, sql: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    const result = await client.query({ text: sql, rowMode: 'array' })
    return result.rows[0]?.[0]
  } finally {
    await client.end().catch(() => {})
  }
}
