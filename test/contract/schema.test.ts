import { readFileSync } from 'node:fs'
import test from 'ava'
import { printSchema } from 'graphql'
import { schema } from '../../src/graphql/schema.js'

test('schema.graphql is the graph as it is served (npm run schema:print)', (t) => {
  const written = readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8')
  t.is(written, `${printSchema(schema)}\n`)
})
