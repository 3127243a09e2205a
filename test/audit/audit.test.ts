import test from 'ava'
import { audit } from '../../src/audit/audit.js'
import { sqlOn } from '../../src/database/sql.js'
import { applyPointsImports } from '../../src/points-imports/apply-points-imports.js'
import { closeTransactionDays } from '../../src/transactions/transaction-days.js'
import { createTenant, startApp, testClock } from '../helpers/app.js'
import {
  createCodes,
  createCustomer,
  createPoolReward,
  createPromotion,
  createRaffle,
  createReward,
  createTier,
  enableTiers,
} from '../helpers/factories.js'

/** A business in which everything that is audited has happened at least once. */
async function livelyBusiness(t: Parameters<typeof startApp>[0]) {
  const app = await startApp(t)
  const tenant = await createTenant(app)
  const reward = await createReward(tenant, { points_cost: 10, max_redemptions: 1 })
  const { user_id } = await createCustomer(tenant)
  const issued = await tenant.rest('POST /points/issue', { user_id, amount: '100.00' })
  await tenant.rest('POST /points/issue', { user_id, points: 50 })
  await tenant.rest('POST /points/redeem', { user_id, points: 5 })
  const { body } = await tenant.rest('POST /redemptions', { reward_id: reward.id, user_id })
  await tenant.rest(`POST /redemptions/${body.data.redemption.code}/complete`)
  const pool = await createPoolReward(tenant, ['CODE-1', 'CODE-2'])
  await tenant.rest('POST /redemptions', { reward_id: pool.id, user_id })
  const parcel = await createReward(tenant, { points_cost: 7, delivery_mode: 'shipping' })
  const address = { name: 'Ada', line1: '1 Main St', city: 'Berlin', country: 'DE' }
  const sent = await tenant.rest('POST /redemptions', {
    reward_id: parcel.id,
    user_id,
    shipping_address: address,
  })
  await tenant.rest(`POST /redemptions/${sent.body.data.redemption.code}/cancel`)
  const { status } = await tenant.rest(`POST /transactions/${issued.body.data.transaction.id}/reverse`)
  if (status !== 409 && status !== 200) throw new Error(`reversing answered ${status}`)
  for (const last of ['end', 'cancel']) {
    const raffle = await createRaffle(tenant, { points_cost: 2, entries_per_user: 3, winners_count: 2 })
    await tenant.rest(`POST /raffles/${raffle.id}/entries`, { user_id, entries: 2 })
    await tenant.rest(`POST /raffles/${raffle.id}/${last}`)
  }
  const reversible = await tenant.rest('POST /points/issue', { user_id, points: 3 })
  await tenant.rest(`POST /transactions/${reversible.body.data.transaction.id}/reverse`)
  const promotion = await createPromotion(tenant)
  await tenant.rest(`POST /promotions/${promotion.id}/interest`, { user_id })
  const question = 'mutation { createReviewQuestion(input: { text: "The staff?" }) { id } }'
  const { id: question_id } = (await tenant.graph(question)).data.createReviewQuestion
  await tenant.rest('POST /reviews', { user_id, rating: 4, answers: [{ question_id, rating: 5 }] })
  await tenant.graph('mutation ($csv: String!) { importPoints(input: { csv: $csv }) { id } }', {
    csv: `user_id,points\n${user_id},4\n`,
  })
  await applyPointsImports(app)
  const { codes } = await createCodes(tenant, { quantity: 2 })
  await tenant.rest('POST /codes/claim', { user_id, code: codes[0] })
  await enableTiers(tenant)
  await createTier(tenant, { minPoints: 0, benefits: { tierReachBonusPoints: 5, referralBonusPoints: 7 } })
  await tenant.rest('POST /points/issue', { user_id, points: 1 })
  const brought = await createCustomer(tenant, { referred_by: user_id })
  await tenant.rest('POST /points/issue', { user_id: brought.user_id, points: 1 })
  // Last: nothing is booked on a day that is closed.
  const inAWeek = new Date(app.clock.now().getTime() + 7 * 24 * 60 * 60 * 1000)
  await closeTransactionDays({ ...app, clock: testClock(inAWeek) })
  return { app, tenant }
}

