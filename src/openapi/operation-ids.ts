import { Kind } from 'graphql'
import type { CompiledRoute } from '../rest/compile.js'

/**
 * The operationId of each route: the name of its query or mutation in the graph. Where several routes ask the same
 * field, the one with the shortest path has it, and the others add what their path ends with.
 */
export function operationIds(routes: readonly CompiledRoute[]): Map<CompiledRoute, string> {
  const shortestFirst = [...routes].sort((a, b) => a.path.length - b.path.length)
  const ids = new Map<CompiledRoute, string>()
  const taken = new Set<string>()
  for (const route of shortestFirst) {
    const field = fieldOf(route)
    const id = taken.has(field) ? field + lastWord(route.path) : field
    if (taken.has(id)) throw new Error(`OpenAPI: two routes are called ${id}`)
    taken.add(id)
    ids.set(route, id)
  }
  return ids
}

function fieldOf({ document, name }: CompiledRoute): string {
  const operation = document.definitions.find(({ kind }) => kind === Kind.OPERATION_DEFINITION)
  const root = operation && 'selectionSet' in operation ? operation.selectionSet.selections[0] : undefined
  if (root?.kind !== Kind.FIELD) throw new Error(`OpenAPI: ${name} asks no field`)
  return root.name.value
}

/** `/customers/:userId/pairing-qr` → `PairingQr` */
function lastWord(path: string): string {
  const literal = path.split('/').findLast((part) => part !== '' && !part.startsWith(':'))!
  return literal.replace(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
