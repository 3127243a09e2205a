import { raffleChecks } from './raffle-checks.js'

/**
 * The invariants that must hold whatever happens (docs: decisions; README, Audit). Each is one query that gives a
 * row per audited thing: `id` and whether it is `ok`. `$1` is a business, or null for all.
 */
export interface AuditCheck {
  name: string
  /** What holds, in words. */
  says: string
  sql: string
}

const VISITING = `('api', 'terminal', 'code', 'reward', 'import')`
/** Sources whose earnings count towards tiers (a reversal takes back what such a row gave). */
const PURCHASES = `('api', 'terminal', 'code', 'import')`

/** Compares a customer's kept aggregate with what it sums. */
const customerAggregate = (kept: string, summed: string, from: string): string =>
  `SELECT c.id, c.${kept} IS NOT DISTINCT FROM s.value AS ok
     FROM customers c LEFT JOIN LATERAL (SELECT ${summed} AS value FROM ${from}) s ON true
    WHERE $1::uuid IS NULL OR c.business_id = $1`

const ofCustomer = (alias: string): string =>
  `${alias}.business_id = c.business_id AND ${alias}.customer_id = c.id`

const completedTransactions = `transactions t WHERE ${ofCustomer('t')} AND t.status = 'completed'`

export const auditChecks: readonly AuditCheck[] = [
  {
    name: 'balance',
    says: 'a balance is its completed earn rows minus its completed redeem rows, and never below 0',
    sql: `SELECT c.id, c.balance >= 0 AND c.balance = s.value AS ok
            FROM customers c LEFT JOIN LATERAL (
              SELECT coalesce(sum(CASE t.type WHEN 'earn' THEN t.points ELSE -t.points END), 0) AS value
                FROM ${completedTransactions}) s ON true
           WHERE $1::uuid IS NULL OR c.business_id = $1`,
  },
  {
    name: 'held',
    says: 'held points are those of pending redeem rows, and never more than the balance',
    sql: `SELECT c.id, c.held <= c.balance AND c.held = s.value AS ok
            FROM customers c LEFT JOIN LATERAL (
              SELECT coalesce(sum(t.points), 0) AS value FROM transactions t
               WHERE ${ofCustomer('t')} AND t.status = 'pending' AND t.type = 'redeem') s ON true
           WHERE $1::uuid IS NULL OR c.business_id = $1`,
  },
  {
    name: 'visit_count',
    says: "a customer's visits are counted",
    sql: customerAggregate('visit_count', 'count(*)::int', `visits v WHERE ${ofCustomer('v')}`),
  },
  {
    name: 'last_visit_at',
    says: 'the last visit is the latest moment of a visiting row',
    sql: customerAggregate(
      'last_visit_at',
      'max(t.occurred_at)',
      `${completedTransactions} AND t.source IN ${VISITING}`,
    ),
  },
  {
    name: 'visit_hours',
    says: 'the kept hours of visits are those of visiting rows (in zones that PostgreSQL knows)',
    sql: `SELECT c.id, c.visit_hours = s.hours AS ok
            FROM customers c CROSS JOIN LATERAL (
              SELECT bit_or(set_bit(0::bit(168), (extract(dow FROM local.time) * 24 + extract(hour FROM local.time))::int, 1)) AS hours
                FROM transactions t CROSS JOIN LATERAL (SELECT t.occurred_at AT TIME ZONE c.visit_hours_timezone AS time) local
               WHERE ${ofCustomer('t')} AND t.status = 'completed' AND t.source IN ${VISITING}) s
           WHERE c.visit_hours_timezone IN (SELECT name FROM pg_timezone_names)
             AND ($1::uuid IS NULL OR c.business_id = $1)`,
  },
  {
    name: 'redemption_count',
    says: "a customer's completed redemptions are counted",
    sql: customerAggregate(
      'redemption_count',
      'count(*)::int',
      `redemptions r WHERE ${ofCustomer('r')} AND r.status = 'completed'`,
    ),
  },
  {
    name: 'spend',
    says: 'spend is the amounts of purchases less those taken back',
    sql: customerAggregate(
      'spend_minor',
      `coalesce(sum(CASE t.type WHEN 'earn' THEN t.amount_minor ELSE -t.amount_minor END), 0)::bigint`,
      `${completedTransactions} AND t.source IN ('api', 'terminal', 'dashboard', 'code', 'import', 'reversal')`,
    ),
  },
  {
    name: 'earned_points',
    says: 'tier progress is the points of purchases and codes less those taken back',
    sql: customerAggregate(
      'earned_points',
      `coalesce(sum(CASE t.type WHEN 'earn' THEN t.points ELSE -t.points END), 0)::bigint`,
      `transactions t LEFT JOIN transactions o ON o.business_id = t.business_id AND o.id = t.reverses_id
        WHERE ${ofCustomer('t')} AND t.status = 'completed'
          AND (t.type = 'earn' AND t.source IN ${PURCHASES} OR t.source = 'reversal' AND o.source IN ${PURCHASES})`,
    ),
  },
  {
    name: 'unpriced_points',
    says: 'unpriced points are those of purchases and codes without an amount, less those taken back',
    sql: customerAggregate(
      'unpriced_points',
      `coalesce(sum(CASE t.type WHEN 'earn' THEN t.points ELSE -t.points END), 0)::bigint`,
      `transactions t LEFT JOIN transactions o ON o.business_id = t.business_id AND o.id = t.reverses_id
        WHERE ${ofCustomer('t')} AND t.status = 'completed' AND t.amount_minor IS NULL
          AND (t.type = 'earn' AND t.source IN ${PURCHASES} OR t.source = 'reversal' AND o.source IN ${PURCHASES})`,
    ),
  },
  {
    name: 'redemption_paid_once',
    says: 'a completed redemption has exactly one redeem row, of its cost; any other has none',
    sql: `SELECT r.id, s.rows = (CASE r.status WHEN 'completed' THEN 1 ELSE 0 END)
                 AND (r.status <> 'completed' OR s.points = r.points_cost) AS ok
            FROM redemptions r LEFT JOIN LATERAL (
              SELECT count(*) AS rows, sum(t.points) AS points FROM transactions t
               WHERE t.business_id = r.business_id AND t.customer_id = r.customer_id AND t.redemption_id = r.id
                 AND t.type = 'redeem' AND t.status = 'completed') s ON true
           WHERE $1::uuid IS NULL OR r.business_id = $1`,
  },
  {
    name: 'redemption_held_once',
    says: 'a redemption whose value is on its way has a lease and exactly one pending row, of its cost; any other has none',
    sql: `SELECT r.id, (r.provision_lease_until IS NOT NULL) = f.coming AND s.rows = f.coming::int
                 AND (NOT f.coming OR s.points = r.points_cost) AS ok
            FROM redemptions r
            CROSS JOIN LATERAL (SELECT r.status = 'pending' AND r.delivery_mode = 'digital' AS coming) f
            LEFT JOIN LATERAL (
              SELECT count(*) AS rows, sum(t.points) AS points FROM transactions t
               WHERE t.business_id = r.business_id AND t.customer_id = r.customer_id AND t.redemption_id = r.id
                 AND t.type = 'redeem' AND t.status = 'pending') s ON true
           WHERE $1::uuid IS NULL OR r.business_id = $1`,
  },
  {
    name: 'refunded_once',
    says: 'a parcel that was cancelled or returned has exactly one refund, of its cost; any other redemption has none',
    sql: `SELECT r.id, s.rows = f.taken_back::int AND (NOT f.taken_back OR s.points = r.points_cost) AS ok
            FROM redemptions r
            CROSS JOIN LATERAL (
              SELECT coalesce(r.fulfilment_status IN ('cancelled', 'returned'), false) AS taken_back) f
            LEFT JOIN LATERAL (
              SELECT count(*) AS rows, sum(t.points) AS points FROM transactions t
               WHERE t.business_id = r.business_id AND t.customer_id = r.customer_id AND t.redemption_id = r.id
                 AND t.source = 'refund' AND t.status = 'completed') s ON true
           WHERE $1::uuid IS NULL OR r.business_id = $1`,
  },
  {
    name: 'reward_cap',
    says: 'redemptions_count is the completed redemptions, and never above the cap; a cap that is reached switches off',
    sql: `SELECT w.id, w.redemptions_count = s.value
                 AND (w.max_redemptions IS NULL OR w.redemptions_count + w.reserved_count <= w.max_redemptions)
                 AND (w.redemptions_count < w.max_redemptions OR w.max_redemptions IS NULL
                      OR w.deactivated_by_limit OR w.off_by_hand)
                 AND (NOT w.deactivated_by_limit OR w.redemptions_count >= w.max_redemptions) IS TRUE AS ok
            FROM rewards w LEFT JOIN LATERAL (
              SELECT count(*) AS value FROM redemptions r
               WHERE r.business_id = w.business_id AND r.reward_id = w.id AND r.status = 'completed') s ON true
           WHERE $1::uuid IS NULL OR w.business_id = $1`,
  },
  {
    name: 'reward_reserved',
    says: 'the slots held of a cap are those of redemptions whose value is on its way',
    sql: `SELECT w.id, w.reserved_count = s.value AS ok
            FROM rewards w LEFT JOIN LATERAL (
              SELECT count(*) AS value FROM redemptions r
               WHERE r.business_id = w.business_id AND r.reward_id = w.id AND r.status = 'pending'
                 AND r.delivery_mode = 'digital') s ON true
           WHERE $1::uuid IS NULL OR w.business_id = $1`,
  },
  {
    name: 'pool_value_given_once',
    says: 'a consumed pool value went to a completed redemption of its reward, which has no other',
    sql: `SELECT v.id, r.status = 'completed' AND r.reward_id = v.reward_id
                 AND NOT EXISTS (SELECT FROM pool_values o WHERE o.business_id = v.business_id
                                    AND o.redemption_id = v.redemption_id AND o.id <> v.id) AS ok
            FROM pool_values v LEFT JOIN redemptions r ON r.business_id = v.business_id AND r.id = v.redemption_id
           WHERE v.redemption_id IS NOT NULL AND ($1::uuid IS NULL OR v.business_id = $1)`,
  },
  {
    name: 'pool_counts',
    says: 'pool_available and pool_consumed are the values there are',
    sql: `SELECT w.id, w.pool_available = s.total - s.consumed AND w.pool_consumed = s.consumed AS ok
            FROM rewards w LEFT JOIN LATERAL (
              SELECT count(*) AS total, count(v.redemption_id) AS consumed FROM pool_values v
               WHERE v.business_id = w.business_id AND v.reward_id = w.id) s ON true
           WHERE $1::uuid IS NULL OR w.business_id = $1`,
  },
  {
    name: 'pool_activity',
    says: 'a reward is off by pool exactly when its pool has nothing left, unless it is off by hand',
    sql: `SELECT w.id, w.deactivated_by_pool
                 = (w.digital_asset_source = 'pool' AND w.pool_available = 0 AND NOT w.off_by_hand) AS ok
            FROM rewards w WHERE $1::uuid IS NULL OR w.business_id = $1`,
  },
  {
    name: 'interested_count',
    says: 'the customers who have marked interest in a promotion are counted',
    sql: `SELECT p.id, p.interested_count = s.value AS ok
            FROM promotions p LEFT JOIN LATERAL (
              SELECT count(*) AS value FROM promotion_interests i
               WHERE i.business_id = p.business_id AND i.promotion_id = p.id) s ON true
           WHERE $1::uuid IS NULL OR p.business_id = $1`,
  },
  {
    name: 'tier_history',
    says: "a customer's moves between tiers follow on each other and end with the tier that the customer is in",
    sql: `SELECT c.id, c.tier_id IS NOT DISTINCT FROM h.last AND h.follow IS NOT FALSE AS ok
            FROM customers c LEFT JOIN LATERAL (
              SELECT (array_agg(m.to_tier_id ORDER BY m.created_at DESC, m.id DESC))[1] AS last,
                     bool_and(m.from_tier_id IS NOT DISTINCT FROM m.before) AS follow
                FROM (SELECT h.*, lag(h.to_tier_id) OVER (ORDER BY h.created_at, h.id) AS before
                        FROM tier_changes h WHERE ${ofCustomer('h')}) m) h ON true
           WHERE $1::uuid IS NULL OR c.business_id = $1`,
  },
  {
    name: 'tier_bonus_once',
    says: 'the bonus of a tier was paid with a move up, once to a customer',
    sql: `SELECT t.id, t.tier_id IS NOT NULL AND t.type = 'earn'
                 AND count(*) OVER (PARTITION BY t.business_id, t.customer_id, t.tier_id) = 1
                 AND EXISTS (SELECT FROM tier_changes h WHERE h.business_id = t.business_id
                                AND h.customer_id = t.customer_id AND h.reason = 'upgrade'
                                AND h.created_at = t.created_at) AS ok
            FROM transactions t WHERE t.source = 'tier_bonus' AND ($1::uuid IS NULL OR t.business_id = $1)`,
  },
  {
    name: 'referral_paid_once',
    says: 'a referral bonus belongs to one customer who was brought, and went to who brought that one',
    sql: `SELECT coalesce(f.customer_id, t.id) AS id,
                 f.transaction_id IS NOT DISTINCT FROM t.id
                 AND (t.id IS NULL OR f.referrer_id = t.customer_id AND t.type = 'earn') AS ok
            FROM (SELECT * FROM referrals WHERE $1::uuid IS NULL OR business_id = $1) f
            FULL JOIN (SELECT * FROM transactions WHERE source = 'referral' AND ($1::uuid IS NULL OR business_id = $1)) t
              ON t.business_id = f.business_id AND t.id = f.transaction_id`,
  },
  {
    name: 'reversed_once',
    says: 'an earning is taken back at most once, whole, and from its own customer',
    sql: `SELECT o.id, count(*) = 1 AND bool_and(r.points = o.points AND r.customer_id = o.customer_id
                 AND o.type = 'earn' AND r.type = 'redeem') AS ok
            FROM transactions r JOIN transactions o ON o.business_id = r.business_id AND o.id = r.reverses_id
           WHERE r.status = 'completed' AND r.source = 'reversal' AND ($1::uuid IS NULL OR r.business_id = $1)
           GROUP BY o.business_id, o.id`,
  },
  ...raffleChecks,
  {
    name: 'code_claimed_once',
    says: 'a claimed code gave its customer the points of its batch in one completed earning',
    sql: `SELECT k.id, t.status = 'completed' AND t.type = 'earn' AND t.source = 'code'
                 AND t.customer_id = k.customer_id AND t.points = b.points
                 AND NOT EXISTS (SELECT FROM batch_codes o WHERE o.business_id = k.business_id
                                    AND o.transaction_id = k.transaction_id AND o.id <> k.id) AS ok
            FROM batch_codes k JOIN code_batches b ON b.business_id = k.business_id AND b.id = k.batch_id
            LEFT JOIN transactions t ON t.business_id = k.business_id AND t.id = k.transaction_id
           WHERE k.claimed_at IS NOT NULL AND ($1::uuid IS NULL OR k.business_id = $1)`,
  },
  {
    name: 'code_earning_claimed',
    says: 'every earning of a code is that of a claimed one',
    sql: `SELECT t.id, k.claimed_at IS NOT NULL AS ok
            FROM transactions t LEFT JOIN batch_codes k ON k.business_id = t.business_id AND k.transaction_id = t.id
           WHERE t.source = 'code' AND ($1::uuid IS NULL OR t.business_id = $1)`,
  },
  {
    name: 'code_batch_counts',
    says: 'a batch has as many codes as it was made with, and claimed is those that are',
    sql: `SELECT b.id, b.quantity = s.codes AND b.claimed = s.claimed AS ok
            FROM code_batches b LEFT JOIN LATERAL (
              SELECT count(*) AS codes, count(k.claimed_at) AS claimed FROM batch_codes k
               WHERE k.business_id = b.business_id AND k.batch_id = b.id) s ON true
           WHERE $1::uuid IS NULL OR b.business_id = $1`,
  },
  {
    name: 'transaction_counts',
    says: 'the kept counts of transactions and the sums of their points are those of the rows there are',
    sql: `SELECT coalesce(k.business_id, a.business_id) AS id,
                 coalesce(k.count, 0) = coalesce(a.count, 0) AND coalesce(k.points, 0) = coalesce(a.points, 0) AS ok
            FROM (SELECT business_id, type, status, sum(count) AS count, sum(points) AS points FROM transaction_counts
                   WHERE $1::uuid IS NULL OR business_id = $1 GROUP BY 1, 2, 3) k
            FULL JOIN (SELECT business_id, type, status, count(*) AS count, sum(points) AS points FROM transactions
                        WHERE $1::uuid IS NULL OR business_id = $1 GROUP BY 1, 2, 3) a
              USING (business_id, type, status)`,
  },
  {
    name: 'review_counts',
    says: 'the kept counts of reviews are the reviews there are, star by star',
    sql: `SELECT coalesce(k.business_id, a.business_id) AS id, coalesce(k.count, 0) = coalesce(a.count, 0) AS ok
            FROM (SELECT business_id, rating, count FROM review_counts
                   WHERE $1::uuid IS NULL OR business_id = $1) k
            FULL JOIN (SELECT business_id, rating, count(*) AS count FROM reviews
                        WHERE $1::uuid IS NULL OR business_id = $1 GROUP BY 1, 2) a
              USING (business_id, rating)`,
  },
  {
    name: 'review_answer_counts',
    says: 'the kept counts of answers are the answers there are, question by question',
    sql: `SELECT question_id AS id, coalesce(k.count, 0) = coalesce(a.count, 0) AS ok
            FROM (SELECT business_id, question_id, rating, count FROM review_answer_counts
                   WHERE $1::uuid IS NULL OR business_id = $1) k
            FULL JOIN (SELECT business_id, question_id, rating, count(*) AS count FROM review_answers
                        WHERE $1::uuid IS NULL OR business_id = $1 GROUP BY 1, 2, 3) a
              USING (business_id, question_id, rating)`,
  },
  {
    name: 'transaction_days',
    says: 'the counts of closed days are the rows booked on them',
    sql: `SELECT business_id AS id, k.earned IS NOT DISTINCT FROM a.earned AND k.redeemed IS NOT DISTINCT FROM a.redeemed AS ok
            FROM (SELECT business_id, day, earn_count AS earned, redeem_count AS redeemed FROM transaction_days
                   WHERE $1::uuid IS NULL OR business_id = $1) k
            FULL JOIN (SELECT t.business_id, (t.created_at AT TIME ZONE 'UTC')::date AS day,
                              count(*) FILTER (WHERE t.type = 'earn') AS earned,
                              count(*) FILTER (WHERE t.type = 'redeem') AS redeemed
                         FROM transactions t
                         JOIN (SELECT business_id, max(day) AS last FROM transaction_days GROUP BY 1) c
                           ON c.business_id = t.business_id AND (t.created_at AT TIME ZONE 'UTC')::date <= c.last
                        WHERE $1::uuid IS NULL OR t.business_id = $1 GROUP BY 1, 2) a
              USING (business_id, day)`,
  },
  {
    name: 'points_imports',
    says: 'each line of an upload that is applied has a transaction of its own, of its customer; progress counts the lines',
    sql: `SELECT i.id, i.row_count = s.rows AND i.applied_count = s.applied AND i.failed_count = s.failed AND s.booked AS ok
            FROM points_imports i LEFT JOIN LATERAL (
              SELECT count(*) AS rows, count(r.transaction_id) AS applied, count(r.error) AS failed,
                     bool_and(r.transaction_id IS NULL OR t.type = 'earn' AND t.status = 'completed'
                       AND t.customer_id = r.customer_id AND t.points = coalesce(r.points, t.points)) AS booked
                FROM points_import_rows r
                LEFT JOIN transactions t ON t.business_id = r.business_id AND t.id = r.transaction_id
               WHERE r.business_id = i.business_id AND r.import_id = i.id) s ON true
           WHERE $1::uuid IS NULL OR i.business_id = $1`,
  },
]
