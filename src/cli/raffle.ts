import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import * as z from 'zod'
import { OperatorError } from '../operator-error.js'
import { ALGORITHM, problemsOf } from '../raffles/draw.rules.js'
import { print, type Terminal } from './command.js'

/** `raffle verify` */
export function addRaffleCommands(program: Command, terminal: Terminal): void {
  program
    .command('raffle')
    .description('the draws of raffles')
    .command('verify')
    .description(
      'draw again from a saved proof (docs/raffle-verification.md); ends with 1 if it does not hold',
    )
    .argument('<file>', 'what GET /raffles/{id}/proof answered, or the proof in it')
    .action((file: string) => {
      const proof = readProof(file)
      const problems = problemsOf(proof)
      if (problems.length > 0) terminal.exitCode = 1
      print(terminal, {
        raffle_id: proof.raffleId,
        holds: problems.length === 0,
        problems,
        winners: proof.winners.map(({ rank, entrantId, entries }) => ({
          rank,
          entrant_id: entrantId,
          entries,
        })),
      })
    })
}

const Proof = z
  .object({
    raffle_id: z.string(),
    algorithm: z.literal(ALGORITHM),
    seed_hash: z.string(),
    seed: z.string('the raffle is not drawn yet').regex(/^[0-9a-f]{64}$/),
    entries_hash: z.string(),
    entry_list: z.string(),
    winners_count: z.int().min(1),
    winners: z.array(
      z
        .object({ rank: z.int(), entrant_id: z.string(), entries: z.int() })
        .transform(({ entrant_id, ...winner }) => ({ ...winner, entrantId: entrant_id })),
    ),
  })
  .transform((proof) => ({
    raffleId: proof.raffle_id,
    seedHash: proof.seed_hash,
    seed: proof.seed,
    entriesHash: proof.entries_hash,
    entryList: proof.entry_list,
    winnersCount: proof.winners_count,
    winners: proof.winners,
  }))

/** As it was answered: an envelope around it is taken off. Throws OperatorError where the file is no proof. */
function readProof(file: string): z.output<typeof Proof> {
  let content: unknown
  try {
    content = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new OperatorError(`${file} cannot be read: ${(error as Error).message}`)
  }
  const { data } = z.object({ data: z.object({ proof: z.unknown() }) }).safeParse(content)
  const parsed = Proof.safeParse(data ? data.data.proof : content)
  if (parsed.success) return parsed.data
  const issues = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
  throw new OperatorError(`${file} is not the proof of a draw: ${issues.join('; ')}`)
}
