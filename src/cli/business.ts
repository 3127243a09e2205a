import type { Command } from 'commander'
import { createApiKey, createBusiness, listBusinesses, NewBusiness } from '../businesses/accounts.js'
import { options, type Terminal, withInstallation } from './command.js'

/** `business create|list` */
export function addBusinessCommands(program: Command, terminal: Terminal): void {
  const business = program.command('business').description('the businesses of this installation')

  business
    .command('create')
    .description('add a business with an API key of full access, which is shown this once')
    .requiredOption('--name <name>', '1 to 200 characters')
    .requiredOption('--email <address>', 'whom to write to about the program')
    .requiredOption('--country <code>', 'ISO 3166-1 alpha-2, e.g. DE')
    .option('--timezone <zone>', 'IANA time zone in which its rules are judged (default: UTC)')
    .option('--currency <code>', 'ISO 4217, e.g. EUR (default: USD)')
    .action((given) => {
      const asked = options(NewBusiness, given)
      return withInstallation(terminal, ({ database, secrets, clock }) =>
        database.transaction(async (store) => {
          const now = clock.now()
          const businessId = await createBusiness(store, asked, now)
          const { id, key } = await createApiKey(store, secrets, { businessId, name: 'default' }, now)
          return { business_id: businessId, name: asked.name, key_id: id, api_key: key }
        }),
      )
    })

  business
    .command('list')
    .description('list the businesses, oldest first')
    .action(() =>
      withInstallation(terminal, async ({ database }) => ({
        businesses: (await listBusinesses(database)).map((each) => ({
          business_id: each.id,
          name: each.name,
          email: each.email,
          status: each.status,
          country: each.country,
          timezone: each.timezone,
          currency: each.currency,
          created_at: each.createdAt,
        })),
      })),
    )
}
