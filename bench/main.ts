import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { startEmbedded } from '../src/database/embedded.js'
import { compareAnswers } from './compare.js'
import { fill } from './fill.js'
import { prepare } from './prepare.js'
import {
  type Loader,
  type Measurable,
  newSecret,
  startLoader,
  startReference,
  startService,
} from './processes.js'
import { topFunctions } from './profile.js'
import { type Result, resultOf, type Sample, tableOf } from './report.js'
import { type Material, type Workload, workloads } from './workloads.js'

const HELP = `npm run bench -- [options]

Measures the service against a bare reference (node:http and pg, the same SQL) on the same data, in turns.

  --customers N     customers of the measured tenant (1000000)
  --transactions N  transactions of the measured tenant (10000000)
  --seconds N       of each measurement (4)
  --rounds N        of each measurement (4)
  --connections N   that send requests at once (16)
  --only TEXT       only the workloads whose name contains this
  --profile         also where the service spends its time; profiles go to the data folder
  --json            one JSON object instead of the table

The data is made once and kept in .data/bench, in an embedded PostgreSQL, or in the database that
BENCH_DATABASE_URL names (an empty one, or an earlier benchmark's). Ends with 1 below half of a target.`

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
const sizes = { customers: Number(options.customers), transactions: Number(options.transactions) }
const seconds = Number(options.seconds)
const rounds = Number(options.rounds)
const connections = Number(options.connections)
const chosen = workloads.filter(({ name }) => name.includes(options.only))

const FOLDER = resolve('.data/bench')
/** Compiles the code's hot paths and fills the database's caches. */
const WARM_UP_SECONDS = 1.5
/** More than can be completed in a second. */
const CODES_PER_SECOND = 6000

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

interface Servers {
  service: Measurable
  reference: Measurable
}

async function measure(
  workload: Workload,
  servers: Servers,
  loader: Loader,
  material: Material,
): Promise<Result> {
  const samples = { service: [] as Sample[], reference: [] as Sample[] }
  for (const side of ['service', 'reference'] as const)
    await sample(workload, servers[side], loader, material, WARM_UP_SECONDS)
  for (let round = 0; round < rounds; round++) {
    // Whoever comes first now comes second next time.
    const order = round % 2 === 0 ? (['service', 'reference'] as const) : (['reference', 'service'] as const)
    for (const side of order)
      samples[side].push(await sample(workload, servers[side], loader, material, seconds))
  }
  if (options.profile) await profile(workload, servers.service, loader, material)
  return resultOf(workload, samples.service, samples.reference)
}

let samplesTaken = 0

async function sample(
  { name }: Workload,
  { port, cpuMicroseconds }: Measurable,
  loader: Loader,
  material: Material,
  forSeconds: number,
): Promise<Sample> {
  const codes = name.includes('complete') ? material.codes.splice(0, CODES_PER_SECOND * forSeconds) : []
  const run = `${material.run}-${samplesTaken++}`
  const before = await cpuMicroseconds()
  const order = {
    workload: name,
    port,
    connections,
    seconds: forSeconds,
    material: { ...material, codes, run },
  }
  const measured = await loader.run(order)
  const cpu = (await cpuMicroseconds()) - before
  if (measured.failure !== undefined)
    throw new Error(`${name}: answers ${JSON.stringify(measured.statuses)}, such as ${measured.failure}`)
  return { ...measured, cpuMicroseconds: cpu }
}

async function profile(workload: Workload, service: Measurable, loader: Loader, material: Material) {
  await service.startProfile()
  await sample(workload, service, loader, material, seconds)
  const taken = await service.stopProfile()
  writeFileSync(join(FOLDER, `${workload.name.replace(/\W+/g, '-')}.cpuprofile`), JSON.stringify(taken))
  say(`\n${workload.name}`)
  for (const { name, share } of topFunctions(taken, 30))
    say(`${(share * 100).toFixed(1).padStart(6)} %  ${name}`)
}

async function main(): Promise<void> {
  mkdirSync(FOLDER, { recursive: true })
  const url = await databaseUrl()
  const began = Date.now()
  const { businessId, fresh } = await fill(url, sizes, say)
  if (fresh) say(`filled in ${((Date.now() - began) / 1000).toFixed(0)} s`)

  const secret = newSecret()
  const passes = (rounds + (options.profile ? 0.5 : 0)) * seconds + WARM_UP_SECONDS
  const codes = Math.ceil(passes * 2 * CODES_PER_SECOND)
  const { subject, material } = await prepare(url, secret, { businessId, customers: sizes.customers, codes })

  const service = await startService(url, secret, FOLDER)
  ends.push(() => service.stop())
  const reference = await startReference(url, subject)
  ends.push(() => reference.stop())
  const loader = startLoader()
  ends.push(() => loader.stop())
  await compareAnswers(service.port, reference.port, material)

  const results: Result[] = []
  for (const workload of chosen) {
    say(workload.name)
    results.push(await measure(workload, { service, reference }, loader, material))
  }
  const conditions = {
    ...sizes,
    seconds,
    rounds,
    connections,
    node: process.version,
    cores: availableParallelism(),
  }
  console.log(options.json ? JSON.stringify({ conditions, results }, null, 2) : tableOf(results))
  if (results.some(({ verdict }) => verdict === 'fail')) process.exitCode = 1
}

if (options.help) console.log(HELP)
else await main().finally(endAll)
