import * as z from 'zod'
import type { Device } from '../database/generated/prisma/client.js'
import { int, text, uuid } from '../graphql/bounds.js'
import { builder } from '../graphql/builder.js'
import { enumRef } from '../graphql/enums.js'
import { mutation, query } from '../graphql/fields.js'
import { inputType } from '../graphql/input.js'
import { createPairing, listDevices, registerDevice, revokeDevice, updateDevice } from './devices.js'
import { areLimits, deviceStatuses, statusOf } from './devices.rules.js'
import { type Pairing, pairTerminal, qrOf } from './pairing.js'

/** What one issue may give at most (docs: decisions, Points and transactions). */
const MAX_POINTS = 1_000_000

const DeviceType = builder.objectRef<Device>('Device').implement({
  description: 'A terminal at a counter (spec §2, Device; the further fields: docs/decisions.md).',
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID' }),
    deviceName: t.exposeString('deviceName', {
      description: 'Unique among the devices that are not revoked.',
    }),
    locationId: t.expose('locationId', { type: 'UUID', nullable: true }),
    minPoints: t.exposeInt('minPoints'),
    maxPoints: t.exposeInt('maxPoints'),
    status: t.field({ type: enumRef('DeviceStatus', deviceStatuses), resolve: statusOf }),
    loggedIn: t.boolean({
      description: 'Whether it holds a token that is good.',
      resolve: (device) => statusOf(device) === 'paired',
    }),
    lastActiveAt: t.expose('lastActiveAt', {
      type: 'DateTime',
      nullable: true,
      description: 'To the minute.',
    }),
    pairedAt: t.expose('pairedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was paired last.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
})

const PairingType = builder.objectRef<Pairing>('DevicePairing').implement({
  description: 'What pairs a terminal, once and within ten minutes; shown in this answer only.',
  fields: (t) => ({
    code: t.exposeString('code', { description: 'To type in: any case, hyphens or none.' }),
    qr: t.string({
      description: 'The code to be scanned: a data URI of an SVG.',
      resolve: (pairing) => qrOf(pairing),
    }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime' }),
  }),
})

const DeviceToPair = builder.objectRef<{ device: Device; pairing: Pairing }>('DeviceToPair').implement({
  fields: (t) => ({
    device: t.field({ type: DeviceType, resolve: ({ device }) => device }),
    pairing: t.field({ type: PairingType, resolve: ({ pairing }) => pairing }),
  }),
})

const PairedTerminal = builder.objectRef<{ device: Device; token: string }>('PairedTerminal').implement({
  fields: (t) => ({
    device: t.field({ type: DeviceType, resolve: ({ device }) => device }),
    token: t.exposeString('token', { description: 'Its bearer from now on; shown in this answer only.' }),
  }),
})

query('devices', {
  description: 'All terminals of the business, newest first.',
  type: [DeviceType],
  args: z.strictObject({}),
  scope: 'devices:read',
  resolve: listDevices,
})

const minPoints = int(0, MAX_POINTS)
const maxPoints = int(1, MAX_POINTS)

mutation('registerDevice', {
  description: 'Registers a terminal, which is then paired by the code in the answer.',
  type: DeviceToPair,
  input: inputType(
    'RegisterDeviceInput',
    z
      .strictObject({
        deviceName: text(1, 200),
        locationId: uuid().nullish(),
        minPoints: minPoints.default(1).describe('The least that one issue may give.'),
        maxPoints: maxPoints.default(100_000).describe('The most that one issue may give.'),
      })
      .refine(areLimits, { path: ['maxPoints'], message: 'must be at least minPoints' }),
  ),
  scope: 'devices:write',
  errors: ['DEVICE_NAME_TAKEN'],
  resolve: registerDevice,
})

const deviceErrors = ['DEVICE_NOT_FOUND', 'DEVICE_REVOKED'] as const

mutation('updateDevice', {
  description: 'Changes a terminal; an absent field stays as it is. New limits hold at once.',
  type: DeviceType,
  input: inputType(
    'UpdateDeviceInput',
    z.strictObject({
      id: uuid(),
      deviceName: text(1, 200).optional(),
      locationId: uuid().nullish(),
      minPoints: minPoints.optional(),
      maxPoints: maxPoints.optional(),
    }),
  ),
  scope: 'devices:write',
  errors: [...deviceErrors, 'EMPTY_UPDATE', 'DEVICE_NAME_TAKEN'],
  resolve: updateDevice,
})

const DeviceById = inputType('DeviceByIdInput', z.strictObject({ id: uuid() }))

mutation('revokeDevice', {
  description: 'Ends a terminal for good: its token is refused within seconds.',
  type: DeviceType,
  input: DeviceById,
  scope: 'devices:write',
  errors: ['DEVICE_NOT_FOUND'],
  resolve: revokeDevice,
})

mutation('createDevicePairing', {
  description: 'A new code to pair a terminal with, also one that has a token; earlier codes are void.',
  type: DeviceToPair,
  input: DeviceById,
  scope: 'devices:write',
  errors: [...deviceErrors],
  resolve: createPairing,
})

mutation('pairTerminal', {
  description: 'Takes a pairing code, once, and gives the terminal its token; an earlier one is void.',
  type: PairedTerminal,
  input: inputType(
    'PairTerminalInput',
    z.strictObject({
      code: text(1, 100).describe('Any case, hyphens or none; look-alike characters are folded.'),
    }),
  ),
  scope: 'devices:write',
  alsoFor: 'strangers',
  errors: ['PAIRING_CODE_NOT_FOUND'],
  resolve: pairTerminal,
})
