import assert from 'node:assert/strict'
import { createHash, createHmac } from 'node:crypto'
import test from 'ava'
import fc from 'fast-check'
import {
  type DrawInput,
  type DrawnWinner,
  drawWinners,
  entriesHashOf,
  problemsOf,
  seedHashOf,
} from '../../src/raffles/draw.rules.js'
import { holds } from '../helpers/wall-clock.js'

const idOf = (index: number): string => `00000000-0000-7000-8000-${index.toString(16).padStart(12, '0')}`
const listOf = (weights: readonly number[]): string =>
  weights.map((entries, index) => `${idOf(index)} ${entries}\n`).join('')
const seedOf = (n: number): string => createHash('sha256').update(`test seed ${n}`).digest('hex')

/** The draw as the documentation words it, ticket by ticket, sharing no code with the one under test. */
function drawTicketByTicket({ seed, entryList, winnersCount }: DrawInput): string[] {
  let people = entryList
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split(' ') as [string, string])
  const hash = createHash('sha256').update(entryList).digest('hex')
  const winners: string[] = []
  for (let n = 0; people.length > 0 && winners.length < winnersCount; n++) {
    const tickets = people.flatMap(([id, entries]) => Array<string>(Number(entries)).fill(id))
    const block = createHmac('sha256', Buffer.from(seed, 'hex')).update(`${hash}:${n}`).digest('hex')
    const number = BigInt(`0x${block.slice(0, 16)}`)
    const count = BigInt(tickets.length)
    if (number >= (2n ** 64n / count) * count) continue
    const winner = tickets[Number(number % count)]!
    winners.push(winner)
    people = people.filter(([id]) => id !== winner)
  }
  return winners
}

const weights = fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 20 })

test('the winners are those of the documented draw, each once, as many as there can be', (t) => {
  const drawn = fc.property(weights, fc.nat(), fc.integer({ min: 1, max: 25 }), (given, n, winnersCount) => {
    const input = { seed: seedOf(n), entryList: listOf(given), winnersCount }
    const winners = drawWinners(input)
    assert.deepEqual(
      winners.map(({ entrantId }) => entrantId),
      drawTicketByTicket(input),
    )
    assert.equal(winners.length, Math.min(winnersCount, given.length))
    assert.equal(new Set(winners.map(({ entrantId }) => entrantId)).size, winners.length)
    for (const [index, { rank, entrantId, entries }] of winners.entries()) {
      assert.equal(rank, index + 1)
      assert.equal(entries, given[Number.parseInt(entrantId.slice(-12), 16)])
    }
  })
  holds(t, drawn, 500)
})

// 200 tickets, so that a draw by one byte modulo their number favours the first 56 of them two to one.
const WEIGHTS = [1, 4, 15, 30, 50, 100]
const TICKETS = WEIGHTS.reduce((sum, weight) => sum + weight, 0)
const DRAWS = 12_000
/** Of χ² with five degrees of freedom: passed by chance once in a thousand. */
const CRITICAL = 20.515

const first = WEIGHTS.map((weight) => weight / TICKETS)
const second = WEIGHTS.map((weight, index) =>
  WEIGHTS.reduce(
    (sum, before, other) =>
      other === index ? sum : sum + (before / TICKETS) * (weight / (TICKETS - before)),
    0,
  ),
)

type Draw = (input: DrawInput) => Pick<DrawnWinner, 'entrantId'>[]

/** How far those who win first, and second, in many draws lie from what they should be. */
function chiSquares(draw: Draw): number[] {
  const entryList = listOf(WEIGHTS)
  const indexes = new Map(WEIGHTS.map((_, index) => [idOf(index), index]))
  const counts = [first, second].map(() => WEIGHTS.map(() => 0))
  for (let n = 0; n < DRAWS; n++) {
    const winners = draw({ seed: seedOf(n), entryList, winnersCount: 2 })
    for (const [rank, { entrantId }] of winners.entries()) counts[rank]![indexes.get(entrantId)!]!++
  }
  return [first, second].map((probabilities, rank) =>
    probabilities.reduce((sum, probability, index) => {
      const expected = probability * DRAWS
      return sum + (counts[rank]![index]! - expected) ** 2 / expected
    }, 0),
  )
}

test('over 12,000 draws everybody wins first and second as often as the entries say (χ², p > 0.001)', (t) => {
  for (const distance of chiSquares(drawWinners)) t.true(distance < CRITICAL, String(distance))
})

test('a draw with modulo bias, and one that forgets the weights, fail the same test', (t) => {
  const byOneByte = ({ seed }: DrawInput) => {
    let ticket = Buffer.from(seed, 'hex')[0]! % TICKETS
    const index = WEIGHTS.findIndex((weight) => {
      ticket -= weight
      return ticket < 0
    })
    return [{ entrantId: idOf(index) }]
  }
  t.true(chiSquares(byOneByte)[0]! > CRITICAL)
  const unweighted = (input: DrawInput) => drawWinners({ ...input, entryList: listOf(WEIGHTS.map(() => 1)) })
  for (const distance of chiSquares(unweighted)) t.true(distance > CRITICAL)
})

test('a proof does not hold with another seed, list, number of winners or winner', (t) => {
  const input = { seed: seedOf(1), entryList: listOf([3, 1, 2]), winnersCount: 2 }
  const proof = {
    ...input,
    seedHash: seedHashOf(input.seed),
    entriesHash: entriesHashOf(input.entryList),
    winners: drawWinners(input),
  }
  t.deepEqual(problemsOf(proof), [])
  const [one, two] = proof.winners as [DrawnWinner, DrawnWinner]
  const longer = { ...proof, entryList: listOf([3, 1, 2, 9]) }
  const disordered = input.entryList.split('\n').slice(0, 3).reverse().join('\n')
  const rehashed = (entryList: string) => ({ ...proof, entryList, entriesHash: entriesHashOf(entryList) })
  for (const forged of [
    { ...proof, seed: seedOf(2) },
    longer,
    {
      ...longer,
      entriesHash: entriesHashOf(longer.entryList),
      winners: [one, { ...two, entrantId: idOf(3) }],
    },
    { ...proof, winnersCount: 3 },
    { ...proof, winners: [one] },
    {
      ...proof,
      winners: [
        { ...two, rank: 1 },
        { ...one, rank: 2 },
      ],
    },
    { ...proof, winners: [{ ...one, entries: one.entries + 1 }, two] },
    rehashed(`${disordered}\n`),
    rehashed(input.entryList + input.entryList),
    rehashed(input.entryList.trimEnd()),
    rehashed(input.entryList.replace(' 3\n', ' 0\n')),
    rehashed(input.entryList.replace(' 3\n', ' 03\n')),
  ])
    t.not(problemsOf(forged).length, 0, JSON.stringify(forged))
})
