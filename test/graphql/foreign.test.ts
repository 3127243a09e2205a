import { minifyIntrospection, outputIntrospectionFile } from '@gql.tada/internal'
import { diff } from '@graphql-inspector/core'
import test from 'ava'
import { buildClientSchema, getIntrospectionQuery, type IntrospectionQuery, printSchema } from 'graphql'
import { schema } from '../../src/graphql/schema.js'
import { createTenant, startApp } from '../helpers/app.js'

/** The schema as tools of others read it: introspected over HTTP, with a key. */

test('introspection gives graphql-js, GraphQL Inspector and gql.tada the whole schema', async (t) => {
  const { graph } = await createTenant(await startApp(t))
  const { data, errors } = await graph(getIntrospectionQuery())
  t.is(errors, undefined)
  const introspection = data as IntrospectionQuery
  const read = buildClientSchema(introspection)
  t.is(printSchema(read), printSchema(schema))
  t.deepEqual(await diff(schema, read), [])

  const types = outputIntrospectionFile(minifyIntrospection(introspection), { fileType: '.d.ts' })
  for (const { name, kind } of introspection.__schema.types)
    if (!name.startsWith('__') && kind !== 'SCALAR') t.true(types.includes(`"name": "${name}"`), name)
})