/** What breaks each check behind the back of the service. */
const breaks: Record<string, string> = {
  balance: 'UPDATE customers SET balance = balance + 1',
  held: 'UPDATE customers SET held = 1',
  visit_count: 'UPDATE customers SET visit_count = visit_count + 1',
  last_visit_at: "UPDATE customers SET last_visit_at = last_visit_at - interval '1 second'",
  visit_hours: 'UPDATE customers SET visit_hours = ~visit_hours',
  redemption_count: 'UPDATE customers SET redemption_count = 0',
  spend: 'UPDATE customers SET spend_minor = spend_minor + 1',
  earned_points: 'UPDATE customers SET earned_points = earned_points - 1',
  unpriced_points: 'UPDATE customers SET unpriced_points = unpriced_points + 1',
  redemption_paid_once: "UPDATE transactions SET points = points + 1 WHERE source = 'reward'",
  redemption_held_once: "UPDATE transactions SET status = 'pending' WHERE source = 'reward'",
  refunded_once: "UPDATE transactions SET points = points + 1 WHERE source = 'refund'",
  reward_reserved: 'UPDATE rewards SET reserved_count = 1 WHERE max_redemptions IS NULL',
  reward_cap: 'UPDATE rewards SET redemptions_count = 0',
  pool_value_given_once: `UPDATE redemptions SET status = 'cancelled', completed_at = NULL`,
  pool_counts:
    'UPDATE rewards SET pool_available = pool_available + 1, pool_consumed = pool_consumed - 1 WHERE pool_consumed > 0',
  pool_activity: 'UPDATE rewards SET deactivated_by_pool = NOT deactivated_by_pool',
  interested_count: 'UPDATE promotions SET interested_count = interested_count + 1',
  tier_history: 'UPDATE customers SET tier_id = NULL',
  tier_bonus_once: "UPDATE transactions SET tier_id = NULL WHERE source = 'tier_bonus'",
  referral_paid_once: 'UPDATE referrals SET transaction_id = NULL',
  reversed_once: "UPDATE transactions SET points = points + 1 WHERE source = 'reversal'",
  raffle_entries_paid_once: "UPDATE transactions SET points = points + 1 WHERE source = 'raffle'",
  raffle_entries_refunded_once: 'UPDATE raffle_entrants SET refunded_at = now()',
  raffle_refunds: 'UPDATE raffle_entrants SET refunded_at = NULL',
  raffle_entrant_entries: 'UPDATE raffle_entries SET entries = entries + 1',
  raffle_counts: 'UPDATE raffles SET total_entries = total_entries + 1',
  raffle_winners: 'DELETE FROM raffle_winners',
  raffle_proof: 'UPDATE raffle_entrants SET entries = entries + 1',
  review_counts: 'UPDATE review_counts SET rating = rating - 1',
  review_answer_counts: 'DELETE FROM review_answer_counts',
  transaction_counts: 'UPDATE transaction_counts SET points = points + 1',
  points_imports: 'UPDATE points_import_rows SET points = points + 1',
  transaction_days: 'UPDATE transaction_days SET redeem_count = redeem_count + 1',
  code_claimed_once: "UPDATE transactions SET points = points + 1 WHERE source = 'code'",
  code_earning_claimed: 'UPDATE batch_codes SET customer_id = NULL, transaction_id = NULL, claimed_at = NULL',
  code_batch_counts: 'DELETE FROM batch_codes WHERE claimed_at IS NULL',
}

/** Of all that breaks nothing is committed, so that one business serves all checks, one after the other. */
let lively: Awaited<ReturnType<typeof livelyBusiness>>
const ends: (() => unknown)[] = []
test.before('a business is lively', async () => {
  lively = await livelyBusiness({ teardown: (end) => ends.unshift(end) })
})
test.after.always('it goes', async () => {
  for (const end of ends) await end()
})

test.serial('a lively business passes every check, and each check has looked at something', async (t) => {
  const { checks } = await audit(lively.app.database)
  for (const { name, checked, broken } of checks) {
    t.is(broken, 0, name)
    if (name !== 'held') t.true(checked > 0, name)
  }
  t.deepEqual(checks.map(({ name }) => name).sort(), Object.keys(breaks).sort())
})

for (const [name, sql] of Object.entries(breaks)) {
  test.serial(`a row that breaks ${name} is found by that name, with its id`, async (t) => {
    const client = await lively.app.database.pool.connect()
    try {
      await client.query('BEGIN')
      await client.query(sql)
      const { checks } = await audit({ transaction: (work) => work({ sql: sqlOn(client) }) })
      const found = checks.find((check) => check.name === name)!
      t.true(found.broken > 0)
      t.true(found.examples.length > 0)
    } finally {
      await client.query('ROLLBACK')
      client.release()
    }
  })
}

test('the audit of one business looks at no other', async (t) => {
  const { app, tenant } = await livelyBusiness(t)
  await app.database.pool.query(breaks.visit_count!)
  const other = await createTenant(app)
  await createCustomer(other)
  const answer = await other.graph('{ audit { name checked broken } }')
  t.true(answer.data.audit.every(({ broken }: { broken: number }) => broken === 0))
  t.true(
    (await tenant.graph('{ audit { broken } }')).data.audit.some(
      (check: { broken: number }) => check.broken > 0,
    ),
  )
})
