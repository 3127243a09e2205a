import * as z from 'zod'
import { builder } from '../graphql/builder.js'
import { query } from '../graphql/fields.js'
import { type AuditResult, audit } from './audit.js'

const AuditCheck = builder.objectRef<AuditResult>('AuditCheck').implement({
  description: 'An invariant of the stored data, and whether it holds.',
  fields: (t) => ({
    name: t.exposeString('name'),
    says: t.exposeString('says', { description: 'What holds, in words.' }),
    checked: t.expose('checked', { type: 'SafeInt' }),
    broken: t.expose('broken', {
      type: 'SafeInt',
      description: 'How many break it; anything but 0 is a fault of ours.',
    }),
    examples: t.expose('examples', { type: ['UUID'] }),
  }),
})

query('audit', {
  description:
    'Proves every invariant of the business: balances against their rows, counters against what they count.',
  type: [AuditCheck],
  args: z.strictObject({}),
  scope: 'transactions:read',
  // Reads every row of the business: as much as the largest query may ask for.
  complexity: () => ({ field: 5_000, multiplier: 1 }),
  resolve: async (ctx) => (await audit(ctx.database, ctx.business.id)).checks,
})
