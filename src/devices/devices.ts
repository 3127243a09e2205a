import { v7 as uuidv7 } from 'uuid'
import { type Context, type TransactionContext, transaction } from '../context.js'
import { type Device, Prisma } from '../database/generated/prisma/client.js'
import { statement } from '../database/sql.js'
import { AppError, invalid } from '../errors.js'
import { givenFields } from '../patch.js'
import { areLimits, type IssueLimits } from './devices.rules.js'
import { openPairing, type Pairing } from './pairing.js'

export interface NewDevice extends IssueLimits {
  deviceName: string
  /** Where it stands: an id of the business's own. */
  locationId?: string | null | undefined
}

/** All devices of the business, newest first, those that were revoked among them. */
export const listDevices = (ctx: Context): Promise<Device[]> =>
  ctx.db.device.findMany({
    where: { businessId: ctx.business.id },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
  })

/** Registers a terminal, with a code to pair it (spec §4, POST /devices). Throws DEVICE_NAME_TAKEN. */
export function registerDevice(
  ctx: Context,
  { locationId = null, ...named }: NewDevice,
): Promise<{ device: Device; pairing: Pairing }> {
  return transaction(ctx, async (tx) => {
    const device: Device = {
      businessId: tx.business.id,
      id: uuidv7(),
      ...named,
      locationId,
      pairedAt: null,
      lastActiveAt: null,
      revokedAt: null,
      createdAt: tx.now,
    }
    // Of two at once the second waits for the first and is then skipped: no error that would end the transaction.
    const { count } = await tx.db.device.createMany({ data: device, skipDuplicates: true })
    if (count === 0) throw new AppError('DEVICE_NAME_TAKEN')
    return { device, pairing: await openPairing(tx, device.id) }
  })
}

/**
 * Changes a device; what is absent stays. New limits hold from the next issue on. Throws EMPTY_UPDATE,
 * DEVICE_NOT_FOUND, DEVICE_REVOKED, DEVICE_NAME_TAKEN, or InvalidInput naming `maxPoints`.
 */
export function updateDevice(
  ctx: Context,
  { id, ...change }: { id: string } & { [Field in keyof NewDevice]?: NewDevice[Field] | undefined },
): Promise<Device> {
  const data = givenFields(change)
  return transaction(ctx, async (tx) => {
    const limits = { ...(await lockDevice(tx, id)), ...data }
    if (!areLimits(limits)) throw invalid('maxPoints', 'must be at least minPoints')
    return refusingTaken(tx.db.device.update({ where: deviceKey(tx, id), data }))
  })
}

/**
 * Ends a device for good: its token and its pairing code are gone, its name is free. Doing so again changes nothing.
 * Throws DEVICE_NOT_FOUND.
 */
export function revokeDevice(ctx: Context, { id }: { id: string }): Promise<Device> {
  return transaction(ctx, async (tx) => {
    const { db, business, now } = tx
    await db.device.updateMany({
      where: { businessId: business.id, id, revokedAt: null },
      data: { revokedAt: now },
    })
    await db.deviceLogin.deleteMany({ where: { businessId: business.id, deviceId: id } })
    const device = await db.device.findUnique({ where: deviceKey(tx, id) })
    if (!device) throw new AppError('DEVICE_NOT_FOUND')
    return device
  })
}

/** A new code to pair a device with; earlier codes of it are void. Throws DEVICE_NOT_FOUND or DEVICE_REVOKED. */
export function createPairing(
  ctx: Context,
  { id }: { id: string },
): Promise<{ device: Device; pairing: Pairing }> {
  return transaction(ctx, async (tx) => {
    await lockDevice(tx, id)
    const pairing = await openPairing(tx, id)
    return { device: await tx.db.device.findUniqueOrThrow({ where: deviceKey(tx, id) }), pairing }
  })
}

const deviceKey = ({ business }: Context, id: string) => ({ businessId_id: { businessId: business.id, id } })

const lock = statement<IssueLimits & { revoked: boolean }>(
  'lock_device',
  `SELECT min_points AS "minPoints", max_points AS "maxPoints", revoked_at IS NOT NULL AS revoked
     FROM devices WHERE business_id = $1 AND id = $2 FOR NO KEY UPDATE`,
)

/** A device that can be worked with, locked: before its login, always. Throws DEVICE_NOT_FOUND or DEVICE_REVOKED. */
async function lockDevice(tx: TransactionContext, id: string): Promise<IssueLimits> {
  const device = await tx.sql.row(lock, [tx.business.id, id])
  if (!device) throw new AppError('DEVICE_NOT_FOUND')
  if (device.revoked) throw new AppError('DEVICE_REVOKED')
  return device
}

/** The unique index decides, so that of two at once one is refused; the name is the only thing that can collide. */
async function refusingTaken<T>(write: Promise<T>): Promise<T> {
  try {
    return await write
  } catch (error) {
    if (error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002')
      throw new AppError('DEVICE_NAME_TAKEN')
    throw error
  }
}
