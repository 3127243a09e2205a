import * as z from 'zod'
import { MaxEntriesMode } from '../database/generated/prisma/client.js'
import { uuid } from '../graphql/bounds.js'
import { builder } from '../graphql/builder.js'
import { connectionType, nodePaths, pageArgs, pageComplexity } from '../graphql/connection.js'
import { enumOf } from '../graphql/enums.js'
import { mutation, query, selection } from '../graphql/fields.js'
import { cancelRaffle } from './cancellation.js'
import { confirmRaffle, endRaffle } from './draw.js'
import { deleteRaffleImage, setRaffleImage } from './raffle-image.js'
import {
  CancelRaffle,
  ConfirmRaffle,
  CreateRaffle,
  DeleteRaffle,
  DeleteRaffleImage,
  EndRaffle,
  SetRaffleImage,
  UpdateRaffle,
} from './raffles.input.js'
import { allRaffles, createRaffle, deleteRaffle, listRaffles, readRaffle, updateRaffle } from './raffles.js'
import {
  availabilityOf,
  isFull,
  RaffleAvailability,
  RaffleStatus,
  roomLeft,
  statusOf,
} from './raffles.rules.js'

const moments = { startsAt: true, drawnAt: true, completedAt: true, cancelledAt: true } as const
const ceiling = { maxEntries: true, maxEntriesMode: true, totalEntries: true, uniqueEntrants: true } as const

/** Spec §2, Raffle; the moments and the hash that REST does not show are for the dashboard. */
const RaffleType = builder.prismaObject('Raffle', {
  description: 'A draw that customers enter with points.',
  select: { id: true, createdAt: true },
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID' }),
    businessId: t.expose('businessId', { type: 'UUID' }),
    name: t.exposeString('name'),
    description: t.exposeString('description', { nullable: true }),
    termsConditions: t.exposeString('termsConditions', { nullable: true }),
    startsAt: t.expose('startsAt', { type: 'DateTime' }),
    endsAt: t.expose('endsAt', { type: 'DateTime' }),
    pointsCost: t.exposeInt('pointsCost', { description: 'Points for one entry.' }),
    entriesPerUser: t.exposeInt('entriesPerUser'),
    winnersCount: t.exposeInt('winnersCount'),
    maxEntries: t.exposeInt('maxEntries', { nullable: true }),
    maxEntriesMode: t.expose('maxEntriesMode', { type: enumOf('MaxEntriesMode', MaxEntriesMode) }),
    imageUrl: t.string({
      nullable: true,
      select: { imageKey: true },
      resolve: ({ imageKey }, _args, ctx) => (imageKey === null ? null : ctx.images.urlOf(imageKey)),
    }),
    status: t.field({
      type: enumOf('RaffleStatus', RaffleStatus),
      select: moments,
      resolve: (raffle, _args, ctx) => statusOf(raffle, ctx.now),
    }),
    availability: t.field({
      type: enumOf('RaffleAvailability', RaffleAvailability),
      description: 'Whether entries are taken now.',
      select: { ...moments, ...ceiling, endsAt: true },
      resolve: (raffle, _args, ctx) => availabilityOf(raffle, ctx.now),
    }),
    totalEntries: t.expose('totalEntries', { type: 'SafeInt' }),
    uniqueEntrants: t.exposeInt('uniqueEntrants'),
    entriesRemainingGlobal: t.int({
      nullable: true,
      description: 'Room under the ceiling, for entries or people as maxEntriesMode says; null without one.',
      select: ceiling,
      resolve: roomLeft,
    }),
    isFull: t.boolean({ select: ceiling, resolve: isFull }),
    seedHash: t.exposeString('seedHash', {
      description: 'SHA-256 of the seed of the draw, public from the creation on.',
    }),
    drawnAt: t.expose('drawnAt', { type: 'DateTime', nullable: true }),
    completedAt: t.expose('completedAt', { type: 'DateTime', nullable: true }),
    cancelledAt: t.expose('cancelledAt', { type: 'DateTime', nullable: true }),
    refundedAt: t.expose('refundedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the last entry of a cancelled raffle was refunded.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime' }),
  }),
})

