import test, { type ExecutionContext } from 'ava'
import pg from 'pg'
import pino from 'pino'
import { audit } from '../../src/audit/audit.js'
import { startJobs } from '../../src/jobs/worker.js'
import { applyPointsImports } from '../../src/points-imports/apply-points-imports.js'
import { createTenant, startApp, TEST_SECRET, type Tenant, type TestApp } from '../helpers/app.js'
import { createCustomer } from '../helpers/factories.js'
import { untilWaiting } from '../helpers/locks.js'
import { startService } from '../helpers/program.js'

const IMPORT = `mutation ($input: ImportPointsInput!) {
  importPoints(input: $input) { id status rowCount appliedCount failedCount completedAt } }`
const PREVIEW = `query ($csv: String!, $name: String) { pointsImportPreview(csv: $csv, name: $name) {
  rows customers points issues { line column message } existing { id } } }`
const PROGRESS = `query ($id: UUID!) { pointsImport(id: $id) { status rowCount appliedCount failedCount completedAt } }`
const RESULT = 'query ($id: UUID!) { pointsImportResult(id: $id) }'

const upload = (tenant: Tenant, csv: string, name?: string, headers = {}) =>
  tenant.graph(IMPORT, { input: { csv, name } }, headers)

async function untouched(t: ExecutionContext, app: TestApp): Promise<void> {
  for (const table of ['transactions', 'points_imports', 'points_import_rows', 'visits']) {
    const { rows } = await app.database.pool.query(`SELECT count(*)::int AS n FROM ${table}`)
    t.is(rows[0].n, 0, table)
  }
}

async function passesAudit(t: ExecutionContext, app: TestApp): Promise<void> {
  const { checks } = await audit(app.database)
  t.deepEqual(
    checks.filter(({ broken }) => broken > 0),
    [],
  )
}

/** Customers `card-0` and on. */
const createCustomers = (tenant: Tenant, count: number) =>
  Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const { user_id } = await createCustomer(tenant, { identifiers: [{ value: `card-${n}` }] })
      return user_id as string
    }),
  )

/** So many rows in turn for so many customers. */
const fileOf = (rows: number, customers: number): string =>
  [
    'identifier,points,description',
    ...Array.from({ length: rows }, (_, n) => `card-${n % customers},${n + 1},row ${n}`),
  ].join('\n')

test('points are a gift of the staff; an amount is a purchase: a visit, spend and tier progress', async (t) => {
  const app = await startApp(t)
  const tenant = await createTenant(app, { currency: 'EUR' })
  await tenant.rest('PATCH /settings', { earn_points_per_unit: '2' })
  const [gifted, bought] = (await createCustomers(tenant, 2)) as [string, string]
  const csv = `user_id,identifier,points,amount,description\n${gifted.toUpperCase()},,7,,thanks\n,card-1,,12.50,\n`
  const preview = await tenant.graph(PREVIEW, { csv })
  t.deepEqual(preview.data.pointsImportPreview, {
    rows: 2,
    customers: 2,
    points: 32,
    issues: [],
    existing: null,
  })
  await untouched(t, app)

  const { data } = await upload(tenant, csv)
  t.like(data.importPoints, { status: 'pending', rowCount: 2, appliedCount: 0 })
  const { id } = data.importPoints
  t.is(await applyPointsImports(app), 2)
  t.like((await tenant.graph(PROGRESS, { id })).data.pointsImport, {
    status: 'completed',
    appliedCount: 2,
    failedCount: 0,
  })
  const accounts = await app.database.db.customer.findMany({ orderBy: { balance: 'asc' } })
  t.deepEqual(
    accounts.map((each) => [
      each.id,
      each.balance,
      each.visitCount,
      Number(each.spendMinor),
      Number(each.earnedPoints),
    ]),
    [
      [gifted, 7, 0, 0, 0],
      [bought, 25, 1, 1250, 25],
    ],
  )
  const rows = await app.database.db.transaction.findMany({ orderBy: { points: 'asc' } })
  t.deepEqual(
    rows.map(({ source, description }) => [source, description]),
    [
      ['dashboard', 'thanks'],
      ['import', null],
    ],
  )
  t.is(
    (await tenant.graph(RESULT, { id })).data.pointsImportResult,
    [
      '"line","user_id","identifier","points","amount","description","status","points_given","transaction_id","error"',
      `"2","${gifted}","","7","","thanks","applied","7","${rows[0]!.id}",""`,
      `"3","${bought}","card-1","","12.50","","applied","25","${rows[1]!.id}",""`,
      '',
    ].join('\r\n'),
  )
  await passesAudit(t, app)
})

