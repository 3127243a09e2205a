import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { replayAndDiff } from './replay.js'

/**
 * `npm run migrate:new -- <name>`: writes prisma/migrations/<time>_<name>/migration.sql with what schema.prisma has
 * beyond the migrations. `--empty` makes one for hand-written SQL alone.
 */
const FOLDER = 'prisma/migrations'
const [name, ...flags] = process.argv.slice(2)

if (!name || !/^[a-z0-9_]{1,100}$/.test(name)) {
  console.error('usage: npm run migrate:new -- <name of lower-case letters, digits and _> [--empty]')
  process.exit(2)
}
if (!existsSync(FOLDER)) {
  mkdirSync(FOLDER, { recursive: true })
  // Prisma's CLI looks at this file.
  writeFileSync(`${FOLDER}/migration_lock.toml`, 'provider = "postgresql"\n')
}
const script = await replayAndDiff()
if (script || flags.includes('--empty')) {
  const time = new Date().toISOString().replace(/\D/g, '').slice(0, 14)
  const folder = `${FOLDER}/${time}_${name}`
  mkdirSync(folder)
  writeFileSync(`${folder}/migration.sql`, script)
  console.log(`Wrote ${folder}/migration.sql. Read it: renamed columns come as DROP and ADD.`)
  console.log('CHECK constraints and partial indexes are added to it by hand; then `npm run catalog:update`.')
} else console.log('Nothing to do: prisma/schema.prisma and prisma/migrations say the same.')
