import { readFileSync } from 'node:fs'

/** What a route was asked and answered in a run of the tests (`npm run examples:record`). */
export interface Example {
  /** The JSON body; absent where there was none. */
  request?: unknown
  /** The JSON answer, or the text of the file. */
  response: unknown
}

/** By the names of the routes, `GET /rewards/:id`. */
export type Examples = Readonly<Record<string, Example | undefined>>

export const EXAMPLES_FILE = new URL('../../docs/examples.json', import.meta.url)

export const readExamples = (): Examples => JSON.parse(readFileSync(EXAMPLES_FILE, 'utf8')) as Examples
