import { randomUUID } from 'node:crypto'
import { link, mkdir, open, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** What we answer with, and what we keep for a key. */
export interface Asset {
  type: 'code' | 'link'
  value: string
  expires_at?: string
}

export interface Store {
  /** The asset of a key: what `mint` makes the first time, the same ever after, also with two requests at once. */
  once(key: string, mint: () => Asset): Promise<Asset>
}

/** One file per key. In a database it would be one row per key, inserted with `ON CONFLICT DO NOTHING`, then read. */
export async function fileStore(folder: string): Promise<Store> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  return {
    async once(key, mint) {
      const file = join(folder, `${key}.json`)
      const kept = await read(file)
      if (kept) return kept
      const scratch = join(folder, `${key}.${randomUUID()}.tmp`)
      try {
        await writeFile(scratch, JSON.stringify(mint()), { mode: 0o600, flush: true })
        // Unlike a rename, a link never replaces: of two requests at once, the second finds what the first has kept.
        await link(scratch, file)
        await flush(folder)
      } catch (error) {
        if (codeOf(error) !== 'EEXIST') throw error
      } finally {
        await rm(scratch, { force: true })
      }
      return (await read(file))!
    },
  }
}

async function read(file: string): Promise<Asset | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Asset
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** The name of a new file outlives a power cut only once its folder is on disk. */
async function flush(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  await handle.sync().finally(() => handle.close())
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code