test('of 1000 rows with one bad line nothing is written, and the line is named', async (t) => {
  const app = await startApp(t)
  const tenant = await createTenant(app)
  await createCustomers(tenant, 3)
  const csv = fileOf(1000, 3).replace('card-2,612', 'nobody,612')
  const { errors } = await upload(tenant, csv)
  t.like(errors![0].extensions, { code: 'INVALID_INPUT' })
  t.deepEqual(errors![0].extensions.fields, [{ path: 'csv.613.identifier', message: 'is not a customer' }])
  await untouched(t, app)
  const preview = await tenant.graph(PREVIEW, { csv })
  t.deepEqual(preview.data.pointsImportPreview.issues, [
    { line: 613, column: 'identifier', message: 'is not a customer' },
  ])
})

test('what the accounts would refuse is found before anything is written, and the dry run says the same', async (t) => {
  const app = await startApp(t)
  const [tenant, other] = [await createTenant(app, { currency: 'JPY' }), await createTenant(app)]
  const [customer] = (await createCustomers(tenant, 2)) as [string]
  const stranger = await createCustomer(other)
  await tenant.rest('PATCH /settings', { earn_points_per_unit: '1000' })
  await tenant.rest('DELETE /customers/card-1')
  const csv = [
    'user_id,identifier,amount,points',
    `${customer},,1.5,`,
    `${stranger.user_id},,,1`,
    ',card-1,,1',
    ',card-0,1999999,',
    ',card-0,,1000',
    ',card-0,,1',
  ].join('\n')
  const issues = [
    [2, 'amount', 'has more decimals than JPY has'],
    [3, 'user_id', 'is not a customer'],
    [4, 'identifier', 'is not a customer'],
    [7, 'points', 'BALANCE_LIMIT_REACHED:2000000000'],
  ]
  const preview = await tenant.graph(PREVIEW, { csv })
  t.deepEqual(
    preview.data.pointsImportPreview.issues.map((issue: object) => Object.values(issue)),
    issues,
  )
  const { errors } = await upload(tenant, csv)
  t.deepEqual(
    errors![0].extensions.fields.map(({ path, message }: Record<string, string>) => `${path}: ${message}`),
    issues.map(([line, column, message]) => `csv.${line}.${column}: ${message}`),
  )
  await untouched(t, app)
})

test('the same file is the same import, however it is written and however often it is sent; a name makes it another', async (t) => {
  const app = await startApp(t)
  const tenant = await createTenant(app)
  const [customer] = (await createCustomers(tenant, 1)) as [string]
  const csv = 'identifier,points\ncard-0,5\n'
  const ids = new Set<string>()
  const send = async (file: string, name?: string, headers = {}) => {
    const { data, errors } = await upload(tenant, file, name, headers)
    t.is(errors, undefined)
    ids.add(data.importPoints.id)
    return data.importPoints
  }
  await Promise.all([send(csv), send(csv), send(csv, undefined, { 'idempotency-key': 'once' })])
  await applyPointsImports(app)
  await send('\uFEFF"points","identifier"\r\n"5","card-0"\r\n')
  // Whatever has become of its customers.
  await tenant.rest('DELETE /customers/card-0')
  t.like(await send(csv), { status: 'completed', appliedCount: 1 })
  t.is((await tenant.graph(PREVIEW, { csv })).data.pointsImportPreview.existing.id, [...ids][0])
  t.is(ids.size, 1)
  t.is(await applyPointsImports(app), 0)
  t.is(await app.database.db.transaction.count({ where: { customerId: customer, type: 'earn' } }), 1)

  await createCustomers(tenant, 1)
  await send(csv, 'October')
  t.is(ids.size, 2)
  const { data } = await tenant.graph('{ pointsImports { totalCount nodes { name rowCount } } }')
  t.deepEqual(data.pointsImports, {
    totalCount: 2,
    nodes: [
      { name: 'October', rowCount: 1 },
      { name: null, rowCount: 1 },
    ],
  })
})

