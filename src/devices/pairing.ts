import { renderSVG } from 'uqr'
import { type Context, type TransactionContext, transaction } from '../context.js'
import type { Device } from '../database/generated/prisma/client.js'
import { statement } from '../database/sql.js'
import { AppError } from '../errors.js'
import { generateCode, readCode } from '../redemptions/code.js'
import { generateTerminalToken } from './terminal-token.js'

/** How long a pairing code is good. */
export const PAIRING_MS = 10 * 60 * 1000

/** 60 bits: in its ten minutes nobody guesses one, however many there are. */
const CODE_LENGTH = 12
const GROUP_LENGTH = 4

/** A code that pairs a terminal, once. */
export interface Pairing {
  /** `ABCD-EFGH-JKMN` */
  code: string
  expiresAt: Date
}

const savePairing = statement<never>(
  'save_pairing',
  `INSERT INTO device_logins (business_id, device_id, pairing_digest, pairing_expires_at) VALUES ($1, $2, $3, $4)
   ON CONFLICT (business_id, device_id) DO UPDATE
     SET pairing_digest = excluded.pairing_digest, pairing_expires_at = excluded.pairing_expires_at`,
)

/** Gives a device a new code in place of any earlier one; the token that it has stays good until the code is used. */
export async function openPairing(tx: TransactionContext, deviceId: string): Promise<Pairing> {
  const code = generateCode(CODE_LENGTH)
  const expiresAt = new Date(tx.now.getTime() + PAIRING_MS)
  await tx.sql.run(savePairing, [tx.business.id, deviceId, tx.secrets.keyDigest(code), expiresAt])
  return { code: code.match(new RegExp(`.{${GROUP_LENGTH}}`, 'g'))!.join('-'), expiresAt }
}

/** White modules around the symbol, as ISO/IEC 18004 asks. */
const QUIET_ZONE = 4

/** The code as a picture for the terminal's camera: the data URI of an SVG. */
export function qrOf({ code }: Pairing): string {
  const svg = renderSVG(code, { ecc: 'M', border: QUIET_ZONE })
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`
}

const lockByPairing = statement<{ businessId: string; deviceId: string; suspended: boolean }>(
  'lock_device_by_pairing',
  `SELECT d.business_id AS "businessId", d.id AS "deviceId", b.status = 'suspended' AS suspended
     FROM device_logins l
     JOIN devices d ON d.business_id = l.business_id AND d.id = l.device_id
     JOIN businesses b ON b.id = l.business_id
    WHERE l.pairing_digest = $1 AND l.pairing_expires_at > $2 AND ($3::uuid IS NULL OR l.business_id = $3)
      FOR NO KEY UPDATE OF d`,
)
const usePairing = statement<never>(
  'use_pairing',
  `UPDATE device_logins SET token_digest = $4, pairing_digest = NULL, pairing_expires_at = NULL
    WHERE business_id = $1 AND device_id = $2 AND pairing_digest = $3`,
)

/**
 * Takes a pairing code and gives the terminal its token, in place of any that it had; neither is ever shown again. A
 * stranger's code says which business it is of; with an API key only the codes of its own business are found. Throws
 * PAIRING_CODE_NOT_FOUND (unknown, used, expired, replaced: one answer for all) or BUSINESS_SUSPENDED.
 */
export function pairTerminal(
  ctx: Context,
  { code }: { code: string },
): Promise<{ device: Device; token: string }> {
  return transaction(ctx, async ({ sql, db, secrets, now, actor, business }) => {
    const read = readCode(code.replace(/[\s-]/g, ''), CODE_LENGTH)
    const digest = read && secrets.keyDigest(read)
    const within = actor.kind === 'stranger' ? null : business.id
    const found = digest && (await sql.row(lockByPairing, [digest, now, within]))
    if (!found) throw new AppError('PAIRING_CODE_NOT_FOUND')
    const { businessId, deviceId } = found
    if (found.suspended) throw new AppError('BUSINESS_SUSPENDED')
    const token = generateTerminalToken()
    // Of two at once the second has waited for the first, and finds the code used.
    if ((await sql.run(usePairing, [businessId, deviceId, digest, secrets.keyDigest(token)])) === 0)
      throw new AppError('PAIRING_CODE_NOT_FOUND')
    const where = { businessId_id: { businessId, id: deviceId } }
    return { device: await db.device.update({ where, data: { pairedAt: now } }), token }
  })
}
