import test from 'ava'
import fc from 'fast-check'
import { failuresAfter, secondsToWait } from '../../src/code-batches/claim-limit.rules.js'
import { checkCharacter, generateSuffix, printedCode, readCode } from '../../src/code-batches/code.rules.js'
import { CROCKFORD, foldLookAlikes } from '../../src/crockford.js'

const runs = { numRuns: 2000 }
const character = fc.constantFrom(...CROCKFORD)
const suffixes = fc
  .string({ unit: character, minLength: 11, maxLength: 11 })
  .map((random) => random + checkCharacter(random))
const prefixes = fc.string({
  unit: fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'),
  minLength: 1,
  maxLength: 10,
})
const place = fc.nat({ max: 11 })

/** Whether a code with this suffix can be one. */
const isRead = (suffix: string) => readCode(printedCode('CAP', suffix)).suffix !== undefined

test('a code is read as it is printed', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(prefixes, suffixes, (prefix, suffix) => {
        const read = readCode(printedCode(prefix, suffix))
        return read.suffix === suffix && read.prefix === foldLookAlikes(prefix)
      }),
      runs,
    ),
  )
})

test('a code with any one character replaced by any other is noticed, wherever that is', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(suffixes, place, (suffix, at) =>
        [...CROCKFORD].every(
          (other) => isRead(suffix.slice(0, at) + other + suffix.slice(at + 1)) === (other === suffix[at]),
        ),
      ),
      runs,
    ),
  )
})

test('any two characters that have changed places are noticed, neighbours or not', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(suffixes, place, place, (suffix, one, other) => {
        const swapped = [...suffix]
        swapped[one] = suffix[other]!
        swapped[other] = suffix[one]!
        return isRead(swapped.join('')) === (suffix[one] === suffix[other])
      }),
      runs,
    ),
  )
})

test('a character too few or too many is noticed', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(
        suffixes,
        place,
        character,
        (suffix, at, more) =>
          !isRead(suffix.slice(0, at) + suffix.slice(at + 1)) &&
          !isRead(suffix.slice(0, at) + more + suffix.slice(at)),
      ),
      runs,
    ),
  )
})

test('case, look-alikes, grouping and a missing hyphen make no difference', (t) => {
  const typed = fc.tuple(prefixes, suffixes, fc.infiniteStream(fc.nat({ max: 3 })))
  const misread: Record<string, string[]> = { 0: ['o', 'O'], 1: ['i', 'I', 'l', 'L'] }
  t.notThrows(() =>
    fc.assert(
      fc.property(typed, fc.constantFrom('-', ' ', ' - ', ''), ([prefix, suffix, choices], between) => {
        const asTyped = (text: string) =>
          [...text].map((each) => [each, each.toLowerCase(), ...(misread[each] ?? [])])
        const pick = (ways: string[]) => ways[choices.next().value! % ways.length]!
        const groups = suffix.match(/.{4}/g)!.map((group) => asTyped(group).map(pick).join(''))
        // Grouped only where a hyphen ends the prefix.
        const grouped = groups.join(between === '' ? '' : between)
        const read = readCode(` ${asTyped(prefix).map(pick).join('')}${between}${grouped} `)
        return read.suffix === suffix && read.prefix === foldLookAlikes(prefix)
      }),
      runs,
    ),
  )
})

test('no text whatever makes reading fail', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => readCode(text).prefix.length >= 0),
      runs,
    ),
  )
})

test('new codes pass their check, differ, and use every character in every place about as often', (t) => {
  const count = 20_000
  const made = Array.from({ length: count }, generateSuffix)
  t.true(made.every(isRead))
  t.is(new Set(made).size, count)
  for (let at = 0; at < 12; at++) {
    const seen = new Map<string, number>()
    for (const suffix of made) seen.set(suffix[at]!, (seen.get(suffix[at]!) ?? 0) + 1)
    const expected = count / 32
    const chiSquare = [...CROCKFORD].reduce(
      (sum, each) => sum + ((seen.get(each) ?? 0) - expected) ** 2 / expected,
      0,
    )
    // 31 degrees of freedom; passed by chance once in about 10^9 sound runs.
    t.true(chiSquare < 110, `place ${at}: ${chiSquare}`)
  }
})

test('a customer waits exactly while ten failures lie within ten minutes', (t) => {
  const MINUTES_MS = 60_000
  const ages = fc.array(fc.nat({ max: 30 * MINUTES_MS }), { maxLength: 30 })
  const now = new Date('2026-05-01T12:00:00Z')
  t.notThrows(() =>
    fc.assert(
      fc.property(ages, (agesMs) => {
        const moments = agesMs.sort((a, b) => b - a).map((age) => new Date(now.getTime() - age))
        const kept = moments.reduce<Date[]>(failuresAfter, [])
        const recent = agesMs.filter((age) => age < 10 * MINUTES_MS)
        const seconds = secondsToWait(kept, now)
        if (recent.length < 10) return seconds === 0
        const tenth = recent.at(-10)!
        return kept.length <= 10 && seconds === Math.ceil((10 * MINUTES_MS - tenth) / 1000)
      }),
      runs,
    ),
  )
})