test('a customer erased after the upload fails the line by name, leaves nothing of the person, and holds up no other', async (t) => {
  const app = await startApp(t)
  const tenant = await createTenant(app)
  const [erased] = (await createCustomers(tenant, 2)) as [string]
  const csv = 'identifier,points,description\ncard-0,5,for Ada\ncard-1,6,for Bob\n'
  const { id } = (await upload(tenant, csv)).data.importPoints
  await tenant.rest('DELETE /customers/card-0')
  t.is(await applyPointsImports(app), 2)
  t.like((await tenant.graph(PROGRESS, { id })).data.pointsImport, {
    status: 'completed',
    appliedCount: 1,
    failedCount: 1,
  })
  const [, line] = (await tenant.graph(RESULT, { id })).data.pointsImportResult.split('\r\n')
  t.is(
    line,
    `"2","${erased}","","5","","","failed","","","Customer not found. Check the user_id or identifier."`,
  )
  await passesAudit(t, app)
})

test("an import is its business's own, and its rows count against no rate limit", async (t) => {
  const app = await startApp(t, {
    env: { RATE_LIMIT_POINTS_PER_MINUTE: '1', RATE_LIMIT_DEFAULT_PER_MINUTE: '20' },
  })
  const [tenant, other] = [await createTenant(app), await createTenant(app)]
  await createCustomers(tenant, 1)
  const first = await upload(tenant, fileOf(100, 1))
  const second = await upload(tenant, fileOf(99, 1))
  const remaining = (answer: { headers: Headers }) => Number(answer.headers.get('ratelimit-remaining'))
  t.is(remaining(first) - remaining(second), 1)
  const { id } = first.data.importPoints
  for (const asked of [PROGRESS, RESULT]) {
    const { errors } = await other.graph(asked, { id })
    t.is(errors![0].extensions.code, 'POINTS_IMPORT_NOT_FOUND')
  }
  t.is((await other.graph(PREVIEW, { csv: fileOf(1, 1) })).data.pointsImportPreview.issues.length, 1)
})

test('an upload wakes the worker; one that is killed in the middle is gone on with by another, each row once', async (t) => {
  const app = await startApp(t)
  const tenant = await createTenant(app)
  const customers = await createCustomers(tenant, 60)
  const settings = { DATABASE_URL: app.databaseUrl, SECRET_KEY: TEST_SECRET, LOG_LEVEL: 'silent' }
  const { child, exited } = await startService(t, settings)
  // The second part waits for this customer, who is in no line of the first.
  const csv = fileOf(1000, 59).replace('card-20,80', 'card-59,80')
  const holder = new pg.Client({ connectionString: app.databaseUrl })
  await holder.connect()
  t.teardown(() => holder.end())
  await holder.query('BEGIN')
  await holder.query('SELECT FROM customers WHERE id = $1 FOR NO KEY UPDATE', [customers[59]])
  const { id } = (await upload(tenant, csv)).data.importPoints
  await untilWaiting(app, 1)
  const progress = async () => (await tenant.graph(PROGRESS, { id })).data.pointsImport
  t.like(await progress(), { status: 'running', appliedCount: 50 })
  child.kill('SIGKILL')
  await exited
  await holder.query('ROLLBACK')

  const jobs = await startJobs({ ...app, mailer: undefined }, app.databaseUrl, pino({ level: 'silent' }))
  t.teardown(() => jobs.stop())
  await Promise.all([applyPointsImports(app), applyPointsImports(app)])
  while ((await applyPointsImports(app)) > 0);
  for (let tries = 0; tries < 200 && (await progress()).status !== 'completed'; tries++)
    await new Promise((resolve) => setTimeout(resolve, 50))
  t.like(await progress(), { status: 'completed', appliedCount: 1000, failedCount: 0 })
  const { _count, _sum } = await app.database.db.transaction.aggregate({
    _count: true,
    _sum: { points: true },
  })
  t.deepEqual([_count, _sum.points], [1000, (1000 * 1001) / 2])
  await passesAudit(t, app)
})
