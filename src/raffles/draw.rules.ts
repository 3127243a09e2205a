import { createHash, createHmac } from 'node:crypto'

/**
 * The draw as a pure function of the seed and the list of entrants (docs/raffle-verification.md): who has both can
 * draw again and must come to the same winners.
 */

/** Names this algorithm in proofs: another one gets another name. */
export const ALGORITHM = 'hmac-sha256-v1'

export const SEED_BYTES = 32

/** What is drawn from: a line `<entrant id> <entries>\n` for each, in the order of the ids. */
export interface DrawInput {
  /** 32 bytes, hexadecimal. */
  seed: string
  entryList: string
  winnersCount: number
}

export interface DrawnWinner {
  /** From 1. */
  rank: number
  entrantId: string
  entries: number
}

/** Hexadecimal SHA-256 of the seed's bytes: what is published before anybody enters. */
export const seedHashOf = (seed: string): string =>
  createHash('sha256').update(Buffer.from(seed, 'hex')).digest('hex')

/** Hexadecimal SHA-256 of the list's bytes. */
export const entriesHashOf = (entryList: string): string =>
  createHash('sha256').update(entryList).digest('hex')

/**
 * Draws by weight of entries, each person once; fewer than `winnersCount` where there are fewer people. Throws where
 * the list is not in its canonical form.
 */
export function drawWinners({ seed, entryList, winnersCount }: DrawInput): DrawnWinner[] {
  const entrants = parseEntryList(entryList)
  const tickets = new Tickets(entrants.map(({ entries }) => entries))
  const random = numbersOf(seed, entriesHashOf(entryList))
  const winners: DrawnWinner[] = []
  while (winners.length < Math.min(winnersCount, entrants.length)) {
    const index = tickets.take(random(tickets.total))
    winners.push({ rank: winners.length + 1, ...entrants[index]! })
  }
  return winners
}

const LINE = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}) ([1-9]\d{0,8})$/

function parseEntryList(entryList: string): { entrantId: string; entries: number }[] {
  if (entryList === '') return []
  if (!entryList.endsWith('\n')) throw new Error('the last line of the list does not end')
  let previous = ''
  return entryList
    .slice(0, -1)
    .split('\n')
    .map((line, index) => {
      const [, entrantId, entries] = LINE.exec(line) ?? []
      if (!entrantId || entrantId <= previous)
        throw new Error(`line ${index + 1} of the list is not in its form`)
      previous = entrantId
      return { entrantId, entries: Number(entries) }
    })
}

const RANGE = 2n ** 64n

/**
 * Numbers below a bound, all equally likely: 8 bytes of HMAC-SHA-256 at a time, a number past the last whole multiple
 * of the bound thrown away.
 */
function numbersOf(seed: string, entriesHash: string): (bound: number) => number {
  const key = Buffer.from(seed, 'hex')
  let counter = 0
  return (below) => {
    const bound = BigInt(below)
    for (;;) {
      const block = createHmac('sha256', key).update(`${entriesHash}:${counter++}`).digest()
      const number = block.readBigUInt64BE()
      if (number < RANGE - (RANGE % bound)) return Number(number % bound)
    }
  }
}

/** The tickets of all entrants in a row (a Fenwick tree): finding one and taking its owner out costs log n. */
class Tickets {
  readonly #weights: readonly number[]
  /** Exact: sums stay below 2^53. */
  readonly #sums: Float64Array
  #total = 0

  constructor(weights: readonly number[]) {
    this.#weights = weights
    this.#sums = new Float64Array(weights.length + 1)
    for (const [index, weight] of weights.entries()) this.#add(index, weight)
  }

  get total(): number {
    return this.#total
  }

  /** Takes out whose ticket has this number, counted from 0 over all that are left; returns the owner's index. */
  take(number: number): number {
    let index = 0
    let rest = number
    for (let step = 2 ** Math.floor(Math.log2(this.#weights.length)); step >= 1; step /= 2) {
      const next = index + step
      if (next > this.#weights.length || this.#sums[next]! > rest) continue
      index = next
      rest -= this.#sums[next]!
    }
    this.#add(index, -this.#weights[index]!)
    return index
  }

  #add(index: number, change: number): void {
    for (let node = index + 1; node < this.#sums.length; node += node & -node) this.#sums[node]! += change
    this.#total += change
  }
}

/** A proof as GET /raffles/{id}/proof answers it, as far as it is recomputed. */
export interface DrawProof extends DrawInput {
  seedHash: string
  entriesHash: string
  winners: readonly DrawnWinner[]
}

/** What is wrong with a proof, in words; nothing where it holds. */
export function problemsOf(proof: DrawProof): string[] {
  const problems: string[] = []
  if (seedHashOf(proof.seed) !== proof.seedHash)
    problems.push('the seed is not the one that was committed to')
  if (entriesHashOf(proof.entryList) !== proof.entriesHash) problems.push('the list does not have its hash')
  try {
    const drawn = drawWinners(proof)
    if (describe(drawn) !== describe(proof.winners)) problems.push('the winners are not those of the draw')
  } catch (error) {
    problems.push((error as Error).message)
  }
  return problems
}

const describe = (winners: readonly DrawnWinner[]): string =>
  winners.map(({ rank, entrantId, entries }) => `${rank} ${entrantId} ${entries}`).join('\n')
