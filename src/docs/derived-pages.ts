import { type GraphQLField, type GraphQLSchema, printSchema } from 'graphql'
import { errorAdvice } from '../errors.advice.js'
import { catalogue, type ErrorCode } from '../errors.js'
import type { OperationFacts } from '../graphql/fields.js'
import type { CompiledRoute } from '../rest/compile.js'

/** Pages that are made of the code, in Markdown. */

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

/** Every refusal of the catalogue: what is answered, when, and what to do. */
export function errorsPage(): string {
  const codes = Object.keys(catalogue) as ErrorCode[]
  const sections = codes.map((code) => {
    const { status, message, ...kind } = catalogue[code]
    const { when, whatToDo } = errorAdvice[code] ?? { when: 'Not described yet', whatToDo: '' }
    const text = typeof message === 'string' ? message : message('<value>')
    const kept = 'storable' in kind ? ' A retry with the same `Idempotency-Key` gets it again.' : ''
    return `## ${code}\n\n**${status}** \`${text}\`\n\n${when}.\n\n**What to do.** ${whatToDo}${kept}`
  })
  return `# Errors

A failure is answered in REST as \`{"success": false, "error": {"message"}}\` with the message below; a 429 also carries
\`type\` and \`retryAfter\`. In the graph the code stands in \`extensions.code\`. Tell failures apart by the status and the
code; what stands in words is for people. Quote \`X-Request-Id\` when you ask the operator.

${table(
  ['Code', 'Status'],
  codes.map((code) => [`[\`${code}\`](#${code.toLowerCase()})`, String(catalogue[code].status)]),
)}

${sections.join('\n\n')}
`
}

/** Every query and mutation, and the schema itself. */
export function graphPage(schema: GraphQLSchema): string {
  const list = (fields: readonly GraphQLField<unknown, unknown>[]) =>
    table(
      ['Field', 'What it does', 'Scope', 'Limit', 'Refusals'],
      fields.map(({ name, description, extensions }) => {
        const { scope, rate, errors } = extensions.facts as OperationFacts
        const refusals = errors.map((code) => `[\`${code}\`](errors.md#${code.toLowerCase()})`).join(' ')
        return [`\`${name}\``, description ?? '', scope ? `\`${scope}\`` : '', rate, refusals]
      }),
    )
  const fieldsOf = (type: ReturnType<GraphQLSchema['getQueryType']>) =>
    Object.values(type?.getFields() ?? {}).filter(({ extensions }) => extensions.facts)
  return `# The graph

\`POST /graphql\` with the same API key as in REST: \`Authorization: Bearer <key>\`. Everything that REST can do is here, and
what a dashboard needs besides. In development [GraphiQL](/graphql) runs in the browser; the schema as a file:
[schema.graphql](../schema.graphql). Every request may also be refused as any request is: see [errors](errors.md).

## Queries

${list(fieldsOf(schema.getQueryType()))}

## Mutations

${list(fieldsOf(schema.getMutationType()))}

## Schema

\`\`\`graphql
${printSchema(schema)}
\`\`\`
`
}

/** Every route in a line, for those who read without JavaScript. */
export function routesTable(routes: readonly CompiledRoute[]): string {
  const inOrder = [...routes].sort((a, b) => (a.path < b.path ? -1 : 1))
  return table(
    ['Route', 'What it does', 'Scope', 'Limit'],
    inOrder.map(({ method, path, description, facts }) => [
      `\`${method.toUpperCase()} /api/v1${path.replace(/:(\w+)/g, '{$1}')}\``,
      description,
      facts.scope ? `\`${facts.scope}\`` : '',
      facts.rate,
    ]),
  )
}
