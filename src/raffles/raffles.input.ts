import * as z from 'zod'
import { addressFields } from '../customers/address.js'
import { MaxEntriesMode } from '../database/generated/prisma/client.js'
import { instant, int, oneOf, text, uuid } from '../graphql/bounds.js'
import { inputType } from '../graphql/input.js'
import { IMAGE_DESCRIPTION, imageFields } from '../images/image-input.js'

/** The writable fields of a raffle, each with its own bounds (spec §2, Raffle; docs: decisions, HTTP). */

const MAX_POINTS_COST = 1_000_000_000
const MAX_ENTRIES_PER_USER = 10_000
const MAX_WINNERS = 1000
const MAX_ENTRIES = 10_000_000

const name = text(1, 200)
const endsAt = instant().describe('From then on no entries are taken, and within a minute it is drawn.')
const pointsCost = int(0, MAX_POINTS_COST).describe('Points for one entry.')

const texts = { description: text(0, 5000).nullish(), termsConditions: text(0, 5000).nullish() }

const terms = {
  startsAt: instant().optional().describe('May lie in the past; default now.'),
  entriesPerUser: int(1, MAX_ENTRIES_PER_USER)
    .optional()
    .describe('At most so many by one person; default 1.'),
  winnersCount: int(1, MAX_WINNERS).optional().describe('Default 1.'),
  maxEntries: int(1, MAX_ENTRIES).nullish().describe('Ceiling of all entries, or people; null = none.'),
  maxEntriesMode: oneOf('MaxEntriesMode', MaxEntriesMode)
    .optional()
    .describe('What maxEntries counts: all entries (total, the default) or people (unique_entrants).'),
}

export const CreateRaffle = inputType(
  'CreateRaffleInput',
  z.strictObject({ name, ...texts, endsAt, pointsCost, ...terms }),
)

export const UpdateRaffle = inputType(
  'UpdateRaffleInput',
  z.strictObject({
    id: uuid(),
    name: name.optional(),
    ...texts,
    endsAt: endsAt.optional(),
    pointsCost: pointsCost.optional(),
    ...terms,
  }),
  'An absent field stays as it is, null clears; once somebody has entered, only texts change.',
)

const onlyId = z.strictObject({ id: uuid() })
export const DeleteRaffle = inputType('DeleteRaffleInput', onlyId.clone())
export const EndRaffle = inputType('EndRaffleInput', onlyId.clone())
export const ConfirmRaffle = inputType('ConfirmRaffleInput', onlyId.clone())
export const CancelRaffle = inputType('CancelRaffleInput', onlyId.clone())
export const DeleteRaffleImage = inputType('DeleteRaffleImageInput', onlyId.clone())

export const SetRaffleImage = inputType(
  'SetRaffleImageInput',
  z.strictObject({ id: uuid(), ...imageFields }),
  IMAGE_DESCRIPTION,
)

export const EnterRaffle = inputType(
  'EnterRaffleInput',
  z.strictObject({
    raffleId: uuid(),
    ...addressFields,
    entries: int(1, MAX_ENTRIES_PER_USER).default(1).describe('How many more, all or none.'),
  }),
)
