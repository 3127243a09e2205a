import type { Demo } from '../demo.js'
import { GRAPHQL_PATH } from '../graphql/endpoint.js'
import { API_PREFIX } from '../rest/engine.js'

export interface Welcome {
  url: string
  /** GraphiQL is served. */
  development: boolean
  /** Seeded by this very start. */
  demo: Demo | undefined
  /** Whose keys another one would be; undefined where there is more than one. */
  businessId: string | undefined
}

/** What a person who has started the service wants to know. */
export function welcome({ url, development, demo, businessId }: Welcome): string {
  const graph = development ? 'GraphiQL' : 'GraphQL'
  const lines = ['', 'Loyalty Business API is running.', '', `  REST      ${url}${API_PREFIX}`]
  lines.push(`  ${graph.padEnd(8)}  ${url}${GRAPHQL_PATH}`, '')
  if (demo)
    lines.push(
      'A demo business was created. Its API key is shown this once:',
      '',
      `  ${demo.apiKey}`,
      '',
      'Try it:',
      '',
      `  curl -H 'Authorization: Bearer ${demo.apiKey}' ${url}${API_PREFIX}/customers/${demo.customer}/balance`,
      '',
    )
  lines.push(
    'Another API key:',
    '',
    `  npm run cli -- key create --business ${businessId ?? '<id>'} --name laptop`,
    '',
  )
  if (!businessId) lines.push('  (npm run cli -- business list shows the ids)', '')
  lines.push('Ctrl-C stops the service; the data stays.', '')
  return lines.join('\n')
}
