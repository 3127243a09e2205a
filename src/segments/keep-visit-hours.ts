import type { Services } from '../context.js'
import type { Transaction } from '../database/database.js'
import { statement } from '../database/sql.js'
import { HOURS_OF_WEEK, hourOfWeek } from '../ledger/visit-hours.js'
import { VISITING } from './facts.js'

/** Customers that are locked at once. */
const BATCH = 200

interface Due {
  id: string
  timezone: string
  after: string
}

const businessesDue = statement<Due>(
  'businesses_with_visit_hours_due',
  `SELECT id, timezone, visit_hours_due_after AS after FROM businesses WHERE visit_hours_due_after IS NOT NULL`,
)
const lockCustomers = statement<{ id: string; due: boolean }>(
  'lock_customers_for_visit_hours',
  `SELECT id, visit_count > 0 AND visit_hours_timezone IS DISTINCT FROM $4 AS due FROM customers
    WHERE business_id = $1 AND id > $2 ORDER BY id LIMIT $3 FOR NO KEY UPDATE`,
)
const readVisits = statement<{ id: string; at: Date }>(
  'read_visits_for_visit_hours',
  `SELECT t.customer_id AS id, t.occurred_at AS at FROM transactions t
    WHERE t.business_id = $1 AND t.customer_id = ANY ($2) AND ${VISITING}`,
)
const saveHours = statement<never>(
  'save_visit_hours',
  `UPDATE customers c SET visit_hours = kept.hours::bit(${HOURS_OF_WEEK}), visit_hours_timezone = $2
     FROM unnest($3::uuid[], $4::text[]) AS kept (id, hours) WHERE c.business_id = $1 AND c.id = kept.id`,
)
const moveOn = statement<never>(
  'move_on_with_visit_hours',
  `UPDATE businesses SET visit_hours_due_after = $4
    WHERE id = $1 AND timezone = $2 AND visit_hours_due_after = $3`,
)

/**
 * Brings the visit hours of customers to the zone of a business that has changed it (docs: decisions, Segments). What is
 * kept says its zone, so segments are right before, during and after; they are slower until it is done. Returns how many
 * customers were brought over.
 */
export async function keepVisitHours({ database }: Services): Promise<number> {
  let kept = 0
  for (const business of await database.sql.rows(businessesDue, [])) {
    let after: string | null = business.after
    while (after !== null) {
      const from: string = after
      const done = await database.transaction((open) => keepBatch(open, { ...business, after: from }))
      kept += done.kept
      after = done.after
    }
  }
  return kept
}

async function keepBatch({ sql }: Transaction, { id, timezone, after }: Due) {
  const customers = await sql.rows(lockCustomers, [id, after, BATCH, timezone])
  const hours = new Map(
    customers.filter(({ due }) => due).map((customer) => [customer.id, new Set<number>()]),
  )
  // Read after the lock, so that no visit is missed.
  if (hours.size > 0) {
    for (const { id: customer, at } of await sql.rows(readVisits, [id, [...hours.keys()]]))
      hours.get(customer)!.add(hourOfWeek(at, timezone))
    await sql.run(saveHours, [id, timezone, [...hours.keys()], [...hours.values()].map(bitsOf)])
  }
  const next = customers.length < BATCH ? null : customers.at(-1)!.id
  // Nothing is moved where the zone was changed again: whoever comes next begins anew.
  const moved = await sql.run(moveOn, [id, timezone, after, next])
  return { kept: hours.size, after: moved > 0 ? next : null }
}

const bitsOf = (hours: ReadonlySet<number>): string =>
  Array.from({ length: HOURS_OF_WEEK }, (_, hour) => (hours.has(hour) ? '1' : '0')).join('')
