import type { AuditCheck } from './checks.js'

/** The invariants of raffles: what was paid, given back, counted and drawn. */
export const raffleChecks: readonly AuditCheck[] = [
  {
    name: 'raffle_entries_paid_once',
    says: 'entries are paid by exactly one row of the ledger, of their cost and their customer; no other row pays',
    sql: `SELECT t.id, t.type = 'redeem' AND t.source = 'raffle' AND t.status = 'completed'
                 AND t.customer_id = e.customer_id AND t.points = n.entries * r.points_cost AS ok
            FROM transactions t
            LEFT JOIN raffle_entries n ON n.business_id = t.business_id AND n.transaction_id = t.id
            LEFT JOIN raffle_entrants e ON e.business_id = n.business_id AND e.id = n.entrant_id
            LEFT JOIN raffles r ON r.business_id = e.business_id AND r.id = e.raffle_id
           WHERE (t.source = 'raffle' OR n.transaction_id IS NOT NULL) AND ($1::uuid IS NULL OR t.business_id = $1)`,
  },
  {
    name: 'raffle_entries_refunded_once',
    says: 'entries of an entrant who was refunded were given back by one row each, whole; others by none',
    sql: `SELECT t.id, s.rows = (e.refunded_at IS NOT NULL)::int AND s.rows = s.whole AS ok
            FROM raffle_entries n
            JOIN raffle_entrants e ON e.business_id = n.business_id AND e.id = n.entrant_id
            JOIN transactions t ON t.business_id = n.business_id AND t.id = n.transaction_id
            LEFT JOIN LATERAL (
              SELECT count(*) AS rows,
                     count(*) FILTER (WHERE b.type = 'earn' AND b.source = 'refund' AND b.status = 'completed'
                                        AND b.points = t.points AND b.customer_id = t.customer_id) AS whole
                FROM transactions b WHERE b.business_id = t.business_id AND b.reverses_id = t.id) s ON true
           WHERE $1::uuid IS NULL OR n.business_id = $1`,
  },
  {
    name: 'raffle_refunds',
    says: 'a cancelled raffle that is settled has refunded everybody, any other only those who were taken out',
    sql: `SELECT e.id, CASE WHEN r.cancelled_at IS NULL THEN (e.refunded_at IS NULL) = (e.withdrawn_at IS NULL)
                      ELSE r.refunded_at IS NULL OR e.refunded_at IS NOT NULL END AS ok
            FROM raffle_entrants e JOIN raffles r ON r.business_id = e.business_id AND r.id = e.raffle_id
           WHERE $1::uuid IS NULL OR e.business_id = $1`,
  },
  {
    name: 'raffle_entrant_entries',
    says: "an entrant's entries are those that were paid for, and never more than the raffle allows",
    sql: `SELECT e.id, e.entries = s.value AND e.entries <= r.entries_per_user AS ok
            FROM raffle_entrants e JOIN raffles r ON r.business_id = e.business_id AND r.id = e.raffle_id
            LEFT JOIN LATERAL (
              SELECT sum(n.entries) AS value FROM raffle_entries n
               WHERE n.business_id = e.business_id AND n.entrant_id = e.id) s ON true
           WHERE $1::uuid IS NULL OR e.business_id = $1`,
  },
  {
    name: 'raffle_counts',
    says: 'total_entries and unique_entrants are the entrants there are, but for those who were taken out',
    sql: `SELECT r.id, r.total_entries = s.entries AND r.unique_entrants = s.entrants AS ok
            FROM raffles r LEFT JOIN LATERAL (
              SELECT coalesce(sum(e.entries), 0) AS entries, count(*) AS entrants FROM raffle_entrants e
               WHERE e.business_id = r.business_id AND e.raffle_id = r.id AND e.withdrawn_at IS NULL) s ON true
           WHERE $1::uuid IS NULL OR r.business_id = $1`,
  },
  {
    name: 'raffle_winners',
    says: 'a drawn raffle has as many winners as it was to have, or entrants, in ranks from 1, all of its own; others have none',
    sql: `SELECT r.id, s.winners = CASE WHEN r.drawn_at IS NULL THEN 0 ELSE least(r.winners_count, r.unique_entrants) END
                 AND s.winners = s.own AND coalesce(s.last, 0) = s.winners AS ok
            FROM raffles r LEFT JOIN LATERAL (
              SELECT count(*) AS winners, max(w.rank) AS last,
                     count(*) FILTER (WHERE e.raffle_id = r.id AND e.withdrawn_at IS NULL) AS own
                FROM raffle_winners w
                JOIN raffle_entrants e ON e.business_id = w.business_id AND e.id = w.entrant_id
               WHERE w.business_id = r.business_id AND w.raffle_id = r.id) s ON true
           WHERE $1::uuid IS NULL OR r.business_id = $1`,
  },
  {
    name: 'raffle_proof',
    says: 'the seed of a draw is the one that was committed to, and the list that was drawn from is still the same',
    sql: `SELECT r.id, r.seed_hash = encode(sha256(decode(r.seed, 'hex')), 'hex')
                 AND r.entries_hash = encode(sha256(convert_to(coalesce(s.list, ''), 'UTF8')), 'hex') AS ok
            FROM raffles r LEFT JOIN LATERAL (
              SELECT string_agg(e.id || ' ' || e.entries || E'\\n', '' ORDER BY e.id) AS list
                FROM raffle_entrants e
               WHERE e.business_id = r.business_id AND e.raffle_id = r.id AND e.withdrawn_at IS NULL) s ON true
           WHERE r.drawn_at IS NOT NULL AND ($1::uuid IS NULL OR r.business_id = $1)`,
  },
]
