import { tsImport } from 'tsx/esm/api'

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
