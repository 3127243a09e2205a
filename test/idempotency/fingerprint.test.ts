import { deepStrictEqual, notStrictEqual, strictEqual } from 'node:assert'
import test from 'ava'
import fc from 'fast-check'
import { type GraphQLInputObjectType, isInputObjectType } from 'graphql'
import { schema } from '../../src/graphql/schema.js'
import { canonicalJson, mappingOf, toInput } from '../../src/rest/body.js'
import { holds } from '../helpers/wall-clock.js'

/** JSON as a client may send it: what JSON.parse can give. */
const json = fc
  .jsonValue({ maxDepth: 4, stringUnit: 'binary' })
  .map((value) => JSON.parse(JSON.stringify(value)))

/** The same value with the members of its objects in another order. */
function reordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reordered)
  if (typeof value !== 'object' || value === null) return value
  const turned = Object.entries(value).reverse()
  return JSON.parse(
    `{${turned.map(([key, member]) => `${JSON.stringify(key)}:${JSON.stringify(reordered(member))}`)}}`,
  )
}

const same = (a: unknown, b: unknown): boolean => {
  try {
    deepStrictEqual(a, b)
    return true
  } catch {
    return false
  }
}

test('the order of members plays no part in what a request is', (t) => {
  holds(
    t,
    fc.property(json, (value) => strictEqual(canonicalJson(reordered(value)), canonicalJson(value))),
    1000,
  )
})

test('the canonical text of a value says that value and no other', (t) => {
  holds(
    t,
    fc.property(json, (value) => deepStrictEqual(JSON.parse(canonicalJson(value)), value)),
    1000,
  )
})

test('two values that differ anywhere have different canonical texts', (t) => {
  const pairs = fc.oneof(
    fc.tuple(json, json),
    json.chain((value) => fc.tuple(fc.constant(value), changed(value))),
  )
  holds(
    t,
    fc.property(
      pairs.filter(([a, b]) => !same(a, b)),
      ([a, b]) => notStrictEqual(canonicalJson(a), canonicalJson(b)),
    ),
    1000,
  )
})

/** A value that is like another but for one thing in it. */
function changed(value: unknown): fc.Arbitrary<unknown> {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return json
  return fc.constantFrom(...Object.keys(value)).chain((at) =>
    changed((value as Record<string, unknown>)[at]).map((member) => {
      const copy: unknown = structuredClone(value)
      Object.defineProperty(copy, at, { value: member, enumerable: true, writable: true, configurable: true })
      return copy
    }),
  )
}

const inputTypes = Object.values(schema.getTypeMap()).filter(isInputObjectType)

/** `pointsCost` → `points_cost`, letter by letter: the contract's spelling, told apart from the code's own way. */
function spelledOut(name: string): string {
  let spelled = ''
  for (const letter of name) spelled += letter === letter.toLowerCase() ? letter : `_${letter.toLowerCase()}`
  return spelled
}

/** A value in the graph's spelling, and the same in the body's. */
interface Spelled {
  graph: unknown
  body: unknown
}

function inputOf(type: GraphQLInputObjectType, depth: number): fc.Arbitrary<{ graph: object; body: object }> {
  const fields = Object.values(type.getFields()).map((field) => {
    let named: unknown = field.type
    let isList = false
    while (typeof named === 'object' && named !== null && 'ofType' in named) {
      isList ||= String(named).startsWith('[')
      named = named.ofType
    }
    const leaf = fc
      .oneof(fc.string(), fc.integer(), fc.constant(null))
      .map((value) => ({ graph: value, body: value }))
    const one: fc.Arbitrary<Spelled> =
      isInputObjectType(named) && depth > 0 ? inputOf(named, depth - 1) : leaf
    const member: fc.Arbitrary<Spelled> = isList
      ? fc.array(one, { maxLength: 3 }).map((list) => ({
          graph: list.map(({ graph }) => graph),
          body: list.map(({ body }) => body),
        }))
      : one
    return fc.option(member, { nil: undefined }).map((value) => ({ name: field.name, value }))
  })
  return fc.tuple(...fields).map((given) => {
    const present = given.filter(({ value }) => value !== undefined)
    return {
      graph: Object.fromEntries(present.map(({ name, value }) => [name, value!.graph])),
      body: Object.fromEntries(present.map(({ name, value }) => [spelledOut(name), value!.body])),
    }
  })
}

test('every field of every input is reached under its snake_case name, and under no other', (t) => {
  t.true(inputTypes.length > 5)
  for (const type of inputTypes)
    holds(
      t,
      fc.property(inputOf(type, 2), ({ graph, body }) => {
        const misfits: { path: string; message: string }[] = []
        deepStrictEqual(toInput(mappingOf(type), body, misfits), graph)
        deepStrictEqual(misfits, [])
        const camel = Object.keys(graph).filter((name) => name !== spelledOut(name))
        toInput(mappingOf(type), graph, misfits)
        for (const name of camel)
          strictEqual(
            misfits.some(({ path }) => path === name),
            true,
          )
      }),
      50,
    )
})
