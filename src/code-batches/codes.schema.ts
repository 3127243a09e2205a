import * as z from 'zod'
import { addressFields } from '../customers/address.js'
import { int, oneOf, text, uuid } from '../graphql/bounds.js'
import { builder } from '../graphql/builder.js'
import {
  connectionType,
  exportArgs,
  type Page,
  PageInfo,
  pageArgs,
  pageComplexity,
} from '../graphql/connection.js'
import { enumRef } from '../graphql/enums.js'
import { mutation, query } from '../graphql/fields.js'
import { inputType } from '../graphql/input.js'
import { PointsResult } from '../points/points.schema.js'
import { claimCode } from './claim.js'
import { printedCode } from './code.rules.js'
import { codeSheet } from './code-sheet.js'
import { type BatchCodeRow, listBatchCodes } from './codes.js'

const STATUSES = { available: 'available', claimed: 'claimed' } as const

const BatchCode = builder.objectRef<BatchCodeRow>('BatchCode').implement({
  description: 'A claimable code.',
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID' }),
    code: t.string({ resolve: ({ prefix, suffix }) => printedCode(prefix, suffix) }),
    status: t.field({
      type: enumRef('BatchCodeStatus', Object.values(STATUSES)),
      resolve: ({ claimedAt }) => (claimedAt === null ? 'available' : 'claimed'),
    }),
    claimedAt: t.expose('claimedAt', { type: 'DateTime', nullable: true }),
    userId: t.expose('customerId', { type: 'UUID', nullable: true, description: 'Who claimed it.' }),
  }),
})

const ofBatch = z.strictObject({ batchId: uuid() })
const readsCodes = {
  scope: 'code_batches:read',
  rate: 'batches',
  errors: ['CODE_BATCH_NOT_FOUND'],
} as const

query('batchCodes', {
  ...readsCodes,
  description: 'The codes of a batch, in the order in which they were made.',
  type: connectionType('BatchCode', BatchCode),
  args: ofBatch.extend({ ...exportArgs, status: oneOf('BatchCodeStatus', STATUSES).nullish() }),
  complexity: pageComplexity,
  resolve: listBatchCodes,
})

const CodeSheet = builder.objectRef<Page<BatchCodeRow>>('CodeSheet').implement({
  description: 'Codes to print and cut out.',
  fields: (t) => ({
    html: t.string({
      description: 'A whole document, 24 codes to a page of A4.',
      resolve: ({ nodes }) => codeSheet(nodes.map(({ prefix, suffix }) => printedCode(prefix, suffix))),
    }),
    pageInfo: t.field({ type: PageInfo, resolve: (page) => ({ page }) }),
  }),
})

const MAX_SHEET = 240

query('codeSheet', {
  ...readsCodes,
  description: 'The codes of a batch that nobody has claimed, as QR codes to print: some of them at a time.',
  type: CodeSheet,
  args: ofBatch.extend({
    first: int(1, MAX_SHEET).nullish().describe('How many codes (default 240).'),
    after: pageArgs.after,
  }),
  complexity: pageComplexity,
  resolve: (ctx, { batchId, first, after }) =>
    listBatchCodes(ctx, { batchId, status: 'available', first: first ?? MAX_SHEET, after }),
})

const ClaimCode = inputType(
  'ClaimCodeInput',
  z.strictObject({
    ...addressFields,
    code: text(1, 100).describe('As a person types it: any case, with or without hyphens.'),
  }),
)

mutation('claimCode', {
  description: 'Gives a customer the points of a code, once.',
  type: PointsResult,
  input: ClaimCode,
  scope: 'code_batches:write',
  errors: [
    'CUSTOMER_ADDRESS',
    'CUSTOMER_NOT_FOUND',
    'CODE_NOT_FOUND',
    'CODE_ALREADY_CLAIMED',
    'BATCH_INACTIVE',
    'BATCH_EXPIRED',
    'BALANCE_LIMIT_REACHED',
  ],
  resolve: claimCode,
})
