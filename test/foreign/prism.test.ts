import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { tour } from '../../clients/typescript/examples/tour.js'
import { sampleFor, send } from '../contract/samples.js'
import { rows, startContractApp } from '../contract/table.js'
import { thingsFor } from '../contract/things.js'
import { createTenant, restClient } from '../helpers/app.js'

/*
 * Stoplight Prism stands between client and service as a proxy that holds every request and every answer against
 * openapi.json, with another reading of OpenAPI than ours. It answers a departure by a problem of its own.
 */

const PRISM = fileURLToPath(new URL('node_modules/@stoplight/prism-cli/dist/index.js', import.meta.url))
const DOCUMENT = fileURLToPath(new URL('../../openapi.json', import.meta.url))
const testWithPrism = existsSync(PRISM) ? test : test.skip

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((listening) => server.once('listening', listening))
  const { port } = server.address() as AddressInfo
  await new Promise((closed) => server.close(closed))
  return port
}

/** The address of a Prism in front of a service, and what it says. */
async function startPrism(t: ExecutionContext, upstream: string) {
  const port = await freePort()
  const child = spawn(
    process.execPath,
    [PRISM, 'proxy', '--errors', '--port', String(port), DOCUMENT, upstream],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  t.teardown(() => child.kill('SIGKILL'))
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (said += text))
  await new Promise<void>((listening, failed) => {
    child.stdout.on('data', () => said.includes('Prism is listening') && listening())
    child.once('close', () => failed(new Error(said)))
  })
  return { url: `http://127.0.0.1:${port}`, said: () => said }
}

testWithPrism(
  'Prism finds no violation in the tour, nor in a request to every route and its answer',
  async (t) => {
    t.timeout(180_000)
    const app = await startContractApp(t)
    const tenant = await createTenant(app)
    const prism = await startPrism(t, app.url)

    const { status, balance } = await tour(prism.url, tenant.key, '2031')
    t.deepEqual([status, balance], ['completed', 20])

    const things = thingsFor(tenant)
    const rest = restClient(prism.url, tenant.key)
    for (const row of rows) {
      const answer = await send(rest, sampleFor(row, await things(row)))
      t.is(answer.status, row.status, `${row.name}: ${answer.text}`)
      // What Prism itself refuses: it has to be seen here that it looks.
      t.falsy(answer.headers.get('sl-violations'), row.name)
    }
    t.notRegex(prism.said(), /violation/i)
  },
)

testWithPrism('Prism does refuse what the document does not allow', async (t) => {
  t.timeout(60_000)
  const app = await startContractApp(t)
  const { key } = await createTenant(app)
  const prism = await startPrism(t, app.url)
  const { status, text } = await restClient(prism.url, key)('POST /rewards', { name: 1, points_cost: 1 })
  t.is(status, 422)
  t.regex(text, /must be string/)
})
