import { createRequire } from 'node:module'
import { Command, CommanderError } from 'commander'
import { addBusinessCommands } from './cli/business.js'
import { InvalidOption, type Terminal } from './cli/command.js'
import { addInstallationCommands } from './cli/installation.js'
import { addKeyCommands } from './cli/key.js'
import { addRaffleCommands } from './cli/raffle.js'
import { addServeCommand } from './cli/serve.js'
import { DatabaseStartError } from './database/start-error.js'
import { OperatorError } from './operator-error.js'

const { version } = createRequire(import.meta.url)('../package.json') as { version: string }

/**
 * Runs a command line and returns the exit code: 0 = done, 1 = refused or failed, 2 = used wrongly. With `--json`
 * standard output gets exactly one object, on one line, failures (`{"error": {"message"}}`) included.
 */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const program = new Command('npm run cli --')
    .description('Operates the Loyalty Business API: docs in README.md')
    .version(version)
    .option('--json', 'print exactly one JSON object')
    .exitOverride()
    .configureOutput({ writeOut: terminal.out, writeErr: terminal.err })
  addServeCommand(program, terminal)
  addInstallationCommands(program, terminal)
  addBusinessCommands(program, terminal)
  addKeyCommands(program, terminal)
  addRaffleCommands(program, terminal)
  try {
    await program.parseAsync(args, { from: 'user' })
    return terminal.exitCode
  } catch (error) {
    return fail(error as Error, terminal)
  }
}

function fail(error: Error, terminal: Terminal): number {
  // Commander has written its words already.
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0
    report(error.message.replace(/^error: /, ''), terminal, '')
    return 2
  }
  const told = error instanceof OperatorError || error instanceof DatabaseStartError
  const usage = error instanceof InvalidOption
  report(error.message, terminal, `error: ${told || usage ? error.message : error.stack}\n`)
  return usage ? 2 : 1
}

function report(message: string, terminal: Terminal, text: string): void {
  terminal.err(text)
  if (terminal.json) terminal.out(`${JSON.stringify({ error: { message } })}\n`)
}
