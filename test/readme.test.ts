import { execFile, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { type OperationDefinitionNode, parse } from 'graphql'
import { seedDemo } from '../src/demo.js'
import { graphClient, startApp, type TestAppOptions } from './helpers/app.js'
import { listen, startInternet } from './helpers/internet.js'

/** The README's tours, run as printed against the real app on the seeded database. */
const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

interface Block {
  language: string
  text: string
  /** The answer shown behind it. */
  shown: unknown
}

/** The code blocks of a section; a block of JSON is the answer to the one before it. */
function blocksOf(heading: string): Block[] {
  const section = readme.split(/^## /m).find((each) => each.startsWith(`${heading}\n`))
  if (!section) throw new Error(`README.md has no section ${heading}`)
  const blocks: Block[] = []
  for (const [, language, text] of section.matchAll(/^```(\w+)\n(.*?)^```$/gms)) {
    if (language === 'json') blocks.at(-1)!.shown = JSON.parse(text!)
    else blocks.push({ language: language!, text: text!, shown: undefined })
  }
  return blocks
}

/** Everything that is shown has to be there, and nothing else; `…` stands for what differs each time. */
function matches(t: ExecutionContext, answer: unknown, shown: unknown, where: string): void {
  if (typeof shown === 'string' && shown.includes('…')) {
    const [start] = shown.split('…') as [string]
    t.true(['string', 'number'].includes(typeof answer) && String(answer).startsWith(start), where)
  } else if (typeof shown === 'object' && shown !== null) {
    t.deepEqual(Object.keys(answer as object), Object.keys(shown), where)
    for (const [key, value] of Object.entries(shown))
      matches(t, (answer as Record<string, unknown>)[key], value, `${where}.${key}`)
  } else t.is(answer, shown, where)
}

async function seededApp(t: ExecutionContext, options?: TestAppOptions) {
  const app = await startApp(t, options)
  return { app, demo: await seedDemo(app) }
}

/** The internet in which the shop's address leads to a port of this machine, and that port, which is free. */
async function startShop(t: ExecutionContext) {
  const placeholder = createServer()
  const port = await listen(t, placeholder)
  await once(placeholder.close(), 'close')
  const internet = await startInternet(t)
  await internet.serve('shop.example.com', (asked, response) => {
    const { method, headers, url } = asked
    const forwarded = request({ host: '127.0.0.1', port, method, headers, path: url }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    asked.pipe(forwarded)
  })
  const folder = mkdtempSync(join(tmpdir(), 'loyalty-readme-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  return { network: internet.network, settings: { PORT: String(port), STORE_DIR: folder } }
}

/** Once the receiver was started: goes on when it answers, and ends it with the tour. */
const WHEN_STARTED = `trap "kill $!" EXIT; until curl -s -o /dev/null "127.0.0.1:$PORT"; do sleep 0.1; done`

const hasCurl = spawnSync('curl', ['--version']).status === 0
const testWithCurl = hasCurl ? test : test.skip

testWithCurl('the tours with curl answer what the README shows', async (t) => {
  const { network, settings } = await startShop(t)
  const { app, demo } = await seededApp(t, { network })
  const blocks = ['Five minutes with curl', 'Codes that your own shop makes'].flatMap(blocksOf)
  const END = '--- end of block ---'
  const script = blocks
    .map(({ text }) => `${text}\n${text.trimEnd().endsWith('&') ? WHEN_STARTED : ''}\necho; echo '${END}'\n`)
    .join('')
    .replace('http://127.0.0.1:3000', app.url)
    .replace('lby_live_…', demo.apiKey)
  const env = { ...process.env, ...settings }
  const { stdout } = await promisify(execFile)('sh', ['-eu', '-c', script], { env })
  const answers = stdout.replace(/^listening on .*\n/m, '').split(`${END}\n`)
  t.true(blocks.some(({ shown }) => shown !== undefined))
  for (const [index, { text, shown }] of blocks.entries())
    if (shown !== undefined) matches(t, JSON.parse(answers[index]!), shown, text.trim())
    else t.is(answers[index]!.trim(), '', text)
})

test('the tour with GraphQL answers what the README shows', async (t) => {
  const { app, demo } = await seededApp(t)
  const graph = graphClient(app.url, demo.apiKey)
  // What a reader copies out of one answer into the variables of the next.
  const known: Record<string, unknown> = {}
  for (const { text, shown } of blocksOf('The same with GraphQL')) {
    const operation = parse(text).definitions[0] as OperationDefinitionNode
    const names = operation.variableDefinitions?.map(({ variable }) => variable.name.value) ?? []
    const { data, errors } = await graph(text, Object.fromEntries(names.map((name) => [name, known[name]])))
    t.is(errors, undefined, text)
    known.reward ??= data.createReward?.id
    known.code ??= data.createRedemption?.redemption.code
    if (shown !== undefined) matches(t, data, shown, text)
  }
  t.truthy(known.code)
})
