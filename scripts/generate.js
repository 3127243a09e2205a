import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, resolve } from 'node:path'

/**
 * Runs `prisma generate` where prisma/schema.prisma or the lock file has changed since the last time. Plain
 * JavaScript because every start runs it: it takes milliseconds when there is nothing to do.
 */
const STAMP = 'src/database/generated/.stamp'
const PRISMA = 'node_modules/prisma/build/index.js'

// Installed without development dependencies: what was built elsewhere is run here.
if (existsSync(PRISMA)) {
  const hash = createHash('sha256')
  for (const file of ['prisma/schema.prisma', 'package-lock.json']) hash.update(readFileSync(file))
  const current = hash.digest('hex')
  if (!existsSync(STAMP) || readFileSync(STAMP, 'utf8') !== current) {
    generate()
    writeFileSync(STAMP, current)
  }
}

function generate() {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PRISMA, 'generate'], {
    encoding: 'utf8',
    env: {
      ...process.env,
      PATH: `${resolve('node_modules/.bin')}${delimiter}${process.env.PATH}`,
      // No question about newer versions: nothing but npm goes to the network.
      CHECKPOINT_DISABLE: '1',
      PRISMA_HIDE_UPDATE_MESSAGE: '1',
    },
  })
  if (status === 0) return
  process.stderr.write(stdout + stderr)
  process.exit(1)
}
