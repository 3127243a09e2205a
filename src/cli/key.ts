import type { Command } from 'commander'
import * as z from 'zod'
import { createApiKey, listApiKeys, NewKey, revokeApiKeys } from '../businesses/accounts.js'
import { name } from '../businesses/bounds.js'
import { isCalendarDate, parseInstant, uuid } from '../graphql/bounds.js'
import { InvalidOption, options, type Terminal, withInstallation } from './command.js'

const BUSINESS = ['--business <id>', 'the business that owns the keys'] as const

/** `key create|list|revoke` */
export function addKeyCommands(program: Command, terminal: Terminal): void {
  const key = program.command('key').description('the API keys of a business')

  key
    .command('create')
    .description('add an API key, which is shown this once')
    .requiredOption(...BUSINESS)
    .requiredOption('--name <name>', 'what it is for, 1 to 200 characters')
    .option('--scopes <list>', 'e.g. customers:read,points:write (default: full access)')
    .option(
      '--expires <date>',
      'its first moment without effect: YYYY-MM-DD (UTC) or a timestamp (default: never)',
    )
    .action((given: { business: string; name: string; scopes?: string; expires?: string }) => {
      const asked = options(NewKey, {
        businessId: given.business,
        name: given.name,
        scopes: given.scopes?.split(',').filter(Boolean) as z.input<typeof NewKey>['scopes'],
        expiresAt: given.expires === undefined ? undefined : readMoment(given.expires),
      })
      return withInstallation(terminal, async ({ database, secrets, clock }) => {
        const created = await createApiKey(database, secrets, asked, clock.now())
        return {
          business_id: asked.businessId,
          key_id: created.id,
          name: asked.name,
          scopes: asked.scopes ?? [],
          expires_at: asked.expiresAt ?? null,
          api_key: created.key,
        }
      })
    })

  key
    .command('list')
    .description('list the keys of a business, oldest first; a key itself is never shown again')
    .requiredOption(...BUSINESS)
    .action((given: { business: string }) => {
      const { businessId } = options(z.object({ businessId: uuid() }), { businessId: given.business })
      return withInstallation(terminal, async ({ database }) => ({
        keys: (await listApiKeys(database, businessId)).map((each) => ({
          key_id: each.id,
          name: each.name,
          prefix: each.prefix,
          scopes: each.scopes,
          created_at: each.createdAt,
          last_used_at: each.lastUsedAt,
          expires_at: each.expiresAt,
          revoked_at: each.revokedAt,
        })),
      }))
    })

  key
    .command('revoke')
    .description('end a key for good: the one of this id, or all of this name')
    .requiredOption(...BUSINESS)
    .option('--id <id>', 'the key_id that create and list show')
    .option('--name <name>', 'or the name')
    .action((given: { business: string; id?: string; name?: string }) => {
      if ((given.id === undefined) === (given.name === undefined))
        throw new InvalidOption('give exactly one of --id and --name')
      const { businessId, ...asked } = options(
        z.object({ businessId: uuid(), id: uuid().optional(), name: name().optional() }),
        { businessId: given.business, id: given.id, name: given.name },
      )
      const which = asked.id === undefined ? { name: asked.name! } : { id: asked.id }
      return withInstallation(terminal, async ({ database, clock }) => ({
        business_id: businessId,
        revoked: await revokeApiKeys(database, businessId, which, clock.now()),
      }))
    })
}

/** What is neither a date nor a timestamp becomes an invalid Date, which validation refuses by name. */
const readMoment = (text: string): Date =>
  (isCalendarDate(text) ? parseInstant(`${text}T00:00:00Z`) : parseInstant(text)) ?? new Date(Number.NaN)
