/**
 * What of a newer OpenAPI document breaks a client of the older one: requests that worked and no longer do, answers
 * that lack what was there. Each change is a sentence that says where; adding is never one.
 */

// biome-ignore lint/suspicious/noExplicitAny: any OpenAPI document
type Json = any

export function breakingChanges(older: Json, newer: Json): string[] {
  const changes: string[] = []
  for (const [path, operations] of Object.entries<Json>(older.paths))
    for (const [method, before] of Object.entries<Json>(operations)) {
      const at = `${method.toUpperCase()} ${path}`
      const after = newer.paths[path]?.[method]
      if (!after) changes.push(`${at}: removed`)
      else
        changes.push(
          ...operationChanges({ document: older, value: before }, { document: newer, value: after }, at),
        )
    }
  return changes
}

/** A part of a document, with the document that its references lead into. */
interface Part {
  document: Json
  value: Json
}

const resolved = ({ document, value }: Part): Part => {
  if (typeof value?.$ref !== 'string') return { document, value }
  const target = value.$ref.slice(2).split('/')
  return resolved({ document, value: target.reduce((at: Json, name: string) => at[name], document) })
}
const inside = (part: Part, ...names: string[]): Part =>
  names.reduce<Part>(
    (at, name) => resolved({ document: at.document, value: at.value?.[name] }),
    resolved(part),
  )

function operationChanges(before: Part, after: Part, at: string): string[] {
  const [old, now] = [before.value, after.value]
  const said = (is: unknown, what: string) => (is ? [`${at}: ${what}`] : [])
  const success = Object.keys(old.responses)[0]!
  return [
    ...said(
      old.operationId !== now.operationId,
      `is called ${now.operationId}, no longer ${old.operationId}`,
    ),
    ...said(JSON.stringify(old.security) !== JSON.stringify(now.security), 'needs another scope'),
    ...said(old['x-idempotent'] && !now['x-idempotent'], 'takes no Idempotency-Key any more'),
    ...said(!now.responses[success], `no longer answers ${success}`),
    ...parameterChanges(before, after, at),
    ...bodyChanges(inside(before, 'requestBody'), inside(after, 'requestBody'), `${at} body`),
    ...contentOf(inside(before, 'responses', success)).flatMap(([type, schema]) => {
      const newer = contentOf(inside(after, 'responses', success)).find(([other]) => other === type)
      return newer ? answerChanges(schema, newer[1], `${at} answer`) : [`${at}: no longer answers ${type}`]
    }),
  ]
}

const contentOf = (part: Part): [string, Part][] =>
  Object.entries<Json>(part.value?.content ?? {}).map(([type, { schema }]) => [
    type,
    { document: part.document, value: schema },
  ])

function parametersOf({ document, value }: Part): Map<string, Part> {
  const parameters: Part[] = (value.parameters ?? []).map((parameter: Json) =>
    resolved({ document, value: parameter }),
  )
  return new Map(parameters.map((parameter) => [`${parameter.value.in} ${parameter.value.name}`, parameter]))
}

function parameterChanges(before: Part, after: Part, at: string): string[] {
  const [old, now] = [parametersOf(before), parametersOf(after)]
  const added = [...now].filter(([name, { value }]) => value.required && !old.get(name)?.value.required)
  return [
    ...added.map(([name]) => `${at}: needs ${name} now`),
    ...[...old].flatMap(([name, parameter]) => {
      const newer = now.get(name)
      if (!newer) return [`${at}: takes no ${name} any more`]
      return requestChanges(inside(parameter, 'schema'), inside(newer, 'schema'), `${at} ${name}`)
    }),
  ]
}

function bodyChanges(before: Part, after: Part, at: string): string[] {
  if (after.value?.required && !before.value?.required) return [`${at}: is needed now`]
  return contentOf(before).flatMap(([type, schema]) => {
    const newer = contentOf(after).find(([other]) => other === type)
    return newer ? requestChanges(schema, newer[1], at) : [`${at}: ${type} is no longer taken`]
  })
}

/** The schemas that a value may have, by their types; a nullable one has two. */
function variants(part: Part): Map<string, Part> {
  const { document, value } = resolved(part)
  if (value?.anyOf && !value.type)
    return new Map(value.anyOf.flatMap((each: Json) => [...variants({ document, value: each })]))
  return new Map(
    [value?.type ?? 'any'].flat().map((type: string) => [type, { document, value: { ...value, type } }]),
  )
}

const atLeast = ['minimum', 'minLength', 'minItems', 'minProperties']
const atMost = ['maximum', 'maxLength', 'maxItems']

/** Values that were taken and no longer are. */
function requestChanges(before: Part, after: Part, at: string): string[] {
  const now = variants(after)
  return [...variants(before)].flatMap(([type, { document, value: old }]) => {
    const newer = now.get(type)
    if (!newer) return [`${at}: ${type} is no longer taken`]
    const value = newer.value
    const narrower = [
      ...atLeast.filter(
        (bound) => (value[bound] ?? Number.NEGATIVE_INFINITY) > (old[bound] ?? Number.NEGATIVE_INFINITY),
      ),
      ...atMost.filter(
        (bound) => (value[bound] ?? Number.POSITIVE_INFINITY) < (old[bound] ?? Number.POSITIVE_INFINITY),
      ),
      ...['pattern', 'format'].filter((bound) => value[bound] !== undefined && value[bound] !== old[bound]),
    ]
    const gone = value.enum ? (old.enum ?? ['any']).filter((each: string) => !value.enum.includes(each)) : []
    const needed = (value.required ?? []).filter((name: string) => !(old.required ?? []).includes(name))
    return [
      ...narrower.map((bound) => `${at}: ${bound} is ${value[bound]}, was ${old[bound] ?? 'none'}`),
      ...gone.map((each: string) => `${at}: ${each} is no longer taken`),
      ...needed.map((name: string) => `${at}.${name}: is required now`),
      ...Object.entries<Json>(old.properties ?? {}).flatMap(([name, property]) =>
        value.properties?.[name] === undefined
          ? [`${at}.${name}: is no longer taken`]
          : requestChanges({ document, value: property }, inside(newer, 'properties', name), `${at}.${name}`),
      ),
      ...(old.items ? requestChanges({ document, value: old.items }, inside(newer, 'items'), `${at}[]`) : []),
    ]
  })
}

/** What was answered and no longer is, or is something else. */
function answerChanges(before: Part, after: Part, at: string): string[] {
  const old = variants(before)
  return [...variants(after)].flatMap(([type, newer]) => {
    const known = old.get(type)
    if (!known) return [`${at}: may be ${type} now`]
    const { document, value } = known
    const certain: string[] = newer.value.required ?? []
    return [
      ...(value.format === newer.value.format ? [] : [`${at}: its format is ${newer.value.format} now`]),
      ...Object.entries<Json>(value.properties ?? {}).flatMap(([name, property]) => {
        const member = newer.value.properties?.[name]
        if (member === undefined) return [`${at}.${name}: removed`]
        if (value.required?.includes(name) && !certain.includes(name))
          return [`${at}.${name}: may be absent now`]
        return answerChanges(
          { document, value: property },
          inside(newer, 'properties', name),
          `${at}.${name}`,
        )
      }),
      ...(value.items
        ? answerChanges({ document, value: value.items }, inside(newer, 'items'), `${at}[]`)
        : []),
    ]
  })
}
