import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { runsAsRoot } from '../../src/database/embedded-account.js'
import {
  ask,
  dataFolder,
  killServer,
  launch,
  serverPid,
  temporaryDataDir,
} from '../helpers/embedded-process.js'

const permissions = (path: string) => (statSync(path).mode & 0o777).toString(8)

test('a new data folder gets a database that outlives the service and is closed to other users', async (t) => {
  const dataDir = temporaryDataDir(t)
  const service = launch(t, 'owner', dataDir)
  const { url, adopted } = await service.report
  t.false(adopted)
  await ask(url!, 'CREATE TABLE kept AS SELECT 1')
  t.is(permissions(join(dataDir, 'postgres/password')), '600')
  t.is(permissions(join(dataDir, 'postgres/data')), '700')
  t.is(permissions(join(dataDir, 'postgres/run')), '700')
  await t.throwsAsync(ask(url!.replace(/:[^:@]+@/, ':guess@'), 'SELECT 1'), { code: '28P01' })
  t.is(await service.end('SIGTERM'), 0)
  t.is(serverPid(dataDir), undefined, 'the server stops with the service')

  const second = launch(t, 'owner', dataDir)
  t.is(await ask((await second.report).url!, 'SELECT count(*)::int FROM kept'), 1)
})

test('what the service relies on is set: UTC, fsync, Unicode case mapping', async (t) => {
  const { url } = await launch(t, 'owner', temporaryDataDir(t)).report
  t.is(await ask(url!, 'SHOW timezone'), 'UTC')
  t.is(await ask(url!, 'SHOW fsync'), 'on')
  t.true(await ask(url!, `SELECT 'Müller ÉCLAIR' ILIKE 'MÜLLER é%' AND lower('Ω') = 'ω'`))
})

test('a service killed by kill -9 leaves its server to the next one, with the data', async (t) => {
  const dataDir = temporaryDataDir(t)
  const killed = launch(t, 'owner', dataDir)
  const { url } = await killed.report
  await ask(url!, 'CREATE TABLE kept AS SELECT 1')
  const server = serverPid(dataDir)
  await killed.end('SIGKILL')

  const next = launch(t, 'owner', dataDir)
  const report = await next.report
  t.true(report.adopted)
  t.is(serverPid(dataDir), server)
  t.is(await ask(report.url!, 'SELECT count(*)::int FROM kept'), 1)
  t.is(await next.end('SIGTERM'), 0)
  t.is(serverPid(dataDir), undefined, 'an adopted server is stopped as well')
})

test('killing the service and its server loses nothing that was committed', async (t) => {
  const dataDir = temporaryDataDir(t)
  const killed = launch(t, 'owner', dataDir)
  const { url: lost } = await killed.report
  await ask(lost!, 'CREATE TABLE kept AS SELECT 1')
  // A backend that is busy goes on without its server for a while, and holds its memory.
  const busy = `DO $$ DECLARE until timestamptz := clock_timestamp() + interval '4 s';
    BEGIN WHILE clock_timestamp() < until LOOP END LOOP; END $$`
  void ask(lost!, busy).catch(() => {})
  await sleep(200)
  await killed.end('SIGKILL')
  await killServer(dataDir, 'SIGKILL')

  const { url, adopted } = await launch(t, 'owner', dataDir).report
  t.false(adopted)
  t.is(await ask(url!, 'SELECT count(*)::int FROM kept'), 1)
})

test('a server that dies under the service comes back at the same address', async (t) => {
  const dataDir = temporaryDataDir(t)
  const service = launch(t, 'owner', dataDir)
  const { url } = await service.report
  await killServer(dataDir, 'SIGKILL')
  const deadline = Date.now() + 10_000
  while (Date.now() < deadline && (await ask(url!, 'SELECT 1').catch(() => 0)) !== 1) await sleep(50)
  t.is(await ask(url!, 'SELECT 1'), 1)
  await sleep(500)
  t.is((await launch(t, 'owner', dataDir).report).refused, 'DatabaseStartError', 'it has the lock again')
  t.is(await service.end('SIGTERM'), 0)
  t.is(serverPid(dataDir), undefined)
})

