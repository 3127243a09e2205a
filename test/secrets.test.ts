import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { readConfig } from '../src/config.js'
import { OperatorError } from '../src/operator-error.js'
import { createSecrets, loadSecrets } from '../src/secrets.js'

function temporaryFolder(t: ExecutionContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'loyalty-secrets-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  return folder
}

const load = (folder: string) => loadSecrets(readConfig({ DATA_DIR: folder }))

test('a generated secret is for its owner alone, and stays', (t) => {
  const folder = temporaryFolder(t)
  const digest = load(folder).keyDigest('a key')
  t.is(statSync(join(folder, 'secret.key')).mode & 0o777, 0o600)
  t.deepEqual(load(folder).keyDigest('a key'), digest)
  t.deepEqual(readdirSync(folder), ['secret.key'])
})

test('first starts at the same moment all get the same secret', async (t) => {
  const folder = temporaryFolder(t)
  const script = `
    import { loadSecrets } from ${JSON.stringify(import.meta.resolve('../src/secrets.ts'))}
    process.stdout.write('ready ')
    await new Promise((go) => process.stdin.once('data', go))
    process.stdout.write(loadSecrets({ dataDir: ${JSON.stringify(folder)}, secretKeysPrevious: [] }).keyDigest('a key').toString('hex'))
    process.exit()`
  const starts = Array.from({ length: 4 }, () => {
    const args = [`--import=${import.meta.resolve('tsx')}`, '--input-type=module', '--eval', script]
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
    let said = ''
    child.stdout.on('data', (text) => {
      said += text
    })
    return { child, closed: once(child, 'close').then(() => said), ready: once(child.stdout, 'data') }
  })
  await Promise.all(starts.map(({ ready }) => ready))
  for (const { child } of starts) child.stdin.write('go')
  const digests = await Promise.all(starts.map(({ closed }) => closed))
  t.regex(digests[0]!, /^ready [0-9a-f]{64}$/)
  t.is(new Set(digests).size, 1)
  t.deepEqual(readdirSync(folder), ['secret.key'])
})

test('a damaged secret is refused, not replaced', (t) => {
  const folder = temporaryFolder(t)
  const file = join(folder, 'secret.key')
  writeFileSync(file, 'short')
  t.throws(() => load(folder), { instanceOf: OperatorError, message: new RegExp(file) })
  t.is(readFileSync(file, 'utf8'), 'short')
})

test('what an earlier secret sealed can be read as long as it is listed, and only then', (t) => {
  const [earlier, later] = ['e'.repeat(32), 'l'.repeat(32)]
  const sealed = createSecrets(earlier).seal('words')
  t.is(createSecrets(later, [earlier]).open(sealed), 'words')
  t.throws(() => createSecrets(later).open(sealed), { message: /SECRET_KEYS_PREVIOUS/ })
})

test('what is sealed cannot be changed', (t) => {
  const secrets = createSecrets('s'.repeat(32))
  const sealed = secrets.seal('words')
  for (const index of sealed.keys()) {
    const changed = Buffer.from(sealed)
    changed[index]! ^= 1
    t.throws(() => secrets.open(changed))
  }
})
