import { escapeHtml } from './markdown.js'

export const STYLE = `:root { color-scheme: light dark; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; }
nav { border-bottom: 1px solid #8886; padding-bottom: .5rem; }
nav a { margin-right: 1rem; white-space: nowrap; }
h1, h2, h3 { line-height: 1.25; }
code, pre { font: .88em/1.45 ui-monospace, monospace; }
:not(pre) > code { background: #8882; border-radius: 3px; padding: .1em .3em; }
pre { background: #8882; border-radius: 4px; overflow-x: auto; padding: .8rem; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { border: 1px solid #8886; padding: .3rem .6rem; text-align: left; vertical-align: top; }
`

/** Of pages that are read: nothing runs, nothing is loaded from elsewhere. */
export const PROSE_POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Of the page that tries routes out: its own scripts, and requests to this service alone. */
export const TRY_IT_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

export interface Link {
  title: string
  href: string
}

/** A whole page around its content. */
export const layout = (
  title: string,
  links: readonly Link[],
  content: string,
  head = '',
): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Loyalty Business API</title>
<link rel="stylesheet" href="/docs/assets/style.css">
${head}</head>
<body>
<nav>${links.map((link) => `<a href="${link.href}">${escapeHtml(link.title)}</a>`).join('\n')}</nav>
<main>
${content}</main>
</body>
</html>
`
