import { writeFileSync } from 'node:fs'
import { printSchema } from 'graphql'
import { schema } from '../src/graphql/schema.js'

/** `npm run schema:print`: writes schema.graphql, which test/contract/schema.test.ts holds to the code. */
writeFileSync('schema.graphql', `${printSchema(schema)}\n`)
