import { TierChangeReason } from '../database/generated/prisma/client.js'
import { builder } from '../graphql/builder.js'
import { enumOf } from '../graphql/enums.js'

builder.prismaObject('TierChange', {
  description: "A customer's move from one tier to another; null = none.",
  select: { id: true, createdAt: true },
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID' }),
    from: t.relation('from', { nullable: true }),
    to: t.relation('to', { nullable: true }),
    reason: t.expose('reason', { type: enumOf('TierChangeReason', TierChangeReason) }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
})

/** Of a history that is longer nobody reads more; a customer moves a few times a year. */
const SHOWN = 100

builder.prismaObjectField('Customer', 'tierHistory', (t) =>
  t.relation('tierChanges', {
    description: `The moves between tiers, latest first, ${SHOWN} at most; tiers that were deleted are shown in it.`,
    query: { orderBy: [{ createdAt: 'desc' }, { id: 'desc' }], take: SHOWN },
  }),
)
