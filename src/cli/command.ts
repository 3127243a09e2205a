import type * as z from 'zod'
import { readConfig } from '../config.js'
import { type FieldIssue, InvalidInput } from '../errors.js'
import { issuesOf } from '../graphql/input.js'
import { type Installation, openInstallation } from '../installation.js'
import { createLog } from '../log.js'
import { type Answer, describeAnswer } from './output.js'

/** What a run of the program is given, and what it gives back. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>
  /** `--json`: standard output gets exactly one object, on one line. */
  readonly json: boolean
  out(text: string): void
  err(text: string): void
  /** 0 = done, 1 = refused or failed, 2 = used wrongly. */
  exitCode: 0 | 1 | 2
}

/** An option has a value that is not allowed: used wrongly, as with an unknown option. */
export class InvalidOption extends Error {}

export const print = (terminal: Terminal, answer: Answer): void =>
  terminal.out(`${terminal.json ? JSON.stringify(answer) : describeAnswer(answer)}\n`)

/** Opens the installation for a command's work, prints what the work returns and closes it again. */
export async function withInstallation(
  terminal: Terminal,
  work: (installation: Installation) => Promise<Answer>,
): Promise<void> {
  // Standard output belongs to the answer, and only what is wrong is told beside it.
  const config = readConfig({ LOG_LEVEL: 'warn', ...terminal.env })
  const installation = await openInstallation(config, createLog(config.logLevel, 2), 'command')
  try {
    print(terminal, await work(installation))
  } catch (error) {
    throw error instanceof InvalidInput ? invalidOptions(error.issues) : error
  } finally {
    await installation.close()
  }
}

/** The options as the schema reads them; throws InvalidOption that names every bad one. */
export function options<S extends z.ZodObject>(schema: S, given: z.input<S>): z.output<S> {
  const parsed = schema.safeParse(given)
  if (parsed.success) return parsed.data
  throw invalidOptions(issuesOf(parsed.error, given))
}

/** Fields whose option is not simply called like them. */
const OPTION_NAMES: Readonly<Record<string, string>> = { businessId: 'business', expiresAt: 'expires' }

const invalidOptions = (issues: readonly FieldIssue[]): InvalidOption => {
  const named = issues.map(({ path, message }) => {
    const field = path.split('.')[0]!
    return `--${OPTION_NAMES[field] ?? field}: ${message}`
  })
  return new InvalidOption(named.join('; '))
}
