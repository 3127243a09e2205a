import type { Measured } from './loader.js'
import type { Workload } from './workloads.js'

/** One workload on one server in one round. */
export interface Sample extends Measured {
  cpuMicroseconds: number
}

export interface Side {
  requestsPerSecond: number
  latencyMs: Measured['latencyMs']
  cpuMicrosecondsPerRequest: number
}

export interface Result {
  name: string
  service: Side
  reference: Side
  /** Service's throughput over the reference's: the median of the rounds, and the least and the greatest. */
  ratio: { median: number; min: number; max: number }
  /** Reference's processor time per request over the service's. */
  cpuRatio: number
  target?: number
  verdict: 'pass' | 'above half' | 'fail' | 'information'
}

/** Sums up the rounds; `service[n]` and `reference[n]` are neighbours in time. */
export function resultOf({ name, target }: Workload, service: Sample[], reference: Sample[]): Result {
  const ratios = service.map((sample, round) => rate(sample) / rate(reference[round]!)).sort((a, b) => a - b)
  const ratio = { median: median(ratios), min: ratios[0]!, max: ratios.at(-1)! }
  const [serviceSide, referenceSide] = [sideOf(service), sideOf(reference)]
  return {
    name,
    service: serviceSide,
    reference: referenceSide,
    ratio,
    cpuRatio: referenceSide.cpuMicrosecondsPerRequest / serviceSide.cpuMicrosecondsPerRequest,
    ...(target === undefined ? {} : { target }),
    verdict: verdictOf(ratio.median, target),
  }
}

function verdictOf(ratio: number, target: number | undefined): Result['verdict'] {
  if (target === undefined) return 'information'
  if (ratio >= target) return 'pass'
  return ratio >= target / 2 ? 'above half' : 'fail'
}

const rate = ({ requests, seconds }: Measured): number => requests / seconds

function sideOf(samples: readonly Sample[]): Side {
  const requests = samples.reduce((sum, sample) => sum + sample.requests, 0)
  const seconds = samples.reduce((sum, sample) => sum + sample.seconds, 0)
  const cpu = samples.reduce((sum, sample) => sum + sample.cpuMicroseconds, 0)
  const latency = (name: keyof Measured['latencyMs']) => median(samples.map((each) => each.latencyMs[name]))
  return {
    requestsPerSecond: requests / seconds,
    latencyMs: { p50: latency('p50'), p95: latency('p95'), p99: latency('p99') },
    cpuMicrosecondsPerRequest: cpu / requests,
  }
}

function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** The table for people. */
export function tableOf(results: readonly Result[]): string {
  const rows = [
    ['', 'req/s', 'p50 ms', 'p95 ms', 'p99 ms', 'CPU µs/req', 'ratio (min–max)', 'CPU ratio', 'target', ''],
    ...results.flatMap((result) => [
      [
        result.name,
        ...sideCells(result.service),
        `${result.ratio.median.toFixed(2)} (${result.ratio.min.toFixed(2)}–${result.ratio.max.toFixed(2)})`,
        result.cpuRatio.toFixed(2),
        result.target?.toFixed(2) ?? '',
        result.verdict,
      ],
      ['  bare reference', ...sideCells(result.reference), '', '', '', ''],
    ]),
  ]
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows
    .map((row) =>
      row
        .map((cell, column) =>
          column === 0 || column === row.length - 1
            ? cell.padEnd(widths[column]!)
            : cell.padStart(widths[column]!),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

const sideCells = ({ requestsPerSecond, latencyMs, cpuMicrosecondsPerRequest }: Side): string[] => [
  requestsPerSecond.toFixed(0),
  latencyMs.p50.toFixed(2),
  latencyMs.p95.toFixed(2),
  latencyMs.p99.toFixed(2),
  cpuMicrosecondsPerRequest.toFixed(0),
]
