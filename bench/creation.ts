import { randomCharacters } from '../src/crockford.js'

const QUANTITY = 100_000

/** How long the service takes to make a batch of 100,000 codes, the most there may be: in seconds. */
export async function secondsOfCreation(port: number, apiKey: string): Promise<number> {
  const began = performance.now()
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/code-batches`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'Benchmark', prefix: randomCharacters(10), points: 1, quantity: QUANTITY }),
  })
  if (!response.ok) throw new Error(`POST /code-batches: ${response.status} ${await response.text()}`)
  return (performance.now() - began) / 1000
}
