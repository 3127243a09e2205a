import { snakeCase } from '../src/rest/naming.js'
import type { SegmentInput } from '../src/segments/segments.input.js'
import { BENCH_BUSINESS } from './tenants.js'

/** A kind of segment, over all customers of the tenant; each costs something else. */
interface SegmentKind {
  name: string
  input: SegmentInput
}

const { timezone } = BENCH_BUSINESS

export const segmentKinds: readonly SegmentKind[] = [
  { name: 'everyone', input: {} },
  { name: 'champions', input: { presetId: 'champions' } },
  { name: 'big spenders', input: { presetId: 'big_spenders' } },
  { name: 'few', input: { visitCount: { min: 20 }, birthdayInMonth: 2, joinedWithinDays: 30 } },
  { name: 'hours', input: { hourOfDay: { from: 18, to: 20 }, dayOfWeek: [5, 6], timezone } },
]

/** The body of REST that asks for a kind. */
export const segmentBody = ({ input }: SegmentKind): object =>
  JSON.parse(JSON.stringify(input).replace(/"(\w+)":/g, (_, key: string) => `"${snakeCase(key)}":`))
