import { execFileSync } from 'node:child_process'
import { tsImport } from 'tsx/esm/api'

// Tests of the program as a process of its own start what is built.
execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-b', 'tsconfig.build.json'], {
  stdio: 'inherit',
})

// One PostgreSQL for the run, beside any that the developer's own `npm start` uses.
const { startTestServer } = await tsImport('./test/helpers/server.ts', import.meta.url)

export default {
  files: ['test/**/*.test.ts'],
  extensions: { ts: 'module' },
  nodeArguments: ['--import=tsx'],
  environmentVariables: await startTestServer(),
  // Node 20 does not take `--import` in worker threads.
  workerThreads: false,
  concurrency: 2,
  timeout: '60s',
}
