import { parseCronItems, run, type TaskList, Logger as WorkerLogger } from 'graphile-worker'
import pg from 'pg'
import type { Logger } from 'pino'
import type { Services } from '../context.js'
import { type MailServices, sendDueMails } from '../mail/send-due-mails.js'
import { applyPointsImports } from '../points-imports/apply-points-imports.js'
import { drawDueRaffles, refundCancelledRaffles } from '../raffles/raffle-sweeps.js'
import { keepVisitHours } from '../segments/keep-visit-hours.js'
import { settleReferrals } from '../tiers/referrals.js'
import { downgradeTiers, recalculateTiers } from '../tiers/tier-sweeps.js'
import { closeTransactionDays } from '../transactions/transaction-days.js'
import { dropIdempotencyKeys, expirePoints, expireRedemptions, settleProvisions } from './sweeps.js'

/** What the recurring work needs. */
export type JobServices = Services & MailServices

interface Job {
  /** Cron, UTC. */
  match: string
  /** Runs between the minutes, which are all that cron knows: so long after each that it matches. */
  againAfterSeconds?: readonly number[]
  sweep: (services: JobServices) => Promise<number>
}

/** What runs when. The schedule is kept in the database: of all instances one runs each. */
const schedule: Record<string, Job> = {
  expire_redemptions: { match: '* * * * *', sweep: expireRedemptions },
  expire_points: { match: '* * * * *', sweep: expirePoints },
  // What a crash leaves is settled within a minute, and a lease runs for 20 seconds of it.
  settle_provisions: { match: '* * * * *', againAfterSeconds: [20, 40], sweep: settleProvisions },
  // Within a minute of its end a raffle is drawn (docs: decisions, Raffles).
  draw_raffles: { match: '* * * * *', againAfterSeconds: [20, 40], sweep: drawDueRaffles },
  refund_raffles: { match: '* * * * *', sweep: refundCancelledRaffles },
  send_mails: { match: '* * * * *', sweep: sendDueMails },
  apply_points_imports: { match: '* * * * *', sweep: applyPointsImports },
  close_transaction_days: { match: '7 * * * *', sweep: closeTransactionDays },
  recalculate_tiers: { match: '* * * * *', sweep: recalculateTiers },
  settle_referrals: { match: '* * * * *', sweep: settleReferrals },
  downgrade_tiers: { match: '23 3 * * *', sweep: downgradeTiers },
  keep_visit_hours: { match: '* * * * *', sweep: keepVisitHours },
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
    Object.entries(schedule).map(([name, { sweep, againAfterSeconds = [] }]) => [
      name,
      async (payload, { addJob }) => {
        if (isOfCron(payload))
          for (const seconds of againAfterSeconds)
            await addJob(name, {}, { ...ONCE, runAt: inSeconds(seconds), jobKey: `${name} +${seconds} s` })
        const settled = await sweep(deps)
        if (settled > 0) log.info({ job: name, settled }, 'sweep')
      },
    ]),
  )
  const pool = openPool(databaseUrl, log)
  const runner = await run({
    pgPool: pool,
    taskList,
    parsedCronItems: parseCronItems(
      Object.entries(schedule).map(([task, { match }]) => ({
        task,
        match,
        // A missed minute needs no second run, and two runs of one sweep at once gain nothing.
        options: { ...ONCE, backfillPeriod: 0, jobKey: task, jobKeyMode: 'preserve_run_at' },
      })),
    ),
    concurrency: SWEEPS_AT_ONCE,
    noHandleSignals: true,
    logger: new WorkerLogger(() => (level, message) => {
      if (level === 'error') log.error({ message }, 'jobs')
      else if (level === 'warning') log.warn({ message }, 'jobs')
    }),
  }).catch(async (error: unknown) => {
    await pool.end()
    throw error
  })
  // What fails in the worker is told by its logger; unhandled, the promise would end the process.
  runner.promise.catch((error: unknown) => log.error({ err: error }, 'jobs stopped'))
  return {
    async stop() {
      await runner.stop()
      await pool.end()
    },
  }
}

/** A pool that the worker made itself would not be waited for when it stops, and then lose its error handlers. */
function openPool(connectionString: string, log: Logger): pg.Pool {
  const pool = new pg.Pool({ connectionString, max: WORKER_POOL_SIZE })
  pool.on('error', (error) => log.warn({ err: error }, 'a database connection of the jobs was lost'))
  // One that is in use tells whoever uses it.
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/** What fails comes again with the next run. */
const ONCE = { maxAttempts: 1 }
const isOfCron = (payload: unknown): boolean =>
  typeof payload === 'object' && payload !== null && '_cron' in payload
const inSeconds = (seconds: number): Date => new Date(Date.now() + seconds * 1000)