query('raffle', {
  description: 'A raffle.',
  type: RaffleType,
  args: z.strictObject({ id: uuid() }),
  scope: 'raffles:read',
  errors: ['RAFFLE_NOT_FOUND'],
  resolve: (ctx, args, info) => readRaffle(ctx, args, selection(ctx, info)),
})

query('raffles', {
  description: 'The raffles of the business, newest first.',
  type: connectionType('Raffle', RaffleType as never),
  args: z.strictObject(pageArgs),
  scope: 'raffles:read',
  complexity: pageComplexity,
  resolve: (ctx, args, info) => listRaffles(ctx, args, selection(ctx, info, 'Raffle', nodePaths)),
})

query('allRaffles', {
  description: 'The raffles of the business in one list, newest first.',
  type: [RaffleType],
  args: z.strictObject({}),
  scope: 'raffles:read',
  complexity: () => ({ field: 1, multiplier: 1000 }),
  resolve: (ctx, _args, info) => allRaffles(ctx, selection(ctx, info)),
})

mutation('createRaffle', {
  description: 'Adds a raffle and publishes the hash of the seed of its draw.',
  type: RaffleType,
  input: CreateRaffle,
  scope: 'raffles:write',
  resolve: (ctx, input, info) => createRaffle(ctx, input, selection(ctx, info)),
})

mutation('updateRaffle', {
  description: 'Changes a raffle; once somebody has entered, its texts alone.',
  type: RaffleType,
  input: UpdateRaffle,
  scope: 'raffles:write',
  errors: ['EMPTY_UPDATE', 'RAFFLE_NOT_FOUND', 'RAFFLE_NOT_ACTIVE', 'RAFFLE_HAS_ENTRIES'],
  resolve: (ctx, input, info) => updateRaffle(ctx, input, selection(ctx, info)),
})

const DeletedRaffle = builder.objectRef<{ id: string }>('DeletedRaffle').implement({
  fields: (t) => ({ id: t.expose('id', { type: 'UUID' }) }),
})

mutation('deleteRaffle', {
  description: 'Deletes a raffle that nobody has entered; one that has entries can be cancelled.',
  type: DeletedRaffle,
  input: DeleteRaffle,
  scope: 'raffles:write',
  errors: ['RAFFLE_NOT_FOUND', 'RAFFLE_HAS_ENTRIES'],
  resolve: deleteRaffle,
})

mutation('endRaffle', {
  description: 'Closes a running raffle and draws its provisional winners.',
  type: RaffleType,
  input: EndRaffle,
  scope: 'raffles:write',
  errors: ['RAFFLE_NOT_FOUND', 'RAFFLE_NOT_ACTIVE'],
  resolve: (ctx, input, info) => endRaffle(ctx, input, selection(ctx, info)),
})

mutation('confirmRaffle', {
  description: 'Makes the drawn winners final.',
  type: RaffleType,
  input: ConfirmRaffle,
  scope: 'raffles:write',
  errors: ['RAFFLE_NOT_FOUND', 'RAFFLE_NOT_DRAWN'],
  resolve: (ctx, input, info) => confirmRaffle(ctx, input, selection(ctx, info)),
})

mutation('cancelRaffle', {
  description: 'Cancels a raffle that is not completed and refunds every entry.',
  type: RaffleType,
  input: CancelRaffle,
  scope: 'raffles:write',
  errors: ['RAFFLE_NOT_FOUND', 'RAFFLE_NOT_CANCELLABLE'],
  resolve: (ctx, input, info) => cancelRaffle(ctx, input, selection(ctx, info)),
})

mutation('setRaffleImage', {
  description: 'Gives a raffle an image; one it has is replaced.',
  type: RaffleType,
  input: SetRaffleImage,
  scope: 'raffles:write',
  errors: ['RAFFLE_NOT_FOUND'],
  resolve: (ctx, input, info) => setRaffleImage(ctx, input, selection(ctx, info)),
})

mutation('deleteRaffleImage', {
  description: 'Takes the image of a raffle away, if it has one.',
  type: RaffleType,
  input: DeleteRaffleImage,
  scope: 'raffles:write',
  errors: ['RAFFLE_NOT_FOUND'],
  resolve: (ctx, input, info) => deleteRaffleImage(ctx, input, selection(ctx, info)),
})
