import type { BusinessRow } from '../businesses/businesses.js'
import { inactiveSince } from '../ledger/expiry.rules.js'
import { PURCHASES, VISITS } from '../ledger/ledger.js'
import { localDate, startOfLocalDay } from '../time.js'
import { type SpendWeights, spendWeights } from './spend.rules.js'

const DAY_MS = 24 * 60 * 60 * 1000

const list = (values: Iterable<string>): string => [...values].map((value) => `'${value}'`).join(', ')

/** Rows of the ledger that are visits (docs: decisions, Points and transactions). */
export const VISITING = `t.status = 'completed' AND t.source IN (${list(VISITS)})`

/**
 * What conditions are judged on: a business with its settings, now or at a moment in the past, and the values of one
 * statement. In SQL a customer is `c`, with the columns of the table `customers` that conditions need.
 */
export class Ground {
  readonly business: BusinessRow
  readonly at: Date
  readonly past: boolean
  /** `YYYY-MM-DD` in the business's zone. */
  readonly today: string
  readonly spend: SpendWeights
  readonly values: unknown[]
  /** Whether the statement reads rows of the ledger, which it should do once only. */
  readsLedger = false
  readonly #places = new Map<string, string>()

  /** `asOf` is a moment before `now`. */
  constructor(business: BusinessRow, now: Date, asOf?: Date | null) {
    this.business = business
    this.at = asOf ?? now
    this.past = asOf != null
    this.today = localDate(this.at, business.timezone)
    this.spend = spendWeights(business)
    this.values = [business.id]
  }

  /** Puts a value into the statement, equal ones once; `$1` is the business. */
  put(value: string | number | Date | null | undefined, type: string): string {
    const key = JSON.stringify([value, type])
    const known = this.#places.get(key)
    if (known) return known
    this.values.push(value)
    const place = `$${this.values.length}::${type}`
    this.#places.set(key, place)
    return place
  }

  /** The first moment of the local day so many days ago. */
  startOfDayBefore(days: number): Date {
    const day = new Date(Date.parse(`${this.today}T00:00:00Z`) - days * DAY_MS)
    return startOfLocalDay(day.toISOString().slice(0, 10), this.business.timezone)
  }

  /** The points that can be used; those that have expired are gone, swept or not. */
  points(): string {
    const cutoff = this.past ? undefined : inactiveSince(this.business, this.at)
    if (!cutoff) return 'c.balance'
    const inactive = `coalesce(c.last_visit_at, c.created_at) < ${this.put(cutoff, 'timestamptz')}`
    return `CASE WHEN ${inactive} THEN c.held ELSE c.balance END`
  }

  /** Estimated spend, in units of which `spend.perDollar` are a dollar. */
  weighedSpend(): string {
    const { perMinor, perPoint } = this.spend
    return `(c.spend_minor * ${this.put(perMinor, 'numeric')} + c.unpriced_points * ${this.put(perPoint, 'numeric')})`
  }

  /**
   * The customers, as `FROM` takes them: the kept aggregates, or for the past what their rows come to until then. `only`
   * is one customer's id, so that nobody else's rows are read.
   */
  customers(only?: string): string {
    const whose = (column: string) => (only === undefined ? '' : `AND ${column} = ${this.put(only, 'uuid')}`)
    if (!this.past) return `customers c WHERE c.business_id = $1 AND c.erased_at IS NULL ${whose('c.id')}`
    return `(${this.#pastCustomers(whose)}) c WHERE true`
  }

  #pastCustomers(whose: (column: string) => string): string {
    this.readsLedger = true
    const at = this.put(this.at, 'timestamptz')
    const today = this.put(this.today, 'date')
    const midnight = this.put(this.startOfDayBefore(0), 'timestamptz')
    const reversedPurchase = `(SELECT o.source FROM transactions o
      WHERE o.business_id = t.business_id AND o.id = t.reverses_id) IN (${list(PURCHASES)})`
    // FULL, because that is never done by nested loops, which would read the rows anew for every customer wherever the
    // database has no statistics yet.
    return `
      SELECT $1::uuid AS business_id, customer_id AS id, c.display_name, c.birthday, c.joined_at, c.created_at,
             NULL::uuid AS tier_id, coalesce(h.balance, 0) AS balance, 0 AS held,
             coalesce(r.redemptions, 0) AS redemption_count,
             coalesce(v.visits, 0) + coalesce(h.came_today, false)::int AS visit_count, h.last_visit_at,
             coalesce(h.spend_minor, 0) AS spend_minor, coalesce(h.unpriced_points, 0) AS unpriced_points
        FROM (
          SELECT id AS customer_id, true AS known, display_name, birthday, joined_at, created_at FROM customers
           WHERE business_id = $1 AND erased_at IS NULL ${whose('id')}
        ) c
        FULL JOIN (
          SELECT t.customer_id, true AS known,
                 sum(CASE t.type WHEN 'earn' THEN t.points ELSE -t.points END) AS balance,
                 max(t.occurred_at) FILTER (WHERE ${VISITING}) AS last_visit_at,
                 bool_or(t.occurred_at >= ${midnight}) FILTER (WHERE ${VISITING}) AS came_today,
                 sum(CASE t.type WHEN 'earn' THEN t.amount_minor ELSE -t.amount_minor END) AS spend_minor,
                 sum(CASE WHEN t.amount_minor IS NOT NULL THEN 0
                          WHEN t.type = 'earn' AND t.source IN (${list(PURCHASES)}) THEN t.points
                          WHEN t.source = 'reversal' AND ${reversedPurchase} THEN -t.points
                          ELSE 0 END) AS unpriced_points
            FROM transactions t
           WHERE t.business_id = $1 AND t.status = 'completed' AND t.occurred_at <= ${at} ${whose('t.customer_id')}
           GROUP BY t.customer_id
        ) h USING (customer_id)
        FULL JOIN (
          SELECT customer_id, count(*)::int AS visits FROM visits
           WHERE business_id = $1 AND date < ${today} ${whose('customer_id')} GROUP BY customer_id
        ) v USING (customer_id)
        FULL JOIN (
          SELECT customer_id, count(*)::int AS redemptions FROM redemptions
           WHERE business_id = $1 AND status = 'completed' AND completed_at <= ${at} ${whose('customer_id')}
           GROUP BY customer_id
        ) r USING (customer_id)
       WHERE coalesce(c.known, false) AND (c.joined_at <= ${at} OR coalesce(h.known, false))`
  }
}
