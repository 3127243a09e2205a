import type { EnumRef } from '@pothos/core'
import { builder } from './builder.js'

type Types = typeof builder.$inferSchemaTypes

const refs = new Map<string, EnumRef<Types, string>>()

/** The graph's enum of a name; its values are the specification's own strings, as in the database. */
export function enumRef<const V extends string>(name: string, values: readonly V[]): EnumRef<Types, V> {
  let ref = refs.get(name)
  if (!ref) {
    ref = builder.enumType(name, { values: [...values] }) as EnumRef<Types, string>
    refs.set(name, ref)
  }
  return ref as EnumRef<Types, V>
}

/** The graph's enum of an enum that schema.prisma declares. */
export const enumOf = <V extends string>(name: string, values: Record<string, V>): EnumRef<Types, V> =>
  enumRef(name, Object.values(values))
