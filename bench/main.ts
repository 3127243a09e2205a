import { mkdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { startEmbedded } from '../src/database/embedded.js'
import { compareAnswers } from './compare.js'
import { secondsOfCreation } from './creation.js'
import { fill } from './fill.js'
import { codesNeeded, measure, type Plan } from './measure.js'
import { prepare } from './prepare.js'
import { newSecret, startLoader, startReference, startService } from './processes.js'
import { type Result, tableOf } from './report.js'
import { workloads } from './workloads.js'

const HELP = `npm run bench -- [options]

Measures the service against a bare reference (node:http and pg, the same SQL) on the same data, in turns.

  --customers N     customers of the measured tenant, a multiple of 10 (1000000)
  --transactions N  transactions of the measured tenant (10000000)
  --seconds N       of each measurement (4)
  --rounds N        of each measurement (4)
  --connections N   that send requests at once (16)
  --only TEXT       only the workloads whose name contains this
  --profile         also where the service spends its time
  --json            one JSON object instead of the table

The data is made once and kept in .data/bench, in an embedded PostgreSQL, or in the database that
BENCH_DATABASE_URL names (an empty one, or an earlier benchmark's). Ends with 1 below half of a target.`

const FOLDER = resolve('.data/bench')

const { values: options } = parseArgs({
  options: {
    customers: { type: 'string', default: '1000000' },
    transactions: { type: 'string', default: '10000000' },
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '4' },
    connections: { type: 'string', default: '16' },
    only: { type: 'string', default: '' },
    profile: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

function numberOf(name: 'customers' | 'transactions' | 'seconds' | 'rounds' | 'connections'): number {
  const number = Number(options[name])
  const whole = name === 'seconds' || Number.isInteger(name === 'customers' ? number / 10 : number)
  if (!(number > 0) || !whole) throw new Error(`--${name} cannot be ${options[name]}`)
  return number
}

const say = (message: string) => process.stderr.write(`${message}\n`)

/** What has to be ended, last first. */
const ends: (() => Promise<void>)[] = []
async function endAll(): Promise<void> {
  for (const end of ends.splice(0).toReversed()) await end()
}
// A terminal and npm may both pass Ctrl-C on: what is being ended goes on ending.
let interrupted = false
process.on('SIGINT', () => {
  if (interrupted) return
  interrupted = true
  void endAll().then(() => process.exit(130))
})

async function databaseUrl(): Promise<string> {
  if (process.env.BENCH_DATABASE_URL) return process.env.BENCH_DATABASE_URL
  const log = { info: () => {}, warn: say, error: say } as never
  const embedded = await startEmbedded({ dataDir: FOLDER, log })
  ends.push(() => embedded.stop())
  return embedded.url
}

async function main(): Promise<void> {
  const sizes = { customers: numberOf('customers'), transactions: numberOf('transactions') }
  const plan: Plan = {
    seconds: numberOf('seconds'),
    rounds: numberOf('rounds'),
    connections: numberOf('connections'),
    profiles: options.profile ? FOLDER : undefined,
    say,
  }
  mkdirSync(FOLDER, { recursive: true })
  const url = await databaseUrl()
  const began = Date.now()
  const { businessId, fresh } = await fill(url, sizes, say)
  if (fresh) say(`filled in ${((Date.now() - began) / 1000).toFixed(0)} s`)

  const secret = newSecret()
  const wanted = { businessId, customers: sizes.customers, codes: codesNeeded(plan) }
  const { subject, material } = await prepare(url, secret, wanted)
  const service = await startService(url, secret, FOLDER)
  ends.push(() => service.stop())
  const reference = await startReference(url, subject)
  ends.push(() => reference.stop())
  const loader = startLoader()
  ends.push(() => loader.stop())
  await compareAnswers(service.port, reference.port, material)

  const results: Result[] = []
  for (const workload of workloads.filter(({ name }) => name.includes(options.only))) {
    say(workload.name)
    results.push(await measure(workload, { service, reference, loader, material }, plan))
  }
  const creationSeconds = await secondsOfCreation(service.port, material.apiKey)
  say(`a batch of 100,000 codes: ${creationSeconds.toFixed(1)} s`)
  const { seconds, rounds, connections } = plan
  const machine = { node: process.version, cores: availableParallelism() }
  const conditions = { ...sizes, seconds, rounds, connections, ...machine }
  console.log(
    options.json ? JSON.stringify({ conditions, results, creationSeconds }, null, 2) : tableOf(results),
  )
  if (results.some(({ verdict }) => verdict === 'fail')) process.exitCode = 1
}

if (options.help) console.log(HELP)
else await main().finally(endAll)
