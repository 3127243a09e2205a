import SchemaBuilder from '@pothos/core'
import ComplexityPlugin from '@pothos/plugin-complexity'
import PrismaPlugin from '@pothos/plugin-prisma'
import { type GraphQLOutputType, getNamedType, isLeafType } from 'graphql'
import type { Context } from '../context.js'
import type PrismaTypes from '../database/generated/pothos.js'
import { getDatamodel } from '../database/generated/pothos.js'
import { graphLimits } from './limits.js'

/** The one schema builder; it holds no definitions (those stand beside what they define). */
export const builder = new SchemaBuilder<{
  Context: Context
  PrismaTypes: PrismaTypes
  DefaultFieldNullability: false
  DefaultInputFieldRequiredness: false
  Scalars: {
    UUID: { Input: string; Output: string }
    DateTime: { Input: Date; Output: Date | string }
    Date: { Input: string; Output: Date | string }
    Decimal: { Input: string; Output: string | { toString(): string } }
    SafeInt: { Input: number; Output: number | bigint }
    WeekSchedule: { Input: never; Output: unknown }
    RatingDistribution: { Input: never; Output: Readonly<Record<number, number>> }
    Upload: { Input: Uint8Array; Output: never }
  }
}>({
  plugins: [PrismaPlugin, ComplexityPlugin],
  defaultFieldNullability: false,
  prisma: {
    client: (ctx) => ctx.db,
    dmmf: getDatamodel(),
    filterConnectionTotalCount: true,
    onUnusedQuery: null,
  },
  complexity: {
    // Objects count one, scalars nothing; a list multiplies by its size where its field says how large it is.
    fieldComplexity: (_args: unknown, _ctx: unknown, field: { type: GraphQLOutputType }) => ({
      field: isLeafType(getNamedType(field.type)) ? 0 : 1,
      multiplier: 1,
    }),
    limit: (ctx: Context) =>
      ctx.internal ? {} : { complexity: graphLimits.complexity, depth: graphLimits.depth },
  },
})

builder.queryType({})
builder.mutationType({})
