import * as z from 'zod'
import { CodeBatchOrigin } from '../database/generated/prisma/client.js'
import { instant, int, text, uuid } from '../graphql/bounds.js'
import { builder } from '../graphql/builder.js'
import { connectionType, nodePaths, pageArgs, pageComplexity } from '../graphql/connection.js'
import { enumOf } from '../graphql/enums.js'
import { mutation, query, selection } from '../graphql/fields.js'
import { inputType } from '../graphql/input.js'
import { createCodeBatch, deactivateCodeBatch, listCodeBatches, readCodeBatch } from './code-batches.js'

const MAX_QUANTITY = 100_000
const MAX_POINTS = 1_000_000

const CodeBatchType = builder.prismaObject('CodeBatch', {
  description: 'Claimable codes for physical products, made together (spec §2, Code batch).',
  select: { id: true, createdAt: true },
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID' }),
    businessId: t.expose('businessId', { type: 'UUID' }),
    batchRef: t.exposeString('batchRef', { description: 'A short reference, unique within the business.' }),
    name: t.exposeString('name'),
    prefix: t.exposeString('prefix', { description: 'What its codes begin with.' }),
    points: t.exposeInt('points', { description: 'That each code gives.' }),
    quantity: t.exposeInt('quantity'),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', nullable: true }),
    active: t.exposeBoolean('active'),
    createdVia: t.expose('createdVia', { type: enumOf('CodeBatchOrigin', CodeBatchOrigin) }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    failedAttempts: t.exposeInt('failedAttempts', {
      description: 'Claims of codes with its prefix that are not there.',
    }),
    claimed: t.exposeInt('claimed'),
    remaining: t.int({
      select: { quantity: true, claimed: true },
      resolve: ({ quantity, claimed }) => quantity - claimed,
    }),
    pointsIssued: t.field({
      type: 'SafeInt',
      select: { points: true, claimed: true },
      description: 'What its claimed codes gave, taken back later or not.',
      resolve: ({ points, claimed }) => points * claimed,
    }),
  }),
})

const id = { id: uuid() }
const scopes = { read: 'code_batches:read', write: 'code_batches:write' } as const

query('codeBatches', {
  description: 'The code batches of the business, newest first.',
  type: connectionType('CodeBatch', CodeBatchType),
  args: z.strictObject(pageArgs),
  scope: scopes.read,
  complexity: pageComplexity,
  resolve: (ctx, args, info) => listCodeBatches(ctx, args, selection(ctx, info, 'CodeBatch', nodePaths)),
})

query('codeBatch', {
  description: 'A code batch with its live stats.',
  type: CodeBatchType,
  args: z.strictObject(id),
  scope: scopes.read,
  errors: ['CODE_BATCH_NOT_FOUND'],
  resolve: (ctx, args, info) => readCodeBatch(ctx, args, selection(ctx, info)),
})

const CreateCodeBatch = inputType(
  'CreateCodeBatchInput',
  z.strictObject({
    name: text(1, 200),
    prefix: z
      .string('must be a string')
      .regex(/^[A-Z0-9]{1,10}$/, 'must be 1 to 10 of A-Z and 0-9')
      .describe("What its codes begin with; unique among the business's batches."),
    points: int(1, MAX_POINTS).describe('That each code gives.'),
    quantity: int(1, MAX_QUANTITY),
    expiresAt: instant().nullish().describe('When its codes cease to be good; null = never.'),
  }),
)

mutation('createCodeBatch', {
  description: 'Makes a batch with all its codes.',
  type: CodeBatchType,
  input: CreateCodeBatch,
  scope: scopes.write,
  rate: 'batches',
  errors: ['CODE_PREFIX_TAKEN'],
  resolve: (ctx, input, info) => createCodeBatch(ctx, input, selection(ctx, info)),
})

const DeactivateCodeBatch = inputType('DeactivateCodeBatchInput', z.strictObject(id))

mutation('deactivateCodeBatch', {
  description: 'Refuses all further claims of its codes, for good; what is claimed stays so.',
  type: CodeBatchType,
  input: DeactivateCodeBatch,
  scope: scopes.write,
  errors: ['CODE_BATCH_NOT_FOUND'],
  resolve: (ctx, input, info) => deactivateCodeBatch(ctx, input, selection(ctx, info)),
})
