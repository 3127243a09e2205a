import { writeFileSync } from 'node:fs'
import { schema } from '../src/graphql/schema.js'
import { openApiDocument } from '../src/openapi/document.js'
import { readExamples } from '../src/openapi/examples.js'
import { compileRoutes } from '../src/rest/compile.js'
import { routes } from '../src/rest/routes.js'

/** `npm run openapi:print`: writes openapi.json, which test/contract/openapi.test.ts holds to the code. */
const document = openApiDocument(schema, compileRoutes(schema, routes), readExamples())
writeFileSync('openapi.json', `${JSON.stringify(document, null, 2)}\n`)
