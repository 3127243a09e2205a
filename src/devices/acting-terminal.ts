import { deviceOf, type TransactionContext } from '../context.js'
import { statement } from '../database/sql.js'
import { AppError } from '../errors.js'
import type { IssueLimits } from './devices.rules.js'

/** The terminal that acts, with what holds for it at this moment. */
export interface ActingTerminal extends IssueLimits {
  locationId: string | null
}

const find = statement<ActingTerminal>(
  'find_acting_terminal',
  `SELECT location_id AS "locationId", min_points AS "minPoints", max_points AS "maxPoints"
     FROM devices WHERE business_id = $1 AND id = $2 AND revoked_at IS NULL`,
)

/**
 * The terminal behind a request, undefined where it is somebody else's. Read anew each time: a limit that was lowered
 * holds at once. Throws INVALID_API_KEY where it was revoked since its token was checked.
 */
export async function actingTerminal(tx: TransactionContext): Promise<ActingTerminal | undefined> {
  const deviceId = deviceOf(tx)
  if (deviceId === null) return undefined
  const terminal = await tx.sql.row(find, [tx.business.id, deviceId])
  if (!terminal) throw new AppError('INVALID_API_KEY')
  return terminal
}
