/** The program: the one module with effects on import. */

// Before anything else is loaded: stack traces then name the lines of the sources.
process.setSourceMapsEnabled(true)
const { run } = await import('./cli.js')

try {
  // Settings that are in the environment already win.
  process.loadEnvFile()
} catch (error) {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
}

const args = process.argv.slice(2)
process.exitCode = await run(args, {
  env: process.env,
  json: args.includes('--json'),
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  exitCode: 0,
})
