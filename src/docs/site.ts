import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type GraphQLSchema, printSchema } from 'graphql'
import type { CompiledRoute } from '../rest/compile.js'
import { errorsPage, graphPage, routesTable } from './derived-pages.js'
import { type Link, layout, PROSE_POLICY, STYLE, TRY_IT_POLICY } from './layout.js'
import { htmlOf, titleOf } from './markdown.js'

/** What is served under a path. */
export interface Resource {
  type: string
  body: string | Buffer
  /** Content-Security-Policy; of pages alone. */
  policy?: string
}

const FOLDER = new URL('../../docs/', import.meta.url)
const REST = { title: 'REST', href: '/docs/rest' }

/**
 * The documentation by paths: every page of docs/, those that are made of the code, the REST reference, and llms.txt,
 * which lists them for machines.
 */
export function site(schema: GraphQLSchema, routes: readonly CompiledRoute[]): Map<string, Resource> {
  const pages: Record<string, string> = {
    graph: graphPage(schema),
    errors: errorsPage(),
    ...writtenPages(),
  }
  const links: Link[] = [
    { title: 'Documentation', href: '/docs' },
    REST,
    ...Object.entries(pages).map(([name, text]) => ({ title: titleOf(text), href: `/docs/${name}` })),
  ]
  const resources = new Map<string, Resource>([
    ['/docs', page('Documentation', links, indexOf(links.slice(1)))],
    [REST.href, restReference(links, routes)],
    ['/docs/schema.graphql', { type: 'text/plain; charset=utf-8', body: printSchema(schema) }],
    ['/llms.txt', { type: 'text/plain; charset=utf-8', body: llmsText(pages) }],
    ['/docs/assets/style.css', { type: 'text/css; charset=utf-8', body: STYLE }],
    ['/docs/assets/rest.js', { type: 'text/javascript; charset=utf-8', body: START_SWAGGER_UI }],
    ['/docs/assets/swagger-ui.css', { type: 'text/css; charset=utf-8', body: swaggerUi('swagger-ui.css') }],
    [
      '/docs/assets/swagger-ui-bundle.js',
      { type: 'text/javascript; charset=utf-8', body: swaggerUi('swagger-ui-bundle.js') },
    ],
  ])
  for (const [name, text] of Object.entries(pages)) {
    resources.set(`/docs/${name}`, page(titleOf(text), links, htmlOf(text)))
    resources.set(`/docs/${name}.md`, { type: 'text/markdown; charset=utf-8', body: text })
  }
  return resources
}

const page = (title: string, links: readonly Link[], content: string): Resource => ({
  type: 'text/html; charset=utf-8',
  body: layout(title, links, content),
  policy: PROSE_POLICY,
})

const writtenPages = (): Record<string, string> =>
  Object.fromEntries(
    readdirSync(FOLDER)
      .filter((file) => file.endsWith('.md'))
      .sort()
      .map((file) => [file.replace(/\.md$/, ''), readFileSync(new URL(file, FOLDER), 'utf8')]),
  )

const indexOf = (links: readonly Link[]): string =>
  htmlOf(`# Loyalty Business API

${links.map(({ title, href }) => `- [${title}](${href})`).join('\n')}

For machines: [openapi.json](../openapi.json), [schema.graphql](../schema.graphql), [llms.txt](/llms.txt); every page is
also there as Markdown, \`.md\` behind its address.
`)

const START_SWAGGER_UI = `SwaggerUIBundle({
  url: '/api/v1/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'none',
  defaultModelsExpandDepth: -1,
  showExtensions: true,
  validatorUrl: null,
})
`

const require = createRequire(import.meta.url)
const swaggerUi = (file: string): Buffer => readFileSync(require.resolve(`swagger-ui-dist/${file}`))

function restReference(links: readonly Link[], routes: readonly CompiledRoute[]): Resource {
  const content = `<div id="reference"></div>
<noscript>${htmlOf(`# REST\n\nThe whole reference: [openapi.json](../openapi.json).\n\n${routesTable(routes)}`)}</noscript>
<script src="/docs/assets/swagger-ui-bundle.js"></script>
<script src="/docs/assets/rest.js"></script>
`
  const head = '<link rel="stylesheet" href="/docs/assets/swagger-ui.css">\n'
  return {
    type: 'text/html; charset=utf-8',
    body: layout('REST', links, content, head),
    policy: TRY_IT_POLICY,
  }
}

/** https://llmstxt.org */
const llmsText = (pages: Readonly<Record<string, string>>): string => `# Loyalty Business API

> A loyalty program as one REST contract and one GraphQL graph: points, rewards, redemptions, customers, transactions. Send
> \`Authorization: Bearer <API key>\`; REST lies below /api/v1, the graph at /graphql.

## Contract

- [OpenAPI 3.1](/api/v1/openapi.json): every route, with a real example
- [GraphQL schema](/docs/schema.graphql): the whole graph

## Documentation

${Object.entries(pages)
  .map(([name, text]) => `- [${titleOf(text)}](/docs/${name}.md)`)
  .join('\n')}
`
