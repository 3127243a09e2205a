import assert from 'node:assert/strict'
import test from 'ava'
import fc from 'fast-check'
import { audit } from '../../src/audit/audit.js'
import { createTenant, startApp } from '../helpers/app.js'
import { createCustomer } from '../helpers/factories.js'

type Step =
  | { kind: 'points'; points: number }
  | { kind: 'amount'; cents: number }
  | { kind: 'redeem'; points: number }
  | { kind: 'reverse'; which: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('points' as const), points: fc.integer({ min: 1, max: 500 }) }),
  fc.record({ kind: fc.constant('amount' as const), cents: fc.integer({ min: 0, max: 60_000 }) }),
  fc.record({ kind: fc.constant('redeem' as const), points: fc.integer({ min: 1, max: 700 }) }),
  fc.record({ kind: fc.constant('reverse' as const), which: fc.nat(20) }),
)

/** The ledger as a person would keep it on paper: rows, and a balance that is never written down. */
interface Paper {
  rows: { id: string; points: number; reversed: boolean }[]
  taken: number
}
const balanceOf = ({ rows, taken }: Paper): number =>
  rows.reduce((sum, row) => sum + (row.reversed ? 0 : row.points), 0) - taken

test('after any sequence of earnings, redemptions and reversals a balance is what paper says, and never negative', async (t) => {
  const app = await startApp(t)
  const tenant = await createTenant(app)
  await tenant.rest('PATCH /settings', { earn_points_per_unit: '1.5' })

  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
      const { user_id } = await createCustomer(tenant)
      const paper: Paper = { rows: [], taken: 0 }
      for (const each of steps) {
        const before = balanceOf(paper)
        if (each.kind === 'points' || each.kind === 'amount') {
          // 1.5 points a unit is 3 points for 200 cents, floored.
          const points = each.kind === 'points' ? each.points : Math.floor((each.cents * 3) / 200)
          const sum = each.kind === 'points' ? { points } : { amount: (each.cents / 100).toFixed(2) }
          const { status, body } = await tenant.rest('POST /points/issue', { user_id, ...sum })
          assert.equal(status, 200)
          assert.equal(body.data.transaction.points, points)
          paper.rows.push({ id: body.data.transaction.id, points, reversed: false })
        } else if (each.kind === 'redeem') {
          const { status, body } = await tenant.rest('POST /points/redeem', { user_id, points: each.points })
          if (each.points <= before) paper.taken += each.points
          else assert.equal(body.error.message, `INSUFFICIENT_POINTS:${before}`)
          assert.equal(status, each.points <= before ? 200 : 409)
        } else {
          const row = paper.rows[each.which % Math.max(1, paper.rows.length)]
          if (!row) continue
          const { body } = await tenant.rest(`POST /transactions/${row.id}/reverse`)
          if (row.reversed) assert.equal(body.error.message, 'TRANSACTION_ALREADY_REVERSED')
          else if (row.points > before) assert.equal(body.error.message, `INSUFFICIENT_POINTS:${before}`)
          else row.reversed = true
        }
        const { body } = await tenant.rest(`GET /customers/${user_id}/balance`)
        assert.equal(body.data.balance, balanceOf(paper))
        assert.ok(body.data.balance >= 0)
      }
    }),
    { numRuns: 60 },
  )
  t.true((await audit(app.database)).checks.every(({ broken }) => broken === 0))
})
