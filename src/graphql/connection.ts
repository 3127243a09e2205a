import type { ObjectRef } from '@pothos/core'
import type * as z from 'zod'
import { invalid } from '../errors.js'
import { int, isUuid, text } from './bounds.js'
import { builder } from './builder.js'

/**
 * Relay connections for the lists that people page through. Order is newest first (`created_at desc, id desc`);
 * a cursor is that pair, so a page costs the same however deep it lies. REST pages by `offset`.
 */

type Types = typeof builder.$inferSchemaTypes

export const DEFAULT_PAGE_SIZE = 50
const MAX_PAGE_SIZE = 100
const MAX_EXPORT_PAGE_SIZE = 1000

/** The arguments of every connection; spread into the list's own. */
export const pageArgs = {
  first: int(1, MAX_PAGE_SIZE).nullish().describe('How many, from the start (default 50).'),
  after: text(1, 200).nullish().describe('A cursor: what comes after it.'),
  last: int(1, MAX_PAGE_SIZE).nullish().describe('How many, from the end.'),
  before: text(1, 200).nullish().describe('A cursor: what comes before it.'),
  offset: int(0, 1_000_000_000)
    .nullish()
    .describe('How many to leave out first; not together with a cursor.'),
}

/** The arguments of a connection that is exported whole, and so read in longer pages. */
export const exportArgs = {
  ...pageArgs,
  first: int(1, MAX_EXPORT_PAGE_SIZE).nullish().describe('How many, from the start (default 50).'),
}

export type PageArgs = z.output<z.ZodObject<typeof pageArgs>>

/** The page that a list's arguments ask for. */
export interface PageRequest {
  limit: number
  offset: number
  /** Backwards: nodes are read oldest first and turned around. */
  backwards: boolean
  after: Cursor | undefined
  before: Cursor | undefined
}

/** Where a node stands in the order. */
export interface Cursor {
  createdAt: Date
  id: string
}

export interface Ordered {
  createdAt: Date
  id: string
}

export interface Page<Node> {
  nodes: readonly Node[]
  hasNextPage: boolean
  hasPreviousPage: boolean
  totalCount(): Promise<number>
}

const cursorOf = ({ createdAt, id }: Ordered): string =>
  Buffer.from(`${createdAt.getTime()}:${id}`).toString('base64url')

function readCursor(name: string, cursor: string | null | undefined): Cursor | undefined {
  if (cursor == null) return undefined
  const [moment = '', id] = Buffer.from(cursor, 'base64url').toString().split(':')
  if (!/^\d{1,14}$/.test(moment) || !isUuid(id)) throw invalid(name, 'is not a cursor of this list')
  return { createdAt: new Date(Number(moment)), id }
}

/** Throws InvalidInput where the arguments contradict each other. */
export function pageRequest({ first, after, last, before, offset }: PageArgs): PageRequest {
  if (first != null && last != null) throw invalid('last', 'must not be given together with first')
  if (offset != null && (after != null || before != null))
    throw invalid('offset', 'must not be given together with a cursor')
  return {
    limit: last ?? first ?? DEFAULT_PAGE_SIZE,
    offset: offset ?? 0,
    backwards: last != null,
    after: readCursor('after', after),
    before: readCursor('before', before),
  }
}

/** The page of what a query found; it was asked for one row more than `limit`, to know whether there is more. */
export function pageOf<Node>(
  request: PageRequest,
  found: Node[],
  totalCount: () => Promise<number>,
): Page<Node> {
  const more = found.length > request.limit
  const nodes = more ? found.slice(0, request.limit) : found
  if (request.backwards) nodes.reverse()
  return {
    nodes,
    totalCount,
    hasNextPage: request.backwards ? request.before !== undefined || request.offset > 0 : more,
    hasPreviousPage: request.backwards ? more : request.after !== undefined || request.offset > 0,
  }
}

/** What Prisma's findMany needs for a page, beside `where` of the list's own. */
export function prismaPage(request: PageRequest) {
  const older = ({ createdAt, id }: Cursor) => ({
    OR: [{ createdAt: { lt: createdAt } }, { createdAt, id: { lt: id } }],
  })
  const newer = ({ createdAt, id }: Cursor) => ({
    OR: [{ createdAt: { gt: createdAt } }, { createdAt, id: { gt: id } }],
  })
  const direction = request.backwards ? ('asc' as const) : ('desc' as const)
  return {
    where: {
      AND: [
        ...(request.after ? [older(request.after)] : []),
        ...(request.before ? [newer(request.before)] : []),
      ],
    },
    orderBy: [{ createdAt: direction }, { id: direction }],
    take: request.limit + 1,
    skip: request.offset,
  }
}

/** Whether there is more, and where to go on. */
export const PageInfo = builder.objectRef<{ page: Page<Ordered> }>('PageInfo').implement({
  fields: (t) => ({
    hasNextPage: t.boolean({ resolve: ({ page }) => page.hasNextPage }),
    hasPreviousPage: t.boolean({ resolve: ({ page }) => page.hasPreviousPage }),
    startCursor: t.string({
      nullable: true,
      resolve: ({ page }) => (page.nodes[0] ? cursorOf(page.nodes[0]) : null),
    }),
    endCursor: t.string({
      nullable: true,
      resolve: ({ page }) => {
        const last = page.nodes.at(-1)
        return last ? cursorOf(last) : null
      },
    }),
  }),
})

/** Declares `<Name>Connection` and `<Name>Edge` over a node type. */
export function connectionType<Node extends Ordered>(name: string, node: ObjectRef<Types, Node, Node>) {
  const edge = builder.objectRef<{ node: Node }>(`${name}Edge`).implement({
    fields: (t) => ({
      cursor: t.string({ resolve: (parent) => cursorOf(parent.node) }),
      node: t.field({ type: node, resolve: (parent) => parent.node as never }),
    }),
  })
  return builder.objectRef<Page<Node>>(`${name}Connection`).implement({
    fields: (t) => ({
      nodes: t.field({ type: [node], resolve: (page) => page.nodes as never }),
      edges: t.field({ type: [edge], resolve: (page) => page.nodes.map((each) => ({ node: each })) }),
      pageInfo: t.field({ type: PageInfo, resolve: (page) => ({ page }) }),
      totalCount: t.field({ type: 'SafeInt', resolve: (page) => page.totalCount() }),
    }),
  })
}

/** Where the nodes of a connection stand in an operation: for `selection`. */
export const nodePaths = [['nodes'], ['edges', 'node']]

/** A connection costs as many objects as it may return. */
export const pageComplexity = (args: Record<string, unknown>) => ({
  field: 1,
  multiplier: Number(args.first ?? args.last ?? DEFAULT_PAGE_SIZE),
})
