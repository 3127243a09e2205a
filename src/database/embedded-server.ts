import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { type Cluster, DATABASE_USER, processOptions } from './embedded-cluster.js'
import { isAlive } from './scratch.js'
import { DatabaseStartError } from './start-error.js'

/** Where the server listens: `host` is the folder of a unix socket or 127.0.0.1. */
export interface Address {
  readonly host: string
  readonly port: number
}

export interface Server {
  readonly address: Address
  /** It was running already: another process started it, or a service that has been killed since. */
  readonly adopted: boolean
}

export interface ServerOptions {
  /** Where to listen if it has to be started; undefined = a socket, or a free port where that is impossible. */
  readonly address?: Address | undefined
  /** False = no fsync: faster, and a power failure loses the database. For tests only. */
  readonly durable: boolean
}

const run = promisify(execFile)

const SOCKET_PORT = 5432
/** The system's limit is 104 or 108 bytes, a zero byte included. */
const SOCKET_PATH_BYTES_MAX = 100
const LOG_BYTES_MAX = 5_000_000
const POLL_MS = 50
/** The rest of a killed server holds its shared memory for about a second. */
const SHARED_MEMORY_SECONDS_MAX = 10
/** Recovery of a large database after a crash takes its time; a server that is silent for longer is stuck. */
const ANSWER_SECONDS_MAX = 300
const STOP_SECONDS_MAX = 60

/** Sized for a service that shares a small machine with its database. */
const SETTINGS = {
  max_connections: '100',
  shared_buffers: '256MB',
  random_page_cost: '1.1',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Errors of statements reach the client, which logs them without their data; the server logs its own life only.
  log_min_messages: 'log',
  log_checkpoints: 'off',
}
/** For a run of tests: nothing is to be kept, and each of many tests has services of its own. */
const TEST_SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '600',
}

/**
 * Returns the running server of this cluster, after starting it if there is none. Waits for one that is just
 * starting, recovering or stopping, and clears away what a killed one left.
 */
export async function ensureRunning(cluster: Cluster, options: ServerOptions): Promise<Server> {
  const deadline = secondsFromNow(ANSWER_SECONDS_MAX)
  const sharedMemoryDeadline = secondsFromNow(SHARED_MEMORY_SECONDS_MAX)
  while (Date.now() < deadline) {
    const left = readPidFile(cluster)
    if (left) {
      const answer = left.address ? await probe(cluster, left.address) : 'other'
      if (left.address && answer === 'ours') return { address: left.address, adopted: true }
      if (answer === 'wait' || isPostgresOf(cluster, left.pid)) {
        await sleep(POLL_MS)
        continue
      }
    }
    clearStaleLocks(cluster)
    const address = options.address ?? (await freeAddress(cluster))
    const failure = await start(cluster, address, options.durable, deadline)
    if (!failure) return { address, adopted: false }
    const soon =
      /lock file .* already exists/.test(failure) ||
      (/shared memory block .* is still in use/.test(failure) && Date.now() < sharedMemoryDeadline)
    if (soon) {
      await sleep(4 * POLL_MS)
      continue
    }
    throw new DatabaseStartError(`the embedded PostgreSQL does not start (${cluster.logFile}): ${failure}`)
  }
  throw new DatabaseStartError(
    `the embedded PostgreSQL in ${cluster.data} has not answered for ${ANSWER_SECONDS_MAX} seconds; its log is ${cluster.logFile}`,
  )
}

/** Stops the server and resolves when it is gone: open transactions are rolled back, what was committed is kept. */
export async function stopServer(cluster: Cluster): Promise<void> {
  const pid = readPidFile(cluster)?.pid
  for (const mode of ['fast', 'immediate']) {
    const args = ['stop', '-D', cluster.data, '-m', mode, '-w', '-t', String(STOP_SECONDS_MAX), '-s']
    const stopped = await run(cluster.binaries.pgCtl, args, processOptions(cluster.account)).then(
      () => true,
      // Gone, or somebody has started another one since: that is not ours to stop.
      () => readPidFile(cluster)?.pid !== pid,
    )
    if (stopped) return
  }
  throw new Error(`the embedded PostgreSQL in ${cluster.data} does not stop; its log is ${cluster.logFile}`)
}

/** How to log in; the database `postgres` always exists. */
export const connectionTo = (cluster: Cluster, address: Address, database: string) => ({
  host: address.host,
  port: address.port,
  user: DATABASE_USER,
  password: cluster.password,
  database,
})

/** The same as a connection string. */
export function urlOf(cluster: Cluster, { host, port }: Address, database: string): string {
  const login = `${DATABASE_USER}:${cluster.password}`
  return host === cluster.run
    ? `postgres://${login}@/${database}?host=${encodeURIComponent(host)}`
    : `postgres://${login}@${host}:${port}/${database}`
}

