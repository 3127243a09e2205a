import { parseCronItems, run, type TaskList, Logger as WorkerLogger } from 'graphile-worker'
import type { Logger } from 'pino'
import type { Services } from '../context.js'
import { type MailServices, sendDueMails } from '../mail/send-due-mails.js'
import { dropIdempotencyKeys, expirePoints, expireRedemptions, settleProvisions } from './sweeps.js'

/** What the recurring work needs. */
export type JobServices = Services & MailServices

/** What runs when (cron, UTC). The schedule is kept in the database: of all instances one runs each. */
const schedule: Record<string, { match: string; sweep: (services: JobServices) => Promise<number> }> = {
  expire_redemptions: { match: '* * * * *', sweep: expireRedemptions },
  expire_points: { match: '* * * * *', sweep: expirePoints },
  settle_provisions: { match: '* * * * *', sweep: settleProvisions },
  send_mails: { match: '* * * * *', sweep: sendDueMails },
  drop_idempotency_keys: { match: '17 * * * *', sweep: dropIdempotencyKeys },
}

export interface Jobs {
  /** Lets the running sweep finish. */
  stop(): Promise<void>
}

/** The worker's own connections: it reads rows in pg's default types, and a busy service must not starve it. */
const WORKER_POOL_SIZE = 3
/** More than one, so that a sweep that waits for somebody else's server does not hold up the others. */
const SWEEPS_AT_ONCE = 3

/** Starts the recurring work in this process. */
export async function startJobs(deps: JobServices, databaseUrl: string, log: Logger): Promise<Jobs> {
  const taskList: TaskList = Object.fromEntries(
    Object.entries(schedule).map(([name, { sweep }]) => [
      name,
      async () => {
        const settled = await sweep(deps)
        if (settled > 0) log.info({ job: name, settled }, 'sweep')
      },
    ]),
  )
  const runner = await run({
    connectionString: databaseUrl,
    maxPoolSize: WORKER_POOL_SIZE,
    taskList,
    parsedCronItems: parseCronItems(
      Object.entries(schedule).map(([task, { match }]) => ({
        task,
        match,
        // A missed minute needs no second run, and two runs of one sweep at once gain nothing.
        options: { backfillPeriod: 0, jobKey: task, jobKeyMode: 'preserve_run_at', maxAttempts: 1 },
      })),
    ),
    concurrency: SWEEPS_AT_ONCE,
    noHandleSignals: true,
    logger: new WorkerLogger(() => (level, message) => {
      if (level === 'error') log.error({ message }, 'jobs')
      else if (level === 'warning') log.warn({ message }, 'jobs')
    }),
  })
  // What fails in the worker is told by its logger; unhandled, the promise would end the process.
  runner.promise.catch((error: unknown) => log.error({ err: error }, 'jobs stopped'))
  return { stop: () => runner.stop() }
}
