import { readFileSync } from 'node:fs'
import { migrate } from '../../src/database/migrations.js'
import { startTemporaryServer } from '../../test/helpers/server.js'
import { diffToSchema } from './schema-engine.js'

/** Applies prisma/migrations to an empty database and returns the SQL that schema.prisma wants beyond them. */
export async function replayAndDiff(): Promise<string> {
  const url = await startTemporaryServer()
  await migrate(url, { log: { info: () => {} } })
  return diffToSchema(url, readFileSync('prisma/schema.prisma', 'utf8'))
}
