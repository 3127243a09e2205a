import { isDeepStrictEqual } from 'node:util'
import { type Material, workloads } from './workloads.js'

/**
 * Sends one request of each workload to both servers: throws unless both answer the same, so that what is compared
 * does the same work. Writes have answers of their own; they must have the same shape.
 */
export async function compareAnswers(
  servicePort: number,
  referencePort: number,
  material: Material,
): Promise<void> {
  for (const { name, requests } of workloads) {
    const answers: unknown[] = []
    for (const port of [servicePort, referencePort]) {
      const run = `${material.run}-compare-${port}`
      const supply = requests({
        ...material,
        customers: 1,
        run,
        codes: material.codes.splice(0, 1),
        claimCodes: material.claimCodes.splice(0, 1),
      })
      const { method, path, headers = {}, body } = supply.next().value!
      const response = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
        method,
        headers: {
          Authorization: `Bearer ${material.apiKey}`,
          ...(body ? { 'Content-Type': 'application/json' } : {}),
          ...headers,
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
      if (!response.ok) throw new Error(`${name}: ${response.status} ${await response.text()}`)
      const answer = await response.json()
      answers.push(method === 'GET' ? answer : shapeOf(answer))
    }
    if (!isDeepStrictEqual(answers[0], answers[1]))
      throw new Error(`${name}: the service and the reference answer differently: ${JSON.stringify(answers)}`)
  }
}

/** The value with its names, and the kinds of its members in their place. */
function shapeOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shapeOf(member)]))
}