/** Undefined = the server started; otherwise what it logged before it gave up. */
async function start(
  cluster: Cluster,
  address: Address,
  durable: boolean,
  deadline: number,
): Promise<string | undefined> {
  const logged = rotateLog(cluster.logFile)
  const log = openSync(cluster.logFile, 'a', 0o600)
  const bySocket = address.host === cluster.run
  const settings = {
    ...SETTINGS,
    ...(durable ? {} : TEST_SETTINGS),
    listen_addresses: bySocket ? '' : address.host,
    unix_socket_directories: bySocket ? cluster.run : '',
    port: String(address.port),
  }
  const child = spawn(
    cluster.binaries.postgres,
    ['-D', cluster.data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    // Detached: Ctrl-C in a terminal signals the whole foreground group, and the service still needs its database
    // to finish what is in flight.
    { ...processOptions(cluster.account), stdio: ['ignore', log, log], detached: true },
  )
  closeSync(log)
  child.unref()
  const exit = exitOf(child)
  while (Date.now() < deadline) {
    if (exit.reason) return readFileSync(cluster.logFile).subarray(logged).toString().trim() || exit.reason
    if (readPidFile(cluster)?.pid === child.pid && (await probe(cluster, address)) === 'ours')
      return undefined
    await sleep(POLL_MS / 2)
  }
  return `no answer within ${ANSWER_SECONDS_MAX} seconds`
}

function exitOf(child: ChildProcess): { reason?: string } {
  const exit: { reason?: string } = {}
  child.once('error', (error) => {
    exit.reason = error.message
  })
  child.once('exit', (code, signal) => {
    exit.reason ??= `it exited with ${code ?? signal}`
  })
  return exit
}

/**
 * `ours`: the server of this very folder; `wait`: one that is starting, recovering or stopping; `other`: nothing
 * answers there, or not with our folder.
 */
async function probe(cluster: Cluster, address: Address): Promise<'ours' | 'wait' | 'other'> {
  const client = new pg.Client({
    ...connectionTo(cluster, address, 'postgres'),
    connectionTimeoutMillis: 5_000,
    query_timeout: 5_000,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query('SHOW data_directory')
    return rows[0].data_directory === cluster.data ? 'ours' : 'other'
  } catch (error) {
    const { code } = error as { code?: string }
    // cannot_connect_now, admin_shutdown, crash_shutdown, too_many_connections
    if (['57P03', '57P01', '57P02', '53300'].includes(code ?? '')) return 'wait'
    if (code === '28P01' && address.host === cluster.run)
      throw new DatabaseStartError(
        `the embedded PostgreSQL in ${cluster.data} refuses the password in the file \`password\` beside that folder: restore the file`,
      )
    return 'other'
  } finally {
    await client.end().catch(() => {})
  }
}

/**
 * What a running server, or one that was killed, wrote: its process and where it listens (undefined while it is
 * still starting).
 */
function readPidFile(cluster: Cluster): { pid: number; address: Address | undefined } | undefined {
  const lines = linesOf(pidFile(cluster))
  const [pid, , , port, socketFolder, listenAddress] = lines
  if (!(Number(pid) > 0)) return undefined
  const host = socketFolder ? cluster.run : listenAddress
  return { pid: Number(pid), address: host ? { host, port: Number(port) } : undefined }
}

/**
 * PostgreSQL clears away the lock files of a process that is gone, but not where the process id has been given to
 * another one since: in a container that takes one restart.
 */
function clearStaleLocks(cluster: Cluster): void {
  for (const file of [pidFile(cluster), join(cluster.run, `.s.PGSQL.${SOCKET_PORT}.lock`)]) {
    const pid = Number(linesOf(file)[0])
    if (pid > 0 && isAlive(pid) && !isPostgresOf(cluster, pid)) rmSync(file, { force: true })
  }
}

const pidFile = (cluster: Cluster): string => join(cluster.data, 'postmaster.pid')

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** Only the command line tells whose a process id is by now. */
function isPostgresOf(cluster: Cluster, pid: number): boolean {
  if (!isAlive(pid)) return false
  if (existsSync('/proc/self/cmdline')) return linesOf(`/proc/${pid}/cmdline`).join().includes(cluster.data)
  const { stdout } = spawnSync('ps', ['-p', String(pid), '-o', 'command='], { encoding: 'utf8' })
  // Without `ps` to ask, better no database than a second server on one folder.
  return stdout?.includes(cluster.data) ?? true
}

/** A unix socket where possible: it is faster than TCP, needs no port and its folder keeps other users out. */
async function freeAddress(cluster: Cluster): Promise<Address> {
  const socket = join(cluster.run, `.s.PGSQL.${SOCKET_PORT}`)
  if (process.platform !== 'win32' && Buffer.byteLength(socket) <= SOCKET_PATH_BYTES_MAX)
    return { host: cluster.run, port: SOCKET_PORT }
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve, reject) => server.once('listening', resolve).once('error', reject))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return { host: '127.0.0.1', port }
}

/** Keeps one older log; returns the length of the current one in bytes. */
function rotateLog(file: string): number {
  const bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  if (bytes <= LOG_BYTES_MAX) return bytes
  renameSync(file, `${file}.1`)
  return 0
}

const secondsFromNow = (seconds: number): number => Date.now() + seconds * 1000
