import { Marked, type Tokens } from 'marked'

/** GitHub's Markdown as HTML. Headings have anchors; raw HTML is shown as text; links lead to the pages as served. */
export function htmlOf(markdown: string): string {
  return marked.parse(markdown, { async: false })
}

/** `# Webhooks` → `Webhooks` */
export const titleOf = (markdown: string): string => /^# (.+)$/m.exec(markdown)?.[1] ?? ''

/** As GitHub makes them, so that links work in both places. */
const anchorOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')

export const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** Files of the project that are served under another path than they have. */
const served: Readonly<Record<string, string>> = {
  '../schema.graphql': '/docs/schema.graphql',
  '../openapi.json': '/api/v1/openapi.json',
}

/** Where a link of a page leads; undefined = to a file that is not served. */
function addressOf(href: string): string | undefined {
  if (/^(https?:|mailto:|#|\/)/.test(href)) return href
  const page = /^(?:\.\/)?([\w-]+)\.md(#.*)?$/.exec(href)
  return page ? `/docs/${page[1]}${page[2] ?? ''}` : served[href]
}

const marked = new Marked({
  renderer: {
    heading({ tokens, depth, text }: Tokens.Heading) {
      const anchor = anchorOf(text.replaceAll('`', ''))
      return `<h${depth} id="${escapeHtml(anchor)}">${this.parser.parseInline(tokens)}</h${depth}>\n`
    },
    link({ href, tokens }: Tokens.Link) {
      const address = addressOf(href)
      const text = this.parser.parseInline(tokens)
      return address === undefined ? text : `<a href="${escapeHtml(address)}">${text}</a>`
    },
    html: ({ text }: Tokens.HTML | Tokens.Tag) => escapeHtml(text),
  },
})
