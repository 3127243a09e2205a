import closeWithGrace from 'close-with-grace'
import type { Logger } from 'pino'
import { createApp } from './app.js'
import type { Config } from './config.js'
import { schema } from './graphql/schema.js'
import { listen } from './http-server.js'
import { type Installation, openInstallation } from './installation.js'
import { startJobs } from './jobs/worker.js'
import { createMailer } from './mail/mailer.js'
import { routes } from './rest/routes.js'

/** A service that takes requests. */
export interface Service {
  readonly url: string
  readonly installation: Installation
  /** Lets requests in flight finish, then ends everything; returns how many requests had to be cut off. */
  stop(): Promise<number>
}

/** Starts the service; throws OperatorError or DatabaseStartError, with nothing left running. */
async function startService(config: Config, log: Logger): Promise<Service> {
  const installation = await openInstallation(config, log, 'service')
  try {
    const app = createApp({ config, log, schema, routes, ...installation })
    installation.onClose(() => app.close())
    if (config.jobs) {
      const mailer = createMailer(config, log)
      const jobs = await startJobs({ ...installation, mailer }, installation.databaseUrl, log)
      installation.onClose(() => jobs.stop())
    }
    const server = await listen(app.koa.callback(), config)
    log.info({ url: server.url }, 'listening')
    return {
      url: server.url,
      installation,
      async stop() {
        app.drain()
        const cut = await server.drain(config.shutdownSeconds)
        await installation.close()
        return cut
      },
    }
  } catch (error) {
    await installation.close()
    throw error
  }
}

/** What ending everything but the requests may take, beside SHUTDOWN_SECONDS. */
const CLOSING_SECONDS_MAX = 60
/** npm passes a Ctrl-C on to a process that has got it from the terminal already: that is no second one. */
const SAME_SIGNAL_MS = 500

/**
 * Runs the service until SIGTERM or SIGINT, which end the process: with 0 when every request was answered. A second
 * signal ends it at once; what that leaves of the embedded database, the next start takes over.
 */
export async function serve(
  config: Config,
  log: Logger,
  ready: (service: Service) => Promise<void>,
): Promise<void> {
  const starting = startService(config, log)
  const started = starting.catch(() => undefined)
  let stopping = false
  const closing = closeWithGrace(
    {
      delay: (config.shutdownSeconds + CLOSING_SECONDS_MAX) * 1000,
      logger: { error: (reason: unknown) => log.error({ err: reason }, 'ended at once') },
      skip: ['SIGINT', 'SIGTERM'],
    },
    async ({ err }) => {
      stopping = true
      if (err) log.fatal({ err }, 'fault')
      const cut = (await (await started)?.stop()) ?? 0
      log.info({ cut }, 'stopped')
      if (cut > 0) throw new Error(`${cut} requests did not finish within SHUTDOWN_SECONDS`)
    },
  )
  let firstSignalAt: number | undefined
  const onSignal = (signal: NodeJS.Signals) => {
    if (firstSignalAt === undefined) {
      firstSignalAt = Date.now()
      log.info({ signal }, 'stopping')
      closing.close()
    } else if (Date.now() - firstSignalAt > SAME_SIGNAL_MS) process.exit(1)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal)

  try {
    const service = await starting
    if (!stopping) await ready(service)
  } catch (error) {
    // Whatever fails while we stop fails because we stop.
    if (stopping) return
    closing.uninstall()
    await (await started)?.stop()
    throw error
  }
}
