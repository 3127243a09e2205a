import { readFileSync } from 'node:fs'
import { CriticalityLevel, diff } from '@graphql-inspector/core'
import test from 'ava'
import { buildSchema } from 'graphql'
import { schema } from '../../src/graphql/schema.js'
import { breakingChanges } from './breaking-changes.js'

/*
 * The contract is compared with that of the last release (test/contract/released, written by `npm run
 * contract:release`). What breaks a client has to stand word for word in the changelog, where its users read it.
 */

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
const released = JSON.parse(read('test/contract/released/openapi.json'))
const [, unreleased = ''] = read('CHANGELOG.md').split(/^## /m)
const undeclared = (changes: readonly string[]) => changes.filter((change) => !unreleased.includes(change))

test('no REST client of the last release is broken, unless the changelog says so', (t) => {
  t.deepEqual(undeclared(breakingChanges(released, JSON.parse(read('openapi.json')))), [])
})

test('no client of the graph of the last release is broken, unless the changelog says so', async (t) => {
  const changes = await diff(buildSchema(read('test/contract/released/schema.graphql')), schema)
  const breaking = changes.filter(({ criticality }) => criticality.level === CriticalityLevel.Breaking)
  t.deepEqual(undeclared(breaking.map(({ message }) => message)), [])
})

const REWARD = '/api/v1/rewards/{id}'
const LIST = '/api/v1/rewards'
// biome-ignore lint/suspicious/noExplicitAny: any OpenAPI document
type Document = any
const answer = (document: Document) =>
  document.paths[REWARD].get.responses[200].content['application/json'].schema.properties.data.properties
const body = (document: Document) => document.components.schemas.CreateRewardInput

/** Each change with what is said of it; undefined = it breaks nobody. */
const changes: Record<string, [(document: Document) => void, string | undefined]> = {
  'a route removed': [({ paths }) => delete paths[LIST], `GET ${LIST}: removed`],
  'another operation id': [
    ({ paths }) => {
      paths[LIST].get.operationId = 'all'
    },
    `GET ${LIST}: is called all, no longer rewards`,
  ],
  'another scope': [
    ({ paths }) => {
      paths[LIST].get.security = [{ apiKey: ['tiers:read'] }]
    },
    `GET ${LIST}: needs another scope`,
  ],
  'a query parameter removed': [
    ({ paths }) => paths[LIST].get.parameters.pop(),
    `GET ${LIST}: takes no query offset any more`,
  ],
  'a bound of a parameter narrowed': [
    ({ paths }) => {
      paths[LIST].get.parameters[0].schema.maximum = 10
    },
    `GET ${LIST} query limit: maximum is 10, was 100`,
  ],
  'a field that is required now': [
    (document) => body(document).required.push('conditions'),
    `POST ${LIST} body.conditions: is required now`,
  ],
  'a field removed': [
    (document) => delete body(document).properties.conditions,
    `POST ${LIST} body.conditions: is no longer taken`,
  ],
  'a value removed from an enumeration': [
    ({ components }) => components.schemas.CooldownMode.enum.shift(),
    `POST ${LIST} body.cooldown_mode: limit is no longer taken`,
  ],
  'null no longer taken': [
    (document) => {
      body(document).properties.conditions.type = 'string'
    },
    `POST ${LIST} body.conditions: null is no longer taken`,
  ],
  'a member of an answer removed': [
    ({ components }) => delete components.schemas.Reward.properties.name,
    `GET ${REWARD} answer.data.reward.name: removed`,
  ],
  'a member that may be null now': [
    ({ components }) => {
      components.schemas.Reward.properties.name.type = ['string', 'null']
    },
    `GET ${REWARD} answer.data.reward.name: may be null now`,
  ],
  'a member of an answer added': [
    (document) => {
      answer(document).more = { type: 'string' }
    },
    undefined,
  ],
  'a field added that may be left out': [
    (document) => {
      body(document).properties.more = { type: 'string' }
    },
    undefined,
  ],
  'a value added to an enumeration': [
    ({ components }) => components.schemas.CooldownMode.enum.push('weekly'),
    undefined,
  ],
}

for (const [what, [change, said]] of Object.entries(changes))
  test(`${what} ${said === undefined ? 'breaks nobody' : 'is seen to break clients'}`, (t) => {
    const changed = structuredClone(released)
    change(changed)
    const found = breakingChanges(released, changed)
    if (said === undefined) t.deepEqual(found, [])
    else t.true(found.includes(said), found.join('\n'))
  })
