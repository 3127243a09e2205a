import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseStartError } from './start-error.js'

/** The system user that PostgreSQL runs as, where that is not the service's own. */
export interface Account {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

const CANDIDATES = ['postgres', 'nobody', 'daemon']

export const runsAsRoot = (): boolean => process.getuid?.() === 0

/**
 * PostgreSQL refuses to run as root; there it gets the account that owns the data folder (a mounted volume) or else
 * one that is made for such things. None is created.
 */
export function accountForNewCluster(dataDir: string): Account | undefined {
  if (!runsAsRoot()) return undefined
  const { uid, gid } = statSync(dataDir)
  if (uid !== 0) return { name: nameOf(uid), uid, gid }
  const accounts = knownAccounts()
  for (const name of CANDIDATES) {
    const account = accounts.find((each) => each.name === name && each.uid !== 0)
    if (account) return account
  }
  throw new DatabaseStartError(
    `PostgreSQL does not run as root and none of the system users ${CANDIDATES.join(', ')} exists: start the service as an ordinary user, or set DATABASE_URL`,
  )
}

/** A cluster's files belong to the account that has to run it; throws if that is neither ours nor ours to choose. */
export function accountOfCluster(dataFolder: string): Account | undefined {
  const { uid, gid } = statSync(dataFolder)
  if (!process.getuid || uid === process.getuid()) {
    if (uid === 0 && runsAsRoot())
      throw new DatabaseStartError(
        `${dataFolder} belongs to root, as whom PostgreSQL does not run: give it back with \`chown -R postgres ${dataFolder}\``,
      )
    return undefined
  }
  if (runsAsRoot()) return { name: nameOf(uid), uid, gid }
  throw new DatabaseStartError(
    `the embedded database in ${dataFolder} belongs to ${nameOf(uid)}: start the service as that user (or as root, if it was created by root)`,
  )
}

/** Whether the account may enter the folder, asked of the system itself (modes, ACLs, every folder above). */
export function canEnter(account: Account, folder: string): boolean {
  const { uid, gid } = account
  return (
    spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { uid, gid, cwd: '/', stdio: 'ignore' }).status ===
    0
  )
}

/**
 * Lets the account pass through a folder of ours without letting it list the folder. False where a folder above
 * is closed to it or this one is somebody else's: those are not ours to open.
 */
export function letThrough(account: Account, folder: string): boolean {
  if (canEnter(account, folder)) return true
  const { uid, mode } = statSync(folder)
  if (uid !== 0 || !canEnter(account, dirname(folder))) return false
  chownSync(folder, uid, account.gid)
  chmodSync(folder, (mode & 0o777) | 0o010)
  return canEnter(account, folder)
}

const nameOf = (uid: number): string => knownAccounts().find((each) => each.uid === uid)?.name ?? `uid ${uid}`

function knownAccounts(): Account[] {
  return readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .filter((fields) => fields.length >= 4)
    .map(([name, , uid, gid]) => ({ name: name!, uid: Number(uid), gid: Number(gid) }))
}
