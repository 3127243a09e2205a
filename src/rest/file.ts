import { Readable } from 'node:stream'
import type { FieldNode, SelectionSetNode } from 'graphql'
import type { ParameterizedContext } from 'koa'
import type { CompiledRoute } from './compile.js'
import { csvLine } from './csv.js'

/**
 * Answers that are files: all nodes of a connection, read page by page while the client takes them, so that memory
 * does not grow with the file.
 */

export const fileFormats = ['csv', 'json'] as const
export type FileFormat = (typeof fileFormats)[number]

type Row = Record<string, unknown>

/** What the operation of a file's route gives under its root field. */
export interface FilePage {
  nodes: Row[]
  pageInfo: { hasNextPage: boolean; endCursor: string | null }
}

type ReadPage = (after: string | null) => Promise<FilePage>

/**
 * A client that takes nothing for this long is let go. The socket looks once per period, so that may be noticed one
 * period late.
 */
export const STALLED_AFTER_MS = 30_000

/** Sends the file. What `readPage` throws of the first page is thrown; later it cuts the connection. */
export async function sendFile(
  koa: ParameterizedContext,
  route: CompiledRoute,
  format: FileFormat,
  readPage: ReadPage,
  stalledAfterMs: number,
): Promise<void> {
  const pages = pagesAfter(await readPage(null), readPage)
  koa.status = route.status
  koa.attachment(`${[route.file, ...Object.values(koa.params)].join('-')}.${format}`)
  koa.res.setTimeout(stalledAfterMs, () => koa.res.destroy())
  koa.body = Readable.from(format === 'csv' ? csv(route.columns, pages) : json(pages))
}

async function* pagesAfter(first: FilePage, readPage: ReadPage): AsyncGenerator<Row[]> {
  for (let page = first; ; page = await readPage(page.pageInfo.endCursor)) {
    yield page.nodes
    if (!page.pageInfo.hasNextPage) return
  }
}

async function* csv(columns: readonly string[], pages: AsyncIterable<Row[]>): AsyncGenerator<string> {
  yield csvLine(columns)
  for await (const rows of pages)
    yield rows.map((row) => csvLine(columns.map((column) => row[column]))).join('')
}

async function* json(pages: AsyncIterable<Row[]>): AsyncGenerator<string> {
  let separator = '['
  for await (const rows of pages) {
    if (rows.length === 0) continue
    yield separator + JSON.stringify(rows).slice(1, -1)
    separator = ','
  }
  yield separator === '[' ? '[]' : ']'
}

/** The columns of a route's file: what its operation asks of each node, in that order. */
export function columnsOf({ selectionSet }: FieldNode): string[] {
  const nodes = fieldsOf(selectionSet).find(({ name }) => name.value === 'nodes')
  const pageInfo = fieldsOf(selectionSet).find(({ name }) => name.value === 'pageInfo')
  const position = fieldsOf(pageInfo?.selectionSet).map(({ name }) => name.value)
  if (!nodes || !position.includes('hasNextPage') || !position.includes('endCursor'))
    throw new Error('a file needs nodes, and hasNextPage and endCursor of pageInfo')
  return fieldsOf(nodes.selectionSet).map(({ alias, name }) => (alias ?? name).value)
}

const fieldsOf = (selectionSet: SelectionSetNode | undefined): FieldNode[] =>
  selectionSet?.selections.filter((selection) => selection.kind === 'Field') ?? []
