import { type Sql, statement } from '../database/sql.js'
import { auditChecks } from './checks.js'

/** What one check found. */
export interface AuditResult {
  name: string
  says: string
  /** How many things were looked at. */
  checked: number
  broken: number
  /** Ids of some that are broken, five at most. */
  examples: string[]
}

interface Counts {
  checked: number
  broken: number
  examples: string[] | null
}

const noTimeout = statement<never>('audit_takes_its_time', 'SET LOCAL statement_timeout = 0')

const statements = auditChecks.map(({ name, says, sql }) => ({
  name,
  says,
  count: statement<Counts>(
    `audit_${name}`,
    `SELECT count(*) AS checked, count(*) FILTER (WHERE ok IS NOT TRUE) AS broken,
            (array_agg(id) FILTER (WHERE ok IS NOT TRUE))[1:5] AS examples
       FROM (${sql}) AS looked`,
  ),
}))

/** What is audited: a database, or what one transaction sees of it. */
interface Auditable {
  transaction<T>(work: (transaction: { sql: Sql }) => Promise<T>): Promise<T>
}

/**
 * Proves every invariant of the stored data, of one business or of all. Each check is one statement, so it sees
 * one moment; it may run beside a busy service.
 */
export function audit(database: Auditable, businessId?: string): Promise<{ checks: AuditResult[] }> {
  return database.transaction(async ({ sql }) => {
    await sql.run(noTimeout, [])
    const checks: AuditResult[] = []
    for (const { name, says, count } of statements) {
      const counts = (await sql.row(count, [businessId ?? null]))!
      checks.push({ name, says, ...counts, examples: counts.examples ?? [] })
    }
    return { checks }
  })
}
