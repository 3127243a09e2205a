import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { audit } from '../../src/audit/audit.js'
import { createTenant, type Tenant } from '../helpers/app.js'
import { createCustomer, createRaffle } from '../helpers/factories.js'
import { command } from '../helpers/program.js'
import { sharedApps } from '../helpers/shared-app.js'

// Seen failing with its guard taken out: withdrawal before the draw, the order of the list.

const apps = sharedApps(test, {})
const PYTHON = spawnSync('python3', ['--version']).status === 0
const testWithPython = PYTHON ? test : test.skip

/** A folder with the program of the documentation, and what checks a proof by it. */
async function pythonOf(t: ExecutionContext) {
  const folder = await mkdtemp(join(tmpdir(), 'loyalty-proof-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const page = await readFile(new URL('../../docs/raffle-verification.md', import.meta.url), 'utf8')
  const [, program] = /```python\n(.*?)```/s.exec(page)!
  await writeFile(join(folder, 'verify.py'), program!)
  return { folder, run: (file: string) => spawnSync('python3', [join(folder, 'verify.py'), file]) }
}

async function enter({ rest }: Tenant, raffleId: string, userId: string, entries: number): Promise<string> {
  await rest('POST /points/issue', { user_id: userId, points: 1000 })
  const { body, text } = await rest(`POST /raffles/${raffleId}/entries`, { user_id: userId, entries })
  if (!body.success) throw new Error(text)
  return body.data.entry.entrant_id
}

/** A raffle of three winners and seven people. */
async function setUp() {
  const [app] = apps()
  const tenant = await createTenant(app)
  const { id } = await createRaffle(tenant, { winners_count: 3, entries_per_user: 50 })
  const people = []
  for (const entries of [1, 50, 7, 12, 3, 3, 20]) {
    const { user_id } = await createCustomer(tenant, { display_name: 'Quux' })
    people.push({ userId: user_id as string, entrantId: await enter(tenant, id, user_id, entries), entries })
  }
  const proofText = async () => (await tenant.rest(`GET /raffles/${id}/proof`)).text
  return { app, tenant, id, people, proofText, proof: async () => JSON.parse(await proofText()).data.proof }
}

test('from the creation on only the hash of the seed is known, and nobody finds the seed in the database', async (t) => {
  const { app, tenant, id, proof } = await setUp()
  const before = await proof()
  t.regex(before.seed_hash, /^[0-9a-f]{64}$/)
  t.deepEqual(before, {
    raffle_id: id,
    algorithm: 'hmac-sha256-v1',
    seed_hash: before.seed_hash,
    seed: null,
    entries_hash: null,
    entry_list: null,
    winners_count: 3,
    drawn_at: null,
    winners: [],
  })
  const stored = await app.database.pool.query(
    'SELECT r::text AS row, sealed_seed FROM raffles r WHERE id = $1',
    [id],
  )
  await tenant.rest(`POST /raffles/${id}/end`)
  const after = await proof()
  t.is(after.seed_hash, before.seed_hash)
  const [{ row, sealed_seed }] = stored.rows
  for (const form of [after.seed, Buffer.from(after.seed).toString('hex')]) t.false(row.includes(form))
  t.is(app.secrets.open(sealed_seed), after.seed)
})

test('the proof lists every entrant by an id of this raffle alone, and names the winners that were told', async (t) => {
  const { tenant, id, people, proof, proofText } = await setUp()
  await tenant.rest(`POST /raffles/${id}/end`)
  const { entry_list, winners } = await proof()
  const lines = people.map(({ entrantId, entries }) => `${entrantId} ${entries}\n`).sort()
  t.is(entry_list, lines.join(''))
  const told = (await tenant.rest(`GET /raffles/${id}/winners`)).body.data.winners
  t.deepEqual(
    told,
    winners.map(({ rank, entrant_id }: { rank: number; entrant_id: string }) => {
      const { userId, entries } = people.find(({ entrantId }) => entrantId === entrant_id)!
      return { rank, user_id: userId, entries }
    }),
  )
  t.is(told.length, 3)
  const text = await proofText()
  for (const { userId } of people) t.false(text.includes(userId))
})

testWithPython('a program of its own finds that a proof holds, and that a forged one does not', async (t) => {
  const { tenant, id, proofText, proof } = await setUp()
  const { folder, run } = await pythonOf(t)
  await tenant.rest(`POST /raffles/${id}/end`)
  const check = async (name: string, text: string) => {
    await writeFile(join(folder, name), text)
    return run(join(folder, name))
  }
  const held = await check('proof.json', await proofText())
  t.is(held.stdout.toString().trim(), 'the proof holds', held.stderr.toString())
  const real = await proof()
  const other = await createRaffle(tenant)
  await tenant.rest(`POST /raffles/${other.id}/end`)
  const { seed } = (await tenant.rest(`GET /raffles/${other.id}/proof`)).body.data.proof
  for (const [name, forged] of Object.entries({
    seed: { seed },
    list: { entry_list: real.entry_list.replace(' 50\n', ' 5\n') },
    winners: { winners: real.winners.slice(1) },
  })) {
    const { status } = await check(name, JSON.stringify({ data: { proof: { ...real, ...forged } } }))
    t.is(status, 1, name)
  }
})

test('`raffle verify` ends with 0 for a proof that holds, as it was answered or bare, with 1 and the reason for others', async (t) => {
  const { tenant, id, proofText, proof } = await setUp()
  const folder = await mkdtemp(join(tmpdir(), 'loyalty-proof-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const verify = async (content: unknown) => {
    const file = join(folder, 'proof.json')
    await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content))
    return command({}, 'raffle', 'verify', file, '--json')
  }
  const early = await verify(await proofText())
  t.deepEqual([early.exitCode, early.json.error.message.includes('the raffle is not drawn yet')], [1, true])
  await tenant.rest(`POST /raffles/${id}/end`)
  const real = await proof()
  for (const content of [await proofText(), real]) {
    const { exitCode, json } = await verify(content)
    t.is(exitCode, 0)
    t.like(json, { raffle_id: id, holds: true, problems: [], winners: real.winners })
  }
  const forged = await verify({ ...real, winners: [...real.winners].reverse() })
  t.is(forged.exitCode, 1)
  t.deepEqual(forged.json.problems, ['the winners are not those of the draw'])
  for (const content of ['', '{}', '[]', { ...real, algorithm: 'dice' }])
    t.like(await verify(content), { exitCode: 1 })
  t.is((await command({}, 'raffle', 'verify', join(folder, 'nothing'), '--json')).exitCode, 1)
})

test('erasing a person takes the entries out of raffles that are not drawn, and leaves proofs as they are', async (t) => {
  const { app, tenant, id, people, proofText } = await setUp()
  const { rest } = tenant
  const [gone, staying] = people as [(typeof people)[number], (typeof people)[number]]
  const running = await createRaffle(tenant, { entries_per_user: 9, max_entries: 9 })
  const cancelled = await createRaffle(tenant, { entries_per_user: 9 })
  const [goneThere] = [
    await enter(tenant, running.id, gone.userId, 4),
    await enter(tenant, running.id, staying.userId, 5),
    await enter(tenant, cancelled.id, gone.userId, 2),
  ]
  await rest(`POST /raffles/${id}/end`)
  const before = await proofText()
  t.is((await rest(`DELETE /customers/${gone.userId}`)).status, 200)

  t.is(await proofText(), before)
  const shown = (await rest(`GET /raffles/${running.id}`)).body.data.raffle
  t.like(shown, { total_entries: 5, unique_entrants: 1, entries_remaining_global: 4, availability: 'open' })
  await rest(`POST /raffles/${running.id}/end`)
  const drawn = (await rest(`GET /raffles/${running.id}/proof`)).body.data.proof
  t.false(drawn.entry_list.includes(goneThere))
  t.is(drawn.winners[0].entries, 5)
  const { transactions } = (await rest('GET /transactions?limit=3')).body.data
  t.deepEqual(
    transactions
      .map(({ source, points }: { source: string; points: number }) => `${source} ${points}`)
      .sort(),
    ['erasure 2990', 'refund 20', 'refund 40'],
  )

  // Cancelled after the draw: what the person paid is given back to nobody, and the ledger still adds up.
  t.is((await rest(`POST /raffles/${id}/cancel`)).status, 200)
  await rest(`POST /raffles/${cancelled.id}/cancel`)
  const { checks } = await audit(app.database, tenant.businessId)
  t.deepEqual(
    checks.filter(({ broken }) => broken > 0),
    [],
  )
  const account = { businessId_id: { businessId: tenant.businessId, id: gone.userId } }
  t.is((await app.database.db.customer.findUniqueOrThrow({ where: account })).balance, 0)
  t.is(await proofText(), before)
})
