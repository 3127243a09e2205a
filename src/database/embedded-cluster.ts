import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type Account, accountForNewCluster, accountOfCluster, letThrough } from './embedded-account.js'
import { type Binaries, findBinaries } from './embedded-binaries.js'
import { removeLeftovers, scratchName } from './scratch.js'
import { DatabaseStartError } from './start-error.js'

/** Where the database and its binaries go when PostgreSQL's account cannot reach the service's own folders. */
const SYSTEM_FOLDER = '/var/lib/loyalty-business-api'

export const DATABASE_USER = 'loyalty'

/** A PostgreSQL data folder with all that is needed to run it and to log in. */
export interface Cluster {
  /** PostgreSQL's own data folder, without symbolic links in its path. */
  readonly data: string
  /** Folder of the unix socket, closed to other users. */
  readonly run: string
  readonly logFile: string
  readonly password: string
  /** Undefined = the service's own user. */
  readonly account: Account | undefined
  readonly binaries: Binaries
}

/**
 * The cluster below the service's data folder, created at the first call:
 *
 *     <dataDir>/postgres/     a symbolic link to /var/lib/… where PostgreSQL's account cannot enter dataDir
 *       data/                 owned by the account
 *       run/                  owned by the account
 *       password              0600, made with the cluster: one never exists without the other
 *       postgres.log
 *
 * It comes into being by one rename, so two processes that start at once end up with the same one.
 */
export function openCluster(dataDir: string, onCreated: (folder: string, outside: boolean) => void): Cluster {
  try {
    return findCluster(dataDir, onCreated)
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException
    if (code !== 'EACCES' && code !== 'EPERM') throw error
    throw new DatabaseStartError(
      `no permission for ${path ?? dataDir}: start the service as the user who owns the data folder ${dataDir}, or set DATA_DIR to a folder of your own`,
    )
  }
}

function findCluster(dataDir: string, onCreated: (folder: string, outside: boolean) => void): Cluster {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const entry = join(realpathSync(resolve(dataDir)), 'postgres')
  if (!exists(entry)) {
    removeLeftovers(entry)
    const folder = createCluster(entry)
    onCreated(folder, folder !== entry)
  }
  const folder = followed(entry)
  const data = join(folder, 'data')
  const account = accountOfCluster(data)
  if (account && !letThrough(account, dirname(folder)))
    throw new DatabaseStartError(
      `the user ${account.name}, as whom PostgreSQL runs, can no longer enter ${folder}: open the folders above it (\`chmod o+x\`), or move it away and put a symbolic link in its place`,
    )
  const binaries = findBinaries(account, binariesFolder(entry, account))
  const created = readFileSync(join(data, 'PG_VERSION'), 'utf8').trim()
  if (created !== binaries.major)
    throw new DatabaseStartError(
      `the database in ${data} was created by PostgreSQL ${created}, this version brings PostgreSQL ${binaries.major}: dump it with the version that created it and load it into a new data folder`,
    )
  return {
    data,
    run: join(folder, 'run'),
    logFile: join(folder, 'postgres.log'),
    password: readFileSync(join(folder, 'password'), 'utf8').trim(),
    account,
    binaries,
  }
}

/** Returns the folder that the cluster was created in. */
function createCluster(entry: string): string {
  const account = accountForNewCluster(dirname(entry))
  const elsewhere = account !== undefined && !letThrough(account, dirname(entry))
  const folder = elsewhere ? join(SYSTEM_FOLDER, randomBytes(4).toString('hex')) : entry
  const scratch = scratchName(folder)
  try {
    mkdirSync(dirname(folder), { recursive: true, mode: 0o755 })
    initialise(scratch, account, findBinaries(account, binariesFolder(entry, account)))
    renameSync(scratch, folder)
    if (elsewhere) symlinkSync(folder, entry)
  } catch (error) {
    rmSync(scratch, { recursive: true, force: true })
    if (elsewhere) rmSync(folder, { recursive: true, force: true })
    // Another process was quicker: its cluster is the one.
    if (!exists(entry)) throw error
  }
  return followed(entry)
}

const binariesFolder = (entry: string, account: Account | undefined) =>
  account ? SYSTEM_FOLDER : dirname(entry)

function initialise(folder: string, account: Account | undefined, binaries: Binaries): void {
  const [data, run, password] = [join(folder, 'data'), join(folder, 'run'), join(folder, 'password')]
  mkdirSync(folder, { mode: 0o700 })
  for (const each of [data, run]) mkdirSync(each, { mode: 0o700 })
  writeFileSync(password, randomBytes(24).toString('base64url'), { mode: 0o600 })
  const owned = [data, run, password]
  if (account) {
    chownSync(folder, process.getuid!(), account.gid)
    chmodSync(folder, 0o710)
    for (const each of owned) chownSync(each, account.uid, account.gid)
  }
  const initdb = spawnSync(
    binaries.initdb,
    [
      `--pgdata=${data}`,
      `--username=${DATABASE_USER}`,
      `--pwfile=${password}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      // Case mapping for every script and an order that no upgrade of the system's C library can change.
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--locale=C',
    ],
    { ...processOptions(account), encoding: 'utf8' },
  )
  if (initdb.status !== 0)
    throw new DatabaseStartError(
      `creating the embedded database failed: ${(initdb.error?.message ?? initdb.stderr).trim()}`,
    )
  // initdb had to read it as the account; from here on it is the service's.
  if (account) chownSync(password, process.getuid!(), process.getgid!())
}

/** How PostgreSQL's programs are spawned: their account and nothing of the service's environment. */
export const processOptions = (account: Account | undefined) => ({
  ...(account && { uid: account.uid, gid: account.gid }),
  cwd: '/',
  env: { PATH: process.env.PATH ?? '', LC_ALL: 'C', TZ: 'UTC' },
})

const exists = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined

function followed(entry: string): string {
  try {
    return realpathSync(entry)
  } catch {
    throw new DatabaseStartError(
      `${entry} is a symbolic link to a folder that is gone. The database was there: restore it, or delete the link to start with an empty one`,
    )
  }
}
