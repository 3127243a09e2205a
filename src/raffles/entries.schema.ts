import * as z from 'zod'
import { uuid } from '../graphql/bounds.js'
import { builder } from '../graphql/builder.js'
import { connectionType, pageArgs, pageComplexity } from '../graphql/connection.js'
import { mutation, query } from '../graphql/fields.js'
import { CustomerBalance } from '../points/points.schema.js'
import { TransactionType } from '../transactions/transactions.schema.js'
import { ALGORITHM } from './draw.rules.js'
import { type EntrantRow, listEntrants } from './entrants.js'
import { enterRaffle, type NewEntries } from './entries.js'
import { type RaffleProof, type RaffleWinner, readProof, readWinners } from './proof.js'
import { EnterRaffle } from './raffles.input.js'

const ENTRANT = 'Stands for the customer in the public list of this raffle, and nowhere else.'

const NewEntriesType = builder.objectRef<NewEntries>('RaffleEntries').implement({
  description: 'Entries that were paid for together.',
  fields: (t) => ({
    raffleId: t.expose('raffleId', { type: 'UUID' }),
    userId: t.expose('customerId', { type: 'UUID' }),
    entrantId: t.expose('entrantId', { type: 'UUID', description: ENTRANT }),
    entries: t.exposeInt('entries', { description: 'Those that were added now.' }),
    userEntries: t.exposeInt('userEntries', { description: 'All that the customer has in this raffle.' }),
  }),
})

const EnteredRaffle = builder.objectRef<NewEntries>('EnteredRaffle').implement({
  fields: (t) => ({
    entry: t.field({ type: NewEntriesType, resolve: (entered) => entered }),
    transaction: t.field({ type: TransactionType, resolve: (entered) => entered.transaction as never }),
    balance: t.field({ type: CustomerBalance, resolve: (entered) => entered.balance }),
  }),
})

mutation('enterRaffle', {
  description: 'Takes entries for a customer, all of them or none, and the points for them.',
  type: EnteredRaffle,
  input: EnterRaffle,
  scope: 'raffles:write',
  errors: [
    'CUSTOMER_ADDRESS',
    'CUSTOMER_NOT_FOUND',
    'RAFFLE_NOT_FOUND',
    'RAFFLE_NOT_OPEN',
    'RAFFLE_ENTRY_LIMIT_REACHED',
    'RAFFLE_FULL',
    'INSUFFICIENT_POINTS',
  ],
  resolve: enterRaffle,
})

const Entrant = builder.objectRef<EntrantRow>('RaffleEntrant').implement({
  description: 'A customer in a raffle.',
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID', description: ENTRANT }),
    userId: t.expose('customerId', { type: 'UUID' }),
    entries: t.exposeInt('entries'),
    withdrawnAt: t.expose('withdrawnAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Taken out before the draw, because the person was erased.',
    }),
    refundedAt: t.expose('refundedAt', { type: 'DateTime', nullable: true }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
})

query('raffleEntrants', {
  description: 'Who has entered a raffle, newest first.',
  type: connectionType('RaffleEntrant', Entrant),
  args: z.strictObject({ raffleId: uuid(), ...pageArgs }),
  scope: 'raffles:read',
  errors: ['RAFFLE_NOT_FOUND'],
  complexity: pageComplexity,
  resolve: listEntrants,
})

const Winner = builder.objectRef<RaffleWinner>('RaffleWinner').implement({
  fields: (t) => ({
    rank: t.exposeInt('rank', { description: 'From 1, in the order of the draw.' }),
    userId: t.expose('customerId', { type: 'UUID' }),
    entrantId: t.expose('entrantId', { type: 'UUID', description: ENTRANT }),
    entries: t.exposeInt('entries'),
  }),
})

query('raffleWinners', {
  description: 'The winners by rank; none before the draw, and none of a cancelled raffle.',
  type: [Winner],
  args: z.strictObject({ id: uuid() }),
  scope: 'raffles:read',
  errors: ['RAFFLE_NOT_FOUND'],
  complexity: () => ({ field: 1, multiplier: 100 }),
  resolve: readWinners,
})

const Proof = builder.objectRef<RaffleProof>('RaffleProof').implement({
  description: 'All that is needed to draw again (docs/raffle-verification.md); null before the draw.',
  fields: (t) => ({
    raffleId: t.expose('raffleId', { type: 'UUID' }),
    algorithm: t.string({ resolve: () => ALGORITHM }),
    seedHash: t.exposeString('seedHash', { description: 'Public from the creation on.' }),
    seed: t.exposeString('seed', { nullable: true }),
    entriesHash: t.exposeString('entriesHash', { nullable: true }),
    entryList: t.exposeString('entryList', {
      nullable: true,
      description: 'A line `<entrant id> <entries>` for each entrant, in the order of the ids.',
    }),
    winnersCount: t.exposeInt('winnersCount'),
    drawnAt: t.expose('drawnAt', { type: 'DateTime', nullable: true }),
    winners: t.field({ type: [Winner], resolve: ({ winners }) => winners }),
  }),
})

query('raffleProof', {
  description: 'The proof of a draw; before it the hash of its seed.',
  type: Proof,
  args: z.strictObject({ id: uuid() }),
  scope: 'raffles:read',
  errors: ['RAFFLE_NOT_FOUND'],
  complexity: () => ({ field: 100, multiplier: 1 }),
  resolve: readProof,
})
