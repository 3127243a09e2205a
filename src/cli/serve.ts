import type { Command } from 'commander'
import { listBusinesses } from '../businesses/accounts.js'
import { readConfig } from '../config.js'
import { seedDemo } from '../demo.js'
import { createLog } from '../log.js'
import { serve } from '../serve.js'
import { print, type Terminal } from './command.js'
import { welcome } from './welcome.js'

/** `serve`: its log goes to standard output (with `--json` to standard error), the words for people to standard error. */
export function addServeCommand(program: Command, terminal: Terminal): void {
  program
    .command('serve')
    .description('run the service until SIGTERM or Ctrl-C')
    .action(async () => {
      const config = readConfig(terminal.env)
      const log = createLog(config.logLevel, terminal.json ? 2 : 1)
      await serve(config, log, async ({ url, installation }) => {
        const known = await listBusinesses(installation.database)
        // A database of the operator's own stays as it is.
        const demo =
          config.databaseUrl === undefined && known.length === 0 ? await seedDemo(installation) : undefined
        if (terminal.json)
          return print(terminal, { url, ...(demo && { business_id: demo.businessId, api_key: demo.apiKey }) })
        const businessId = demo?.businessId ?? (known.length === 1 ? known[0]!.id : undefined)
        terminal.err(welcome({ url, development: config.environment === 'development', demo, businessId }))
      })
    })
}