test('two services on one folder: the second is refused by name of the first', async (t) => {
  const dataDir = temporaryDataDir(t)
  const first = launch(t, 'owner', dataDir)
  const { url } = await first.report
  const second = launch(t, 'owner', dataDir)
  const { refused, message } = await second.report
  t.is(refused, 'DatabaseStartError')
  t.regex(message!, new RegExp(`another service \\(process ${first.pid}\\).*DATA_DIR`))
  t.is(await ask(url!, 'SELECT 1'), 1, 'the first goes on')
})

test('two first starts at the same moment end with one database and one service', async (t) => {
  const dataDir = temporaryDataDir(t)
  const gone = spawnSync('true').pid
  mkdirSync(join(dataDir, `postgres.new-${gone}-c0ffee/data`), { recursive: true })
  const reports = await Promise.all(
    [launch(t, 'owner', dataDir), launch(t, 'owner', dataDir)].map((s) => s.report),
  )
  t.is(reports.filter(({ url }) => url).length, 1)
  t.is(reports.filter(({ refused }) => refused === 'DatabaseStartError').length, 1)
  t.deepEqual(readdirSync(dataDir), ['postgres'])
})

test('a command works beside the service, and whoever leaves last stops the server', async (t) => {
  const dataDir = temporaryDataDir(t)
  const service = launch(t, 'owner', dataDir)
  const { url } = await service.report
  const command = launch(t, 'guest', dataDir)
  t.deepEqual(await command.report, { url: url!, adopted: true })
  t.is(await command.end('SIGTERM'), 0)
  t.is(await ask(url!, 'SELECT 1'), 1, 'a command that ends leaves the server to the service')

  const longer = launch(t, 'guest', dataDir)
  await longer.report
  t.is(await service.end('SIGTERM'), 0)
  t.is(await ask(url!, 'SELECT 1'), 1, 'a service that ends leaves the server to the command')
  t.is(await longer.end('SIGTERM'), 0)
  t.is(serverPid(dataDir), undefined)
})

test('a command without a service starts the server and stops it again', async (t) => {
  const dataDir = temporaryDataDir(t)
  const command = launch(t, 'guest', dataDir)
  const { url, adopted } = await command.report
  t.false(adopted)
  t.is(await ask(url!, 'SELECT 1'), 1)
  t.is(await command.end('SIGTERM'), 0)
  t.is(serverPid(dataDir), undefined)
})

test('Ctrl-C reaches the whole process group, yet the service can finish what is in flight', async (t) => {
  const service = launch(t, 'owner', temporaryDataDir(t), { group: true })
  await service.report
  const ended = service.end('SIGINT')
  t.deepEqual(await service.next(), { drained: true })
  t.is(await ended, 0)
})

test('lock files whose process id is somebody else’s by now do not keep the server from starting', async (t) => {
  const dataDir = temporaryDataDir(t)
  const killed = launch(t, 'owner', dataDir)
  await killed.report
  await killed.end('SIGKILL')
  const data = dataFolder(dataDir)!
  const { uid, gid } = statSync(data)
  await killServer(dataDir, 'SIGKILL')
  // A process of the account that PostgreSQL runs as: it takes no other for a server.
  const other = spawn('sleep', ['60'], runsAsRoot() ? { uid, gid } : {})
  t.teardown(() => other.kill())
  const stale = `${other.pid}\n${data}\n1\n5432\n${dataDir}/postgres/run\n\n1 1\nready\n`
  writeFileSync(join(data, 'postmaster.pid'), stale)
  writeFileSync(join(data, '../run/.s.PGSQL.5432.lock'), stale)

  const { url, message } = await launch(t, 'owner', dataDir).report
  t.is(message, undefined)
  t.is(await ask(url!, 'SELECT 1'), 1)
})

test('where the path of a socket would be too long, the server listens on a free loopback port', async (t) => {
  const dataDir = temporaryDataDir(t, { name: 'x'.repeat(100) })
  const service = launch(t, 'owner', dataDir)
  const { url } = await service.report
  t.regex(url!, /@127\.0\.0\.1:\d+\/loyalty$/)
  t.is(await ask(url!, 'SELECT 1'), 1)
  await service.end('SIGKILL')
  const next = launch(t, 'owner', dataDir)
  t.deepEqual(await next.report, { url: url!, adopted: true })
  t.is(await next.end('SIGTERM'), 0)
})
