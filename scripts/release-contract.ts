import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'

/**
 * `npm run contract:release`: makes today's contract the one that later changes are compared with
 * (test/contract/breaking.test.ts). Part of a release.
 */

const FOLDER = 'test/contract/released'

const STATUS = /^\d{3}$/

/** Without words, examples and refusals, which break nobody. */
function comparable(key: string, value: unknown): unknown {
  if (key === 'example' || ((key === 'description' || key === 'summary') && typeof value === 'string'))
    return undefined
  if (key !== 'responses') return value
  const entries = Object.entries(value as object)
  return entries.every(([status]) => STATUS.test(status))
    ? Object.fromEntries(entries.filter(([status]) => status.startsWith('2')))
    : value
}

mkdirSync(FOLDER, { recursive: true })
const document = JSON.parse(readFileSync('openapi.json', 'utf8')) as unknown
writeFileSync(`${FOLDER}/openapi.json`, `${JSON.stringify(document, comparable)}\n`)
writeFileSync(`${FOLDER}/schema.graphql`, readFileSync('schema.graphql'))
