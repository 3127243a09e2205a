import { readdirSync, readFileSync } from 'node:fs'
import test from 'ava'
import { htmlOf } from '../../src/docs/markdown.js'
import { errorAdvice } from '../../src/errors.advice.js'
import { catalogue } from '../../src/errors.js'
import { rows } from '../contract/table.js'
import { startApp } from '../helpers/app.js'
import { rawRequest } from '../rest/http.js'

interface Page {
  status: number
  type: string
  policy: string | null
  text: string
}

/** Everything that can be reached from the documentation's first page and llms.txt, by path. */
async function crawl(url: string): Promise<Map<string, Page>> {
  const found = new Map<string, Page>()
  const waiting = ['/docs', '/llms.txt']
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (found.has(path)) continue
    const response = await fetch(url + path)
    const type = response.headers.get('content-type') ?? ''
    const policy = response.headers.get('content-security-policy')
    const text = await response.text()
    found.set(path, { status: response.status, type, policy, text })
    const links = type.startsWith('text/html')
      ? hrefsOf(text)
      : path === '/llms.txt'
        ? markdownLinksOf(text)
        : []
    waiting.push(...links.filter((link) => link.startsWith('/')).map((link) => link.replace(/#.*/, '')))
  }
  return found
}

const hrefsOf = (html: string): string[] =>
  [...html.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, href]) => href!)
const markdownLinksOf = (text: string): string[] =>
  [...text.matchAll(/\]\(([^)]*)\)/g)].map(([, href]) => href!)

test('every page is served, every link of one leads somewhere, and nothing is loaded from elsewhere', async (t) => {
  const { url } = await startApp(t)
  const pages = await crawl(url)
  for (const file of readdirSync(new URL('../../docs/', import.meta.url)))
    if (file.endsWith('.md')) t.true(pages.has(`/docs/${file.replace('.md', '')}`), file)
  for (const [path, { status, type, text }] of pages) {
    // GraphiQL is there in development alone.
    if (path === '/graphql') continue
    t.is(status, 200, path)
    if (!type.startsWith('text/html')) continue
    t.deepEqual(
      [...text.matchAll(/(?:src|link [^>]*href)="(?!\/)[^"]*"/g)].map(([found]) => found),
      [],
      path,
    )
    for (const href of hrefsOf(text)) {
      const [target, anchor] = href.split('#') as [string, string?]
      if (anchor) t.true(pages.get(target || path)!.text.includes(`id="${anchor}"`), `${path} → ${href}`)
    }
  }
})

test('what is prose runs nothing; what is tried out asks this service alone', async (t) => {
  const { url } = await startApp(t)
  const pages = [...(await crawl(url))].filter(([, { type }]) => type.startsWith('text/html'))
  t.true(pages.length >= 6)
  for (const [path, { policy, text }] of pages) {
    if (path === '/graphql') continue
    t.true(policy!.startsWith("default-src 'none'; "), path)
    t.notRegex(policy!, /https?:|\*|unsafe-eval/, path)
    if (path !== '/docs/rest') t.notRegex(text, /<script|<iframe| on\w+=/, path)
    t.notRegex(text, /<script>/, path)
  }
  const reference = (await (await fetch(`${url}/docs/rest`)).text()).split('<noscript>')[1]!
  for (const { method, path } of rows)
    t.true(
      reference.includes(`<code>${method.toUpperCase()} /api/v1${path.replace(/:(\w+)/g, '{$1}')}</code>`),
      path,
    )
})

test('the error reference says of every error when it comes and what to do', async (t) => {
  const { url } = await startApp(t)
  const text = await (await fetch(`${url}/docs/errors.md`)).text()
  t.deepEqual(Object.keys(errorAdvice).sort(), Object.keys(catalogue).sort())
  for (const [code, { when, whatToDo }] of Object.entries(errorAdvice)) {
    const section = text.split(`\n## ${code}\n`)[1]?.split('\n## ')[0]
    t.true(section?.includes(when) && section.includes(whatToDo), code)
    t.regex(when, /^[A-Z`].*[^.]$/, code)
    t.regex(whatToDo, /\.$/, code)
  }
})

test('a page that has not changed is not sent again, and pages are only read', async (t) => {
  const app = await startApp(t)
  const { url } = app
  const etag = (await fetch(`${url}/docs/errors`)).headers.get('etag')!
  const again = await rawRequest(app, {
    method: 'GET',
    path: '/docs/errors',
    headers: { 'if-none-match': etag },
  })
  t.deepEqual([again.status, again.body], [304, null])
  const refused = await fetch(`${url}/docs/errors`, { method: 'POST' })
  t.deepEqual([refused.status, refused.headers.get('allow')], [405, 'GET, HEAD'])
  for (const path of ['/docs/nowhere', '/docs/../package.json', '/docs/assets/index.js', '/docsx'])
    t.is((await fetch(url + path)).status, 404, path)
})

test('HTML in Markdown is text, and headings have the anchors that GitHub gives them', (t) => {
  t.notRegex(htmlOf('a <script>alert(1)</script> b <img src=x onerror=y>'), /<script|<img/)
  t.is(
    htmlOf('## Rate limits, `batches`'),
    '<h2 id="rate-limits-batches">Rate limits, <code>batches</code></h2>\n',
  )
  t.regex(htmlOf('[a](decisions.md#keys)'), /href="\/docs\/decisions#keys"/)
  t.is(htmlOf('[a](../src/app.ts)'), '<p>a</p>\n')
})

test('the README names the documentation', (t) => {
  t.regex(readFileSync(new URL('../../README.md', import.meta.url), 'utf8'), /\/docs/)
})
