import pLimit from 'p-limit'
import { type Services, transaction, unattendedContext } from '../context.js'
import { statement } from '../database/sql.js'
import { KEY_LIFETIME_MS } from '../idempotency.js'
import { lockAccount } from '../ledger/customer.js'
import { type ExpirySettings, inactiveSince } from '../ledger/expiry.rules.js'
import { settleExpiry } from '../ledger/ledger.js'
import { settleInterrupted } from '../redemptions/provisioning.js'

/**
 * Recurring work. Each sweep takes what is due in bounded batches and settles every row in a transaction of its
 * own, guarded by the row itself: any number of instances may sweep at once, and each row is settled once.
 */
/** Returns how many rows it settled. */
export type Sweep = (deps: Services) => Promise<number>

const BATCH = 500

/** Runs a batch until one comes back short. */
async function drain(batch: () => Promise<number>): Promise<number> {
  let settled = 0
  for (;;) {
    const done = await batch()
    settled += done
    if (done < BATCH) return settled
  }
}

const expireDue = statement<never>(
  'expire_redemptions',
  `UPDATE redemptions r SET status = 'expired'
     FROM (SELECT business_id, id FROM redemptions WHERE status = 'pending' AND expires_at <= $1
            ORDER BY expires_at LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED) due
    WHERE r.business_id = due.business_id AND r.id = due.id`,
)

/** Codes that were not completed in time become `expired`; nothing was reserved for them. */
export const expireRedemptions: Sweep = ({ database, clock }) =>
  drain(() => database.sql.run(expireDue, [clock.now(), BATCH]))

const businessesWithExpiry = statement<ExpirySettings & { id: string }>(
  'businesses_with_expiry',
  `SELECT id, timezone, points_expire_after_days AS "pointsExpireAfterDays", points_expire_since AS "pointsExpireSince"
     FROM businesses WHERE points_expire_after_days IS NOT NULL AND points_expire_since < $1`,
)
const inactiveCustomers = statement<{ id: string }>(
  'customers_with_expired_points',
  `SELECT id FROM customers
    WHERE business_id = $1 AND balance > held AND coalesce(last_visit_at, created_at) < $2 AND id > $3
    ORDER BY id LIMIT $4`,
)
const FIRST_ID = '00000000-0000-0000-0000-000000000000'

/** Books the expiry of points of customers who stayed away; a balance change in between has done so already. */
export const expirePoints: Sweep = async (deps) => {
  let settled = 0
  for (const business of await deps.database.sql.rows(businessesWithExpiry, [deps.clock.now()])) {
    const cutoff = inactiveSince(business, deps.clock.now())
    if (cutoff === undefined) continue
    let after = FIRST_ID
    await drain(async () => {
      const due = await deps.database.sql.rows(inactiveCustomers, [business.id, cutoff, after, BATCH])
      for (const { id } of due) if (await settle(deps, business, id)) settled++
      after = due.at(-1)?.id ?? after
      return due.length
    })
  }
  return settled
}

async function settle(deps: Services, business: { id: string; timezone: string }, customerId: string) {
  const ctx = unattendedContext(deps, business, { kind: 'job' })
  return transaction(ctx, async (tx) => {
    const account = await lockAccount(tx, { userId: customerId })
    return (await settleExpiry(tx, account)) !== undefined
  })
}

const interrupted = statement<{ id: string; businessId: string; timezone: string }>(
  'interrupted_provisions',
  `SELECT r.id, r.business_id AS "businessId", b.timezone
     FROM redemptions r JOIN businesses b ON b.id = r.business_id
    WHERE r.provision_lease_until <= $1 ORDER BY r.provision_lease_until LIMIT $2`,
)

/** Each may wait for a business's server until the deadline of the call. */
const PROVISIONS_AT_ONCE = 10

/**
 * Settles external redemptions that a crash left pending: one that nothing was sent for is cancelled, any other is sent
 * once more with the same id, then completed or cancelled. One that fails keeps no other waiting.
 */
export const settleProvisions: Sweep = async (deps) => {
  const limit = pLimit(PROVISIONS_AT_ONCE)
  let settled = 0
  await drain(async () => {
    const left = await deps.database.sql.rows(interrupted, [deps.clock.now(), BATCH])
    const ends = left.map(({ id, businessId, timezone }) =>
      limit(async () => {
        const ctx = unattendedContext(deps, { id: businessId, timezone }, { kind: 'job' })
        if (await settleInterrupted(ctx, id)) settled++
      }),
    )
    const failed = (await Promise.allSettled(ends)).find((end) => end.status === 'rejected')
    if (failed) throw failed.reason
    return left.length
  })
  return settled
}

const dropKeys = statement<never>(
  'drop_idempotency_keys',
  `DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(
     SELECT ctid FROM idempotency_keys WHERE created_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED))`,
)

/** Stored answers go after 24 hours. */
export const dropIdempotencyKeys: Sweep = ({ database, clock }) =>
  drain(() => database.sql.run(dropKeys, [new Date(clock.now().getTime() - KEY_LIFETIME_MS), BATCH]))
