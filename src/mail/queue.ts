import { v7 as uuidv7 } from 'uuid'
import type { TransactionContext } from '../context.js'
import { type Sql, statement } from '../database/sql.js'
import { MAX_ATTEMPTS, pauseMsAfter } from './mail.rules.js'
import type { MailFailure } from './smtp-failure.js'

/**
 * The queue of e-mails. A mail's row is its place in the queue: taking it moves its next attempt past a lease, so a
 * mail is with one sender at a time, no transaction is open while it is sent, and one that a crash left comes due again.
 */

const insert = statement<never>(
  'queue_asset_mail',
  `INSERT INTO mails (business_id, id, redemption_id, customer_id, next_attempt_at, created_at)
   SELECT $1, $2, $3, $4, $5, $5 FROM customers
    WHERE business_id = $1 AND id = $4 AND email IS NOT NULL`,
)

/** Queues the e-mail that carries a redemption's code or link; a customer without an address gets none. */
export async function queueAssetMail(
  tx: TransactionContext,
  { redemptionId, customerId }: { redemptionId: string; customerId: string },
): Promise<void> {
  await tx.sql.run(insert, [tx.business.id, uuidv7(), redemptionId, customerId, tx.now])
}

/** A mail that was taken to be sent, with what it says. */
export interface DueMail {
  businessId: string
  id: string
  /** Which attempt this is, from 1. */
  attempt: number
  /** The customer's address as it is now; null where there is none any more. */
  to: string | null
  businessName: string
  businessEmail: string
  timezone: string
  rewardName: string
  assetType: 'code' | 'link'
  /** Sealed. */
  assetValue: Uint8Array
  assetExpiresAt: Date | null
}

/** Longer than sending one can take (see mailer.ts). */
const LEASE_MS = 2 * 60 * 1000

const take = statement<DueMail>(
  'take_due_mail',
  `WITH due AS MATERIALIZED (
     SELECT business_id, id FROM mails
      WHERE status = 'waiting' AND next_attempt_at <= $1 AND attempts < ${MAX_ATTEMPTS}
      ORDER BY next_attempt_at LIMIT 1 FOR UPDATE SKIP LOCKED)
   UPDATE mails m SET attempts = m.attempts + 1, next_attempt_at = $2
     FROM due, redemptions r, customers c, businesses b
    WHERE m.business_id = due.business_id AND m.id = due.id
      AND r.business_id = m.business_id AND r.id = m.redemption_id
      AND c.business_id = m.business_id AND c.id = m.customer_id AND b.id = m.business_id
   RETURNING m.business_id AS "businessId", m.id, m.attempts AS attempt, c.email AS "to", b.name AS "businessName",
             b.email AS "businessEmail", b.timezone, r.reward_name AS "rewardName", r.asset_type AS "assetType",
             r.asset_value AS "assetValue", r.asset_expires_at AS "assetExpiresAt"`,
)

/** The mail that has been due longest, counted as attempted and leased to the caller; undefined = none is due. */
export const takeDueMail = (sql: Sql, now: Date): Promise<DueMail | undefined> =>
  sql.row(take, [now, new Date(now.getTime() + LEASE_MS)])

// Sent is sent, even if by a sender whose lease had run out.
const markSent = statement<never>(
  'mark_mail_sent',
  `UPDATE mails SET status = 'sent', sent_at = $3, last_error = NULL
    WHERE business_id = $1 AND id = $2 AND status <> 'sent'`,
)
const markFailed = statement<never>(
  'mark_mail_failed',
  `UPDATE mails SET status = $4, next_attempt_at = $5, last_error = $6
    WHERE business_id = $1 AND id = $2 AND attempts = $3 AND status = 'waiting'`,
)

/** Writes down how an attempt ended. A failed one comes due again after a pause, unless nothing more can come of it. */
export async function settleAttempt(
  sql: Sql,
  { businessId, id, attempt }: DueMail,
  failure: MailFailure | undefined,
  now: Date,
): Promise<void> {
  if (!failure) {
    await sql.run(markSent, [businessId, id, now])
    return
  }
  const dead = failure.permanent || attempt === MAX_ATTEMPTS
  const next = new Date(now.getTime() + (dead ? 0 : pauseMsAfter(attempt)))
  await sql.run(markFailed, [businessId, id, attempt, dead ? 'dead' : 'waiting', next, failure.reason])
}

const buryCutOff = statement<never>(
  'bury_cut_off_mails',
  `UPDATE mails SET status = 'dead', last_error = 'the last attempt was cut off'
    WHERE status = 'waiting' AND next_attempt_at <= $1 AND attempts = ${MAX_ATTEMPTS}`,
)

/** Gives up mails whose last attempt nobody came back from. */
export const buryCutOffMails = (sql: Sql, now: Date): Promise<number> => sql.run(buryCutOff, [now])
