import test from 'ava'
import fc from 'fast-check'
import { audit } from '../../src/audit/audit.js'
import type { BodyMapping } from '../../src/rest/body.js'
import { createTenant } from '../helpers/app.js'
import { sampleFor, send } from './samples.js'
import { flawsOf, rows, startContractApp } from './table.js'
import { thingsFor } from './things.js'

const odd = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, 0, -0, 1, -1, 1.5, 2 ** 31, 2 ** 53, -(2 ** 63), 1e308),
  fc.constantFrom(
    '',
    ' ',
    'a\0b',
    '\ud800',
    '🦄',
    "';--",
    '%',
    'x'.repeat(6000),
    '1',
    '-1',
    '1e9',
    'null',
    'NaN',
  ),
  fc.constantFrom(
    '2026-02-30',
    '2026-02-28',
    '0000-00-00',
    '2026-01-01T00:00:00Z',
    '+275760-09-13T00:00:00Z',
  ),
  fc.constantFrom(
    'https://shop.example/x',
    'https://[::1]/',
    'http://a',
    '12.345',
    '99999999999',
    '0.0000001',
  ),
  fc.constantFrom(
    'static',
    'pool',
    'external',
    'digital',
    'shipping',
    'code',
    'link',
    'limit',
    'once',
    'days',
  ),
  fc.uuid(),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom<unknown>([], {}, [null], [[]], [{}], { a: 1 }),
)

/** Some of the fields of a body, with whatever value. */
const fieldsOf = (mapping: BodyMapping, depth: number): fc.Arbitrary<Record<string, unknown>> =>
  fc.record(
    Object.fromEntries(
      [...mapping].map(([name, { nested, isList }]) => {
        if (!nested || depth === 0) return [name, fc.oneof(odd, fc.array(odd, { maxLength: 3 }))]
        const inside = fieldsOf(nested, depth - 1)
        return [name, fc.oneof(odd, isList ? fc.array(inside, { maxLength: 3 }) : inside)]
      }),
    ),
    { requiredKeys: [] },
  )

/** A body: any JSON, any values in the row's own fields, or the sample's with one or two fields changed. */
function bodyFor(mapping: BodyMapping, sample: Record<string, unknown>): fc.Arbitrary<unknown> {
  const fields = fieldsOf(mapping, 2)
  const few = fields.chain((given) => {
    const entries = Object.entries(given)
    return fc.subarray(entries, { maxLength: Math.min(2, entries.length) })
  })
  return fc.oneof(
    { weight: 1, arbitrary: fc.jsonValue() },
    { weight: 2, arbitrary: fields },
    { weight: 5, arbitrary: few.map((some) => ({ ...sample, ...Object.fromEntries(some) })) },
  )
}

test('no body makes a route fail, nor its answer lose its form, nor what it wrote lose its balance', async (t) => {
  const app = await startContractApp(t)
  const tenant = await createTenant(app)
  const things = thingsFor(tenant)
  const withBody = rows.filter(({ body }) => body)
  t.true(withBody.length > 0)
  const seed = Date.now()
  for (const [index, row] of withBody.entries()) {
    const { request, body: sample = {} } = sampleFor(row, await things(row))
    for (const body of fc.sample(bodyFor(row.body!, sample), { numRuns: 25, seed: seed + index })) {
      const answer = await send(tenant.rest, { request, body: JSON.stringify(body) as never })
      const about = `seed ${seed}: ${row.name} ${JSON.stringify(body)} → ${answer.text}`
      t.true(answer.status < 500 || answer.status === 502, about)
      t.deepEqual(flawsOf(answer), [], about)
    }
  }
  const { checks } = await audit(app.database)
  t.deepEqual(
    checks.filter(({ broken }) => broken > 0),
    [],
    `seed ${seed}`,
  )
})
