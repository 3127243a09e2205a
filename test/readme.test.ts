import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { type OperationDefinitionNode, parse } from 'graphql'
import { seedDemo } from '../src/demo.js'
import { graphClient, startApp } from './helpers/app.js'

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

async function seededApp(t: ExecutionContext) {
  const app = await startApp(t)
  return { app, demo: await seedDemo(app) }
}

const hasCurl = spawnSync('curl', ['--version']).status === 0
const testWithCurl = hasCurl ? test : test.skip

testWithCurl('the tour with curl answers what the README shows', async (t) => {
  const { app, demo } = await seededApp(t)
  const blocks = blocksOf('Five minutes with curl')
  const END = '--- end of block ---'
  const script = blocks
    .map(({ text }) => `${text}\necho; echo '${END}'\n`)
    .join('')
    .replace('http://127.0.0.1:3000', app.url)
    .replace('lby_live_…', demo.apiKey)
  const { stdout } = await promisify(execFile)('sh', ['-eu', '-c', script])
  const answers = stdout.split(`${END}\n`)
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
