import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Loader, Measurable } from './processes.js'
import { topFunctions } from './profile.js'
import { type Result, resultOf, type Sample } from './report.js'
import type { Material, Workload } from './workloads.js'

/** What runs, and what with. */
export interface Bench {
  readonly service: Measurable
  readonly reference: Measurable
  readonly loader: Loader
  readonly material: Material
}

export interface Plan {
  /** Of each measurement; a server has `rounds` of them for each workload. */
  readonly seconds: number
  readonly rounds: number
  readonly connections: number
  /** Where profiles of the service go; undefined = none are taken. */
  readonly profiles: string | undefined
  readonly say: (message: string) => void
}

/** So much of a workload before it is measured: by then its code is compiled and the database's caches are full. */
const WARM_UP_REQUESTS = 5000
const WARM_UP_SECONDS = 1.5
const WARM_UPS_MAX = 4
/** More than can be completed or claimed in a second. */
const CODES_PER_SECOND = 3000
const FUNCTIONS_SHOWN = 30

/** How many redemption codes, and how many codes of batches, the plan may use up. */
export function codesNeeded({ seconds, rounds, profiles }: Plan): number {
  const measurements = 2 * rounds + (profiles === undefined ? 0 : 1)
  return Math.ceil((measurements * seconds + 2 * WARM_UPS_MAX * WARM_UP_SECONDS) * CODES_PER_SECOND)
}

/** Measures the service and the reference in turns, so that what else the machine does meets both. */
export async function measure(workload: Workload, bench: Bench, plan: Plan): Promise<Result> {
  const sides = ['service', 'reference'] as const
  for (const side of sides) await warmUp(workload, bench[side], bench, plan)
  const samples = { service: [] as Sample[], reference: [] as Sample[] }
  for (let round = 0; round < plan.rounds; round++) {
    // Whoever comes first now comes second next time.
    for (const side of round % 2 === 0 ? sides : sides.toReversed())
      samples[side].push(await sample(workload, bench[side], bench, plan))
  }
  if (plan.profiles !== undefined) await profile(workload, bench, plan, plan.profiles)
  return resultOf(workload, samples.service, samples.reference)
}

async function warmUp(workload: Workload, server: Measurable, bench: Bench, plan: Plan): Promise<void> {
  let requests = 0
  for (let times = 0; times < WARM_UPS_MAX && requests < WARM_UP_REQUESTS; times++)
    requests += (await sample(workload, server, bench, { ...plan, seconds: WARM_UP_SECONDS })).requests
}

let samplesTaken = 0

async function sample(
  { name, uses }: Workload,
  { port, cpuMicroseconds }: Measurable,
  { loader, material }: Bench,
  { seconds, connections }: Plan,
): Promise<Sample> {
  const used = uses ? material[uses].splice(0, Math.ceil(CODES_PER_SECOND * seconds)) : []
  const run = `${material.run}-${samplesTaken++}`
  const before = await cpuMicroseconds()
  const measured = await loader.run({
    workload: name,
    port,
    connections,
    seconds,
    material: { ...material, codes: [], claimCodes: [], ...(uses && { [uses]: used }), run },
  })
  const cpu = (await cpuMicroseconds()) - before
  if (measured.failure !== undefined)
    throw new Error(`${name}: answers ${JSON.stringify(measured.statuses)}, such as ${measured.failure}`)
  return { ...measured, cpuMicroseconds: cpu }
}

/** Where the service spends its time; the whole profile goes to a file that browsers' developer tools open. */
async function profile(workload: Workload, bench: Bench, plan: Plan, folder: string): Promise<void> {
  await bench.service.startProfile()
  await sample(workload, bench.service, bench, plan)
  const taken = await bench.service.stopProfile()
  const file = join(folder, `${workload.name.replace(/\W+/g, '-')}.cpuprofile`)
  writeFileSync(file, JSON.stringify(taken))
  plan.say(`  ${file}`)
  for (const { name, share } of topFunctions(taken, FUNCTIONS_SHOWN))
    plan.say(`${(share * 100).toFixed(1).padStart(6)} %  ${name}`)
}
