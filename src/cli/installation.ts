import type { Command } from 'commander'
import { audit } from '../audit/audit.js'
import { seedDemo } from '../demo.js'
import { type Terminal, withInstallation } from './command.js'

/** `migrate`, `seed` and `audit`: what concerns the database as a whole. */
export function addInstallationCommands(program: Command, terminal: Terminal): void {
  program
    .command('migrate')
    .description("bring the database to this version's schema; the service does so itself when it starts")
    .action(() => withInstallation(terminal, async ({ migrated }) => ({ applied: migrated })))

  program
    .command('seed')
    .description(
      'add a demo business with customers, tiers, rewards and points; its API key is shown this once',
    )
    .action(() =>
      withInstallation(terminal, async (installation) => {
        const demo = await seedDemo(installation)
        return { business_id: demo.businessId, api_key: demo.apiKey }
      }),
    )

  program
    .command('audit')
    .description('prove every invariant of the stored data; ends with 1 if one is broken')
    .action(() =>
      withInstallation(terminal, async ({ database }) => {
        const { checks } = await audit(database)
        if (checks.some(({ broken }) => broken > 0)) terminal.exitCode = 1
        return {
          checks: checks.map(({ name, checked, broken, examples }) => ({ name, checked, broken, examples })),
        }
      }),
    )
}
