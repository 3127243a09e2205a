import test from 'ava'
import pg from 'pg'
import { describeError } from '../src/log.js'
import { createDatabase } from './helpers/database.js'

test('an error of the database is logged without the row and the connection that it carries', async (t) => {
  const database = await createDatabase({ empty: true })
  t.teardown(database.drop)
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  t.teardown(() => client.end())
  await client.query('CREATE TABLE people (email text UNIQUE)')
  const insert = () => client.query('INSERT INTO people VALUES ($1)', ['ada@example.com'])
  await insert()
  const error = await t.throwsAsync<pg.DatabaseError>(insert)
  t.regex(error.detail!, /ada@example\.com/)

  const logged = describeError(Object.assign(error, { client })) as Record<string, unknown>
  t.deepEqual(Object.keys(logged), ['name', 'message', 'code', 'stack', 'cause'])
  t.is(logged.code, '23505')
  t.false(JSON.stringify(logged).includes('ada@example.com'))
})

test('the cause of an error is logged, and what is no error as it is', (t) => {
  t.like(describeError(new Error('outer', { cause: new Error('inner') })), { cause: { message: 'inner' } })
  t.is(describeError('a string'), 'a string')
})
