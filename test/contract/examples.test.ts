import { writeFileSync } from 'node:fs'
import test from 'ava'
import { EXAMPLES_FILE, type Example, readExamples } from '../../src/openapi/examples.js'
import { createTenant } from '../helpers/app.js'
import { bodyDepartures } from '../helpers/described.js'
import { sampleFor, send } from './samples.js'
import { rows, startContractApp } from './table.js'
import { thingsFor } from './things.js'

/*
 * docs/examples.json has what each route was asked and answered in a run of the contract suite; `npm run
 * examples:record` brings it up to date. An example whose shape is still the same stays as it is.
 */

const known = readExamples()

if (process.env.RECORD_EXAMPLES)
  test('every route is asked for its example', async (t) => {
    const app = await startContractApp(t)
    const tenant = await createTenant(app)
    const things = thingsFor(tenant)
    const examples: Record<string, Example> = {}
    for (const row of rows) {
      const { request, body } = sampleFor(row, await things(row))
      const short = row.query?.limit ? `${request}${request.includes('?') ? '&' : '?'}limit=2` : request
      const answer = await send(tenant.rest, { request: short, body })
      t.is(answer.status, row.status, `${request}: ${answer.text}`)
      const asked: Example = { ...(body && { request: body }), response: answer.body ?? answer.text }
      const kept = known[row.name]
      examples[row.name] = kept && shape(kept) === shape(asked) ? kept : asked
    }
    writeFileSync(EXAMPLES_FILE, `${JSON.stringify(examples, null, 2)}\n`)
  })
else
  test('every route has an example, which is as the document describes (npm run examples:record)', (t) => {
    t.deepEqual(Object.keys(known).sort(), rows.map(({ name }) => name).sort())
    for (const row of rows) t.deepEqual(bodyDepartures(row, known[row.name]!), [], row.name)
  })

/** Names and types of all members; of a list those of its first one. */
function shape(value: unknown): string {
  if (Array.isArray(value)) return `[${value.length === 0 ? '' : shape(value[0])}]`
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value
  return `{${Object.entries(value).map(([name, member]) => `${name}:${shape(member)}`)}}`
}
