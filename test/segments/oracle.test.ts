import assert from 'node:assert/strict'
import test from 'ava'
import fc from 'fast-check'
import { audit } from '../../src/audit/audit.js'
import { unattendedContext } from '../../src/context.js'
import { SegmentInput } from '../../src/segments/segments.input.js'
import { explainSegment, segmentPage } from '../../src/segments/segments.js'
import { startApp, testClock } from '../helpers/app.js'
import { DAY } from '../helpers/wall-clock.js'
import { matches, select } from './oracle.js'
import { anyFilter, makeProgram, NOW, type ProgramPlan } from './program.js'

const PROGRAMS: ProgramPlan[] = [
  {
    timezone: 'Europe/Berlin',
    currency: 'EUR',
    settings: { earn_points_per_unit: '3', usd_rate: '1.083701' },
  },
  {
    timezone: 'Australia/Lord_Howe',
    currency: 'KWD',
    settings: { point_spend_value: '0.000333', usd_rate: '3.25', points_expire_after_days: 90 },
  },
  {
    timezone: 'America/New_York',
    currency: 'JPY',
    settings: { usd_rate: '0.0067', earn_points_per_unit: '0.7' },
  },
]
const FILTERS = 500

for (const [index, plan] of PROGRAMS.entries()) {
  test(`any filter selects from a program in ${plan.timezone} whom plain code over its rows selects, now and in the past`, async (t) => {
    t.timeout(180_000)
    const clock = testClock(NOW)
    const app = await startApp(t, { clock })
    const { tenant, rows } = await makeProgram(app, clock, plan, index + 1)
    const ctx = unattendedContext(
      app,
      { id: tenant.businessId, timezone: plan.timezone },
      { kind: 'operator' },
    )

    const asOf = fc.option(fc.integer({ min: NOW.getTime() - 450 * DAY, max: NOW.getTime() }), { freq: 2 })
    const page = fc.record({ limit: fc.integer({ min: 1, max: 100 }), offset: fc.nat(20) })
    const sizes: number[] = []
    const property = fc.asyncProperty(
      anyFilter,
      asOf,
      page,
      fc.nat(59),
      async (filter, ms, pagination, nth) => {
        const at = ms === null ? NOW : new Date(ms)
        const past = ms !== null
        const input = SegmentInput.parse({ ...filter, pagination })
        const expected = select(rows, filter, at, past)
        sizes.push(expected.length)
        const found = await segmentPage(ctx, { input, asOf: past ? at : null, defaultLimit: 50 })
        const { limit, offset } = pagination
        assert.equal(found.totalCount, expected.length)
        assert.deepEqual(
          found.customers.map(({ id }) => id),
          expected.slice(offset, offset + limit),
        )
        const customer = rows.customers[nth]!
        if (!past || expected.includes(customer.id)) {
          const explained = await explainSegment(ctx, {
            input,
            customer: customer.id,
            asOf: past ? at : null,
          })
          assert.equal(explained.matches, expected.includes(customer.id))
          for (const { field, holds } of explained.conditions)
            assert.equal(holds, matches(rows, customer, onlyField(filter, field), at, past), field)
        }
      },
    )
    await t.notThrowsAsync(fc.assert(property, { numRuns: FILTERS }))
    const { checks } = await audit(app.database)
    t.deepEqual(
      checks.filter(({ broken }) => broken > 0),
      [],
    )
    // Not all of them trivial.
    t.true(sizes.filter((size) => size > 0 && size < rows.customers.length).length > FILTERS / 3)
  })
}

/** The filter's one field; hours and days are judged together. */
const onlyField = (filter: object, field: string) =>
  Object.fromEntries(
    Object.entries(filter).filter(
      ([name]) =>
        name === field ||
        name === 'timezone' ||
        (['hourOfDay', 'dayOfWeek'].includes(field) && ['hourOfDay', 'dayOfWeek'].includes(name)),
    ),
  )
