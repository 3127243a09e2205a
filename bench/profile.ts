/** What the inspector's `Profiler.stop` gives, as far as it is used. */
export interface CpuProfile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[]
  samples: number[]
  timeDeltas: number[]
}

/** The functions in which a process spent its time, most first; `share` is of the time in which it was not idle. */
export function topFunctions({ nodes, samples, timeDeltas }: CpuProfile, count: number) {
  const names = new Map(
    nodes.map(({ id, callFrame: { functionName, url, lineNumber } }) => [
      id,
      url === ''
        ? functionName
        : `${functionName || '(anonymous)'} ${url.replace(/.*\/(node_modules|dist|src|bench)\//, '')}:${lineNumber + 1}`,
    ]),
  )
  const times = new Map<string, number>()
  let busy = 0
  samples.forEach((id, index) => {
    const name = names.get(id)!
    if (name === '(idle)') return
    const time = timeDeltas[index]!
    busy += time
    times.set(name, (times.get(name) ?? 0) + time)
  })
  return [...times]
    .sort(([, a], [, b]) => b - a)
    .slice(0, count)
    .map(([name, time]) => ({ name, share: time / busy }))
}
