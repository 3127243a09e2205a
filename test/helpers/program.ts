import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { ExecutionContext } from 'ava'
import { run } from '../../src/cli.js'

/** The program as a process of its own, with all that it has written so far. */
export interface Program {
  readonly child: ChildProcess
  out(): string
  err(): string
  /** Resolves when standard output or standard error has something that matches; rejects if the program ends first. */
  says(what: RegExp): Promise<string>
  readonly exited: Promise<number | null>
}

/** As `npm start` runs it; every run of the tests builds it first (ava.config.js). */
export const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

/** Starts the program with these settings and nothing of the developer's own; it ends with the test at the latest. */
export function startProgram(
  t: Pick<ExecutionContext, 'teardown'>,
  args: readonly string[],
  settings: Readonly<Record<string, string>>,
): Program {
  const child = spawn(process.execPath, [MAIN, ...args], {
    // A folder without an .env file.
    cwd: '/',
    env: { PATH: process.env.PATH, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  let out = ''
  let err = ''
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    err += text
  })
  const exited = once(child, 'close').then(([code]) => code as number | null)
  return {
    child,
    out: () => out,
    err: () => err,
    exited,
    async says(what) {
      for (;;) {
        const found = what.exec(`${out}\n${err}`)
        if (found) return found[0]
        if (child.exitCode !== null || child.signalCode !== null)
          throw new Error(`the program ended without saying ${what}:\n${out}\n${err}`)
        await sleep(20)
      }
    },
  }
}

/** What `serve --json` prints when it is ready. */
export interface Ready {
  url: string
  business_id?: string
  api_key?: string
}

/** Starts the service on a free port and waits until it is ready. */
export async function startService(
  t: Pick<ExecutionContext, 'teardown'>,
  settings: Readonly<Record<string, string>>,
): Promise<Program & { ready: Ready }> {
  const program = startProgram(t, ['serve', '--json'], { PORT: '0', ...settings })
  return { ...program, ready: JSON.parse(await program.says(/^\{"url":.*\}$/m)) as Ready }
}

export interface CommandResult {
  exitCode: number
  out: string
  err: string
  /** Standard output as the one JSON object that it has to be; undefined where it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of any command
  json: any
}

/** Runs one command line in this process. */
export async function command(
  env: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<CommandResult> {
  let out = ''
  let err = ''
  const exitCode = await run(args, {
    env,
    json: args.includes('--json'),
    out: (text) => {
      out += text
    },
    err: (text) => {
      err += text
    },
    exitCode: 0,
  })
  return { exitCode, out, err, json: /^\{.*\}\n$/.test(out) ? JSON.parse(out) : undefined }
}
