import { randomBytes } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/**
 * A name beside `path` to build something in before it is renamed to `path`: what is there is always whole, and
 * of two processes that build at once the rename decides. The name carries this process's id for `removeLeftovers`.
 */
export const scratchName = (path: string): string =>
  `${path}.new-${process.pid}-${randomBytes(3).toString('hex')}`

/** Removes what processes that were killed while building `path` left beside it. */
export function removeLeftovers(path: string): void {
  const leftover = new RegExp(`^${basename(path).replace(/[^\w-]/g, '\\$&')}\\.new-(\\d+)-[0-9a-f]{6}$`)
  for (const name of readdirSync(dirname(path))) {
    const pid = leftover.exec(name)?.[1]
    if (pid && !isAlive(Number(pid))) rmSync(join(dirname(path), name), { recursive: true, force: true })
  }
}

/** Whether a process of this id exists, whoever owns it. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
