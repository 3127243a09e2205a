import * as z from 'zod'
import type { PointsImport } from '../database/generated/prisma/client.js'
import { text, uuid } from '../graphql/bounds.js'
import { builder } from '../graphql/builder.js'
import { connectionType, pageArgs, pageComplexity } from '../graphql/connection.js'
import { enumRef } from '../graphql/enums.js'
import { mutation, query } from '../graphql/fields.js'
import { inputType } from '../graphql/input.js'
import type { CsvIssue } from './points-csv.rules.js'
import {
  importPoints,
  listPointsImports,
  type PointsImportPreview,
  previewPointsImport,
  readPointsImport,
  readPointsImportResult,
} from './points-imports.js'

/** Characters of a file; a thousand rows with long descriptions fit. */
const MAX_CSV = 2_000_000

const PointsImportType = builder.objectRef<PointsImport>('PointsImport').implement({
  description: 'An uploaded CSV of points, and how far it is applied.',
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID' }),
    name: t.exposeString('name', { nullable: true }),
    status: t.field({
      type: enumRef('PointsImportStatus', ['pending', 'running', 'completed']),
      resolve: ({ completedAt, appliedCount, failedCount }) =>
        completedAt ? 'completed' : appliedCount + failedCount > 0 ? 'running' : 'pending',
    }),
    rowCount: t.exposeInt('rowCount'),
    appliedCount: t.exposeInt('appliedCount', { description: 'Rows that have their transaction.' }),
    failedCount: t.exposeInt('failedCount', {
      description: 'Rows that their account came to refuse after the file was taken in.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    completedAt: t.expose('completedAt', { type: 'DateTime', nullable: true }),
  }),
})

const PointsImportIssue = builder.objectRef<CsvIssue>('PointsImportIssue').implement({
  fields: (t) => ({
    line: t.exposeInt('line', { description: 'Of the file, whose header is line 1.' }),
    column: t.exposeString('column', { nullable: true, description: 'Null = the line as a whole.' }),
    message: t.exposeString('message'),
  }),
})

const Preview = builder.objectRef<PointsImportPreview>('PointsImportPreview').implement({
  description: 'What uploading a file would do, and everything that it would be refused for.',
  fields: (t) => ({
    rows: t.exposeInt('rows'),
    customers: t.exposeInt('customers', { description: 'How many different ones.' }),
    points: t.expose('points', {
      type: 'SafeInt',
      description: "What it would give: amounts by the customers' present tiers and promotions.",
    }),
    issues: t.expose('issues', { type: [PointsImportIssue], description: 'Empty = it would be taken in.' }),
    existing: t.field({
      type: PointsImportType,
      nullable: true,
      description: 'The import that this file is already; uploading it again gives nothing more.',
      resolve: ({ existing }) => existing,
    }),
  }),
})

const upload = z.strictObject({
  csv: text(1, MAX_CSV).describe(
    'A header, then up to 1000 rows: user_id or identifier, points or amount, and description.',
  ),
  name: text(1, 200).nullish().describe('Part of what makes two uploads the same; to give the same again.'),
})

query('pointsImportPreview', {
  description: 'A dry run of an upload; writes nothing.',
  type: Preview,
  args: upload,
  scope: 'points:write',
  resolve: previewPointsImport,
})

mutation('importPoints', {
  description:
    'Takes a CSV of points in, whole or not at all, to be applied within moments. The same file again is the same import.',
  type: PointsImportType,
  input: inputType('ImportPointsInput', upload),
  scope: 'points:write',
  uncounted: true,
  resolve: importPoints,
})

const byId = z.strictObject({ id: uuid() })

query('pointsImport', {
  description: 'An upload, and how far it is applied.',
  type: PointsImportType,
  args: byId,
  scope: 'points:read',
  errors: ['POINTS_IMPORT_NOT_FOUND'],
  resolve: readPointsImport,
})

query('pointsImportResult', {
  description: 'What came of each line of an upload, as CSV.',
  type: 'String',
  args: byId,
  scope: 'points:read',
  errors: ['POINTS_IMPORT_NOT_FOUND'],
  resolve: readPointsImportResult,
})

query('pointsImports', {
  description: 'Uploads of points, newest first.',
  type: connectionType('PointsImport', PointsImportType),
  args: z.strictObject(pageArgs),
  scope: 'points:read',
  complexity: pageComplexity,
  resolve: listPointsImports,
})
