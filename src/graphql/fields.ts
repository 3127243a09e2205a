import type { MaybePromise, ShapeFromTypeParam, TypeParam } from '@pothos/core'
import { queryFromInfo } from '@pothos/plugin-prisma'
import type { GraphQLResolveInfo } from 'graphql'
import type * as z from 'zod'
import { type Access, type Context, type RateScope, requireAccess } from '../context.js'
import type { ErrorCode } from '../errors.js'
import { builder } from './builder.js'
import { fieldsOf, inputRefOf, validated } from './input.js'

type Types = typeof builder.$inferSchemaTypes

/** What every root field says of itself; the REST facade, the limits and the documents are derived from it. */
export interface OperationFacts extends Access {
  /** The rate scope that one use counts against (spec §8). */
  rate: RateScope
  /** The refusals of its own that it may answer with. */
  errors: readonly ErrorCode[]
  /** A mutation that stores nothing: an Idempotency-Key means nothing to it. */
  storesNothing: boolean
  /** Its resolver reads which fields were asked for, to load them in one statement. */
  readsSelection: boolean
  /** A mutation of the dashboard alone that counts against no rate scope. */
  uncounted: boolean
}

interface Operation<Type extends TypeParam<Types>, Nullable extends boolean> extends Access {
  type: Type
  nullable?: Nullable
  description: string
  rate?: RateScope
  errors?: readonly ErrorCode[]
  storesNothing?: boolean
  uncounted?: boolean
}

type Result<Type extends TypeParam<Types>, Nullable extends boolean> = MaybePromise<
  ShapeFromTypeParam<Types, Type, Nullable>
>

const factsOf = (
  {
    scope,
    alsoFor,
    rate = 'default',
    errors = [],
    storesNothing = false,
    uncounted = false,
  }: Operation<never, never>,
  resolve: { length: number },
): OperationFacts => ({
  scope,
  alsoFor,
  rate,
  errors,
  storesNothing,
  uncounted,
  readsSelection: resolve.length > 2,
})

/**
 * A mutation: verb first, one `input`. Checks the actor's scope, counts the rate scope (the facade has done so
 * already), validates the input once, then makes the one domain call.
 */
export function mutation<
  S extends z.ZodObject,
  Type extends TypeParam<Types>,
  Nullable extends boolean = false,
>(
  name: string,
  options: Operation<Type, Nullable> & {
    input: S
    resolve(ctx: Context, input: z.output<S>, info: GraphQLResolveInfo): Result<Type, Nullable>
  },
): void {
  const facts = factsOf(options as never, options.resolve)
  builder.mutationField(name, (t) =>
    t.field({
      type: options.type,
      nullable: options.nullable ?? false,
      description: options.description,
      extensions: { facts },
      args: { input: t.arg({ type: inputRefOf(options.input), required: true }) },
      resolve: async (_root: unknown, args: { input: unknown }, ctx: Context, info: GraphQLResolveInfo) => {
        await admit(ctx, facts)
        return options.resolve(ctx, validated(options.input, args.input), info)
      },
    } as never),
  )
}

/** A query; `args` is a zod object whose keys become the arguments. */
export function query<S extends z.ZodObject, Type extends TypeParam<Types>, Nullable extends boolean = false>(
  name: string,
  options: Operation<Type, Nullable> & {
    args: S
    complexity?: (args: Record<string, unknown>) => { field: number; multiplier: number }
    resolve(ctx: Context, args: z.output<S>, info: GraphQLResolveInfo): Result<Type, Nullable>
  },
): void {
  const facts = factsOf(options as never, options.resolve)
  builder.queryField(name, (t) =>
    t.field({
      type: options.type,
      nullable: options.nullable ?? false,
      description: options.description,
      ...(options.complexity ? { complexity: options.complexity } : {}),
      extensions: { facts, zod: options.args },
      args: fieldsOf(name, options.args, (arg) => t.arg(arg as never)),
      resolve: async (_root: unknown, args: unknown, ctx: Context, info: GraphQLResolveInfo) => {
        requireAccess(ctx, facts)
        return options.resolve(ctx, validated(options.args, args), info)
      },
    } as never),
  )
}

/** Checks who may use a field and counts its use. Throws INSUFFICIENT_SCOPE or RATE_LIMIT_EXCEEDED. */
export async function admit(ctx: Context, facts: OperationFacts): Promise<void> {
  requireAccess(ctx, facts)
  if (!ctx.internal && !facts.uncounted) await ctx.consume(facts.rate)
}

/**
 * What Prisma must load for the fields that were asked for, so that one operation becomes as few statements as
 * possible; `paths` where the model stands deeper in the answer.
 */
export const selection = (ctx: Context, info: GraphQLResolveInfo, typeName?: string, paths?: string[][]) =>
  queryFromInfo({
    context: ctx,
    info,
    ...(typeName === undefined ? {} : { typeName }),
    ...(paths === undefined ? {} : { paths }),
  } as never) as { select?: never; include?: never }
