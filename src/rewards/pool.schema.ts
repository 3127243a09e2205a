import * as z from 'zod'
import { boolean, text, uuid } from '../graphql/bounds.js'
import { builder } from '../graphql/builder.js'
import { connectionType, exportArgs, pageComplexity } from '../graphql/connection.js'
import { enumRef } from '../graphql/enums.js'
import { mutation, query } from '../graphql/fields.js'
import { inputType } from '../graphql/input.js'
import { addPoolValues, readPool, removePoolValues } from './pool.js'
import { type CodePool, codePoolOf } from './pool.rules.js'
import { listPoolValues, type PoolValueRow } from './pool-values.js'

const MAX_VALUES = 10_000

const CodePoolType = builder.objectRef<CodePool>('CodePool').implement({
  description: 'How full the code pool of a reward is.',
  fields: (t) => ({
    rewardId: t.expose('rewardId', { type: 'UUID' }),
    total: t.exposeInt('total', { description: 'All values stored: available + consumed.' }),
    available: t.exposeInt('available', {
      description: 'Values left to hand out; at 0 the reward switches itself off.',
    }),
    consumed: t.exposeInt('consumed', { description: 'Values handed out, for good.' }),
    capacity: t.exposeInt('capacity', { description: 'The most that total may be.' }),
  }),
})

builder.prismaObjectField('Reward', 'pool', (t) =>
  t.field({
    type: CodePoolType,
    nullable: true,
    description: 'Null where the values come from elsewhere.',
    select: { id: true, digitalAssetSource: true, poolAvailable: true, poolConsumed: true },
    resolve: (reward) => (reward.digitalAssetSource === 'pool' ? codePoolOf(reward) : null),
  }),
)

const PoolValue = builder.objectRef<PoolValueRow>('PoolValue').implement({
  description: 'A one-time value of a code pool.',
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID' }),
    value: t.exposeString('value'),
    status: t.field({
      type: enumRef('PoolValueStatus', ['available', 'consumed']),
      resolve: ({ redemptionId }) => (redemptionId === null ? 'available' : 'consumed'),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    consumedAt: t.expose('consumedAt', { type: 'DateTime', nullable: true }),
    redemptionId: t.expose('redemptionId', { type: 'UUID', nullable: true }),
  }),
})

const ofPool = z.strictObject({ rewardId: uuid() })
const poolErrors = ['REWARD_NOT_FOUND', 'REWARD_NOT_POOL_SOURCED'] as const

query('codePool', {
  description: 'How full the code pool of a reward is.',
  type: CodePoolType,
  args: ofPool,
  scope: 'rewards:read',
  errors: poolErrors,
  resolve: readPool,
})

query('poolValues', {
  description: 'The values of a code pool, consumed or not, oldest first.',
  type: connectionType('PoolValue', PoolValue),
  args: ofPool.extend(exportArgs),
  scope: 'rewards:read',
  errors: poolErrors,
  complexity: pageComplexity,
  resolve: listPoolValues,
})

const values = z
  .array(text(1, 500), 'must be an array')
  .min(1, 'must not be empty')
  .max(MAX_VALUES, `must have at most ${MAX_VALUES} elements`)

const AddPoolValues = inputType('AddPoolValuesInput', ofPool.extend({ values }))

const RemovePoolValues = inputType(
  'RemovePoolValuesInput',
  ofPool
    .extend({
      values: values.nullish().describe('These …'),
      all: boolean().nullish().describe('… or, if true, all.'),
    })
    .check(({ value, issues }) => {
      if ((value.values != null) === (value.all === true))
        issues.push({
          code: 'custom',
          path: [],
          message: 'provide exactly one of values or all',
          input: value,
        })
    }),
  'Which unclaimed values to remove: those given, or all.',
)

const PoolAddition = builder.objectRef<Awaited<ReturnType<typeof addPoolValues>>>('PoolAddition').implement({
  fields: (t) => ({
    added: t.exposeInt('added'),
    skipped: t.exposeInt('skipped', { description: 'Values that the pool had, or that were sent twice.' }),
    pool: t.expose('pool', { type: CodePoolType }),
  }),
})

mutation('addPoolValues', {
  description: 'Adds one-time values to the code pool of a reward.',
  type: PoolAddition,
  input: AddPoolValues,
  scope: 'rewards:write',
  errors: [...poolErrors, 'POOL_CAPACITY_EXCEEDED'],
  resolve: addPoolValues,
})

const PoolRemoval = builder.objectRef<Awaited<ReturnType<typeof removePoolValues>>>('PoolRemoval').implement({
  fields: (t) => ({
    removed: t.exposeInt('removed'),
    pool: t.expose('pool', { type: CodePoolType }),
  }),
})

mutation('removePoolValues', {
  description: 'Removes unclaimed values from the code pool of a reward.',
  type: PoolRemoval,
  input: RemovePoolValues,
  scope: 'rewards:write',
  errors: poolErrors,
  resolve: removePoolValues,
})
