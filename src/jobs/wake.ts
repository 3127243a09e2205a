import type { TransactionContext } from '../context.js'
import { statement } from '../database/sql.js'

const workerIsThere = statement<{ yes: boolean }>(
  'worker_is_there',
  `SELECT to_regnamespace('graphile_worker') IS NOT NULL AS yes`,
)
const addJob = statement<never>(
  'wake_job',
  'SELECT graphile_worker.add_job($1, job_key => $2, max_attempts => 1)',
)

/**
 * Has a job run as soon as the transaction is committed, instead of at its next minute. Where no worker has run yet
 * there is none to wake; the first will find the work.
 */
export async function wake(tx: TransactionContext, job: string): Promise<void> {
  if ((await tx.sql.row(workerIsThere, []))!.yes) await tx.sql.run(addJob, [job, `${job} at once`])
}
