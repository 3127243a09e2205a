import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { createTenant, startApp, type TestApp } from '../helpers/app.js'
import { assertAudit } from '../helpers/external.js'

const request = (quantity: number) => ({ name: 'Caps', prefix: 'CAP', points: 1, quantity })

const stored = async ({ database }: TestApp) => {
  const { rows } = await database.pool.query(
    'SELECT (SELECT count(*) FROM code_batches) AS batches, (SELECT count(*) FROM batch_codes) AS codes',
  )
  return rows[0]
}

/** The server process that is writing codes. */
async function writer({ database }: TestApp): Promise<number> {
  for (;;) {
    const { rows } = await database.pool.query(
      `SELECT pid FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE 'INSERT INTO batch_codes%'`,
    )
    if (rows[0]) return rows[0].pid
    await sleep(5)
  }
}

test.serial('100,000 codes are made with memory that does not grow with them, all different', async (t) => {
  const app = await startApp(t)
  const { rest } = await createTenant(app)
  const before = process.memoryUsage().rss
  let peak = before
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss)
  }, 20)
  const startedAt = Date.now()
  const { status } = await rest('POST /code-batches', request(100_000))
  clearInterval(watch)
  t.is(status, 201)
  t.log(`${Date.now() - startedAt} ms, ${Math.round((peak - before) / 1_000_000)} MB`)
  t.true(peak - before < 150_000_000)
  t.deepEqual(await stored(app), { batches: 1, codes: 100_000 })
  await assertAudit(app)
})

test('a creation that is cut off leaves nothing, and the same request then succeeds, with its key', async (t) => {
  const app = await startApp(t)
  const { rest } = await createTenant(app)
  const key = { 'idempotency-key': 'batch' }
  const cutOff = rest('POST /code-batches', request(50_000), key)
  await app.database.pool.query('SELECT pg_terminate_backend($1)', [await writer(app)])
  t.is((await cutOff).status, 503)
  t.deepEqual(await stored(app), { batches: 0, codes: 0 })
  t.is((await rest('POST /code-batches', request(50), key)).status, 201)
  t.deepEqual(await stored(app), { batches: 1, codes: 50 })
})

test('a code that the business has had is drawn again: a batch has all it was ordered with', async (t) => {
  const app = await startApp(t)
  const { rest } = await createTenant(app)
  // Every fifth is taken as if by an older batch.
  await app.database.pool.query(`
    CREATE SEQUENCE drawn;
    CREATE FUNCTION skip_some() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN IF nextval('drawn') % 5 = 0 THEN RETURN NULL; END IF; RETURN NEW; END $$;
    CREATE TRIGGER skip_some BEFORE INSERT ON batch_codes FOR EACH ROW EXECUTE FUNCTION skip_some()`)
  t.is((await rest('POST /code-batches', request(5000))).status, 201)
  t.deepEqual(await stored(app), { batches: 1, codes: 5000 })
})
