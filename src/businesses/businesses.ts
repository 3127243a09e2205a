import type { Context } from '../context.js'
import { transaction } from '../context.js'
import { statement } from '../database/sql.js'
import { AppError } from '../errors.js'

/** A business as its own people see it; decimals as text. */
export interface BusinessRow {
  id: string
  name: string
  email: string
  status: 'active' | 'suspended'
  country: string
  timezone: string
  currency: string
  earnPointsPerUnit: string
  pointSpendValue: string | null
  usdRate: string
  redemptionTtlHours: number
  pointsExpireAfterDays: number | null
  pointsExpireSince: Date | null
  /** Customers after this id may have visit hours of another zone; null = nobody. */
  visitHoursDueAfter: string | null
}

export interface KeyRow {
  id: string
  name: string
  prefix: string
}

/** Before every id. */
const FIRST_ID = '00000000-0000-0000-0000-000000000000'

const columns = `
  b.id, b.name, b.email, b.status, b.country, b.timezone, b.currency,
  b.earn_points_per_unit AS "earnPointsPerUnit", b.point_spend_value AS "pointSpendValue", b.usd_rate AS "usdRate",
  b.redemption_ttl_hours AS "redemptionTtlHours", b.points_expire_after_days AS "pointsExpireAfterDays",
  b.points_expire_since AS "pointsExpireSince", b.visit_hours_due_after AS "visitHoursDueAfter"`

const findBusiness = statement<BusinessRow>(
  'find_business',
  `SELECT ${columns} FROM businesses b WHERE b.id = $1`,
)
const lockBusiness = statement<BusinessRow>(
  'lock_business',
  `SELECT ${columns} FROM businesses b WHERE b.id = $1 FOR NO KEY UPDATE`,
)
const findViewer = statement<BusinessRow & { keyId: string; keyName: string; keyPrefix: string }>(
  'find_viewer',
  `SELECT ${columns}, k.id AS "keyId", k.name AS "keyName", k.prefix AS "keyPrefix"
     FROM api_keys k JOIN businesses b ON b.id = k.business_id WHERE k.id = $1 AND k.business_id = $2`,
)
const saveSettings = statement<BusinessRow>(
  'save_settings',
  `UPDATE businesses b SET timezone = $2, currency = $3, earn_points_per_unit = $4, point_spend_value = $5,
          usd_rate = $6, redemption_ttl_hours = $7, points_expire_after_days = $8, points_expire_since = $9,
          visit_hours_due_after = CASE WHEN b.timezone = $2::varchar THEN b.visit_hours_due_after ELSE '${FIRST_ID}'::uuid END,
          updated_at = $10
    WHERE b.id = $1 RETURNING ${columns}`,
)

/** The business of the request. */
export async function readBusiness(ctx: Context): Promise<BusinessRow> {
  const row = await ctx.sql.row(findBusiness, [ctx.business.id])
  if (!row) throw new AppError('INVALID_API_KEY')
  return row
}

/** The business and the key of the request, in one statement (spec §4, GET /me). */
export async function readKey(ctx: Context): Promise<{ business: BusinessRow; apiKey: KeyRow }> {
  if (ctx.actor.kind !== 'api_key') throw new AppError('INVALID_API_KEY')
  const row = await ctx.sql.row(findViewer, [ctx.actor.id, ctx.business.id])
  if (!row) throw new AppError('INVALID_API_KEY')
  return { business: row, apiKey: { id: row.keyId, name: row.keyName, prefix: row.keyPrefix } }
}

export interface SettingsChange {
  timezone?: string | undefined
  currency?: string | undefined
  earnPointsPerUnit?: string | undefined
  pointSpendValue?: string | null | undefined
  usdRate?: string | undefined
  redemptionTtlHours?: number | undefined
  pointsExpireAfterDays?: number | null | undefined
}

/** Changes settings; what is absent stays. Throws EMPTY_UPDATE where nothing is given. */
export function updateSettings(ctx: Context, change: SettingsChange): Promise<BusinessRow> {
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
  if (Object.keys(given).length === 0) throw new AppError('EMPTY_UPDATE')
  return transaction(ctx, async (tx) => {
    const before = (await tx.sql.row(lockBusiness, [ctx.business.id]))!
    const after: BusinessRow = { ...before, ...given }
    // Nothing expires earlier than its days after expiry was switched on.
    if (after.pointsExpireAfterDays === null) after.pointsExpireSince = null
    else if (before.pointsExpireAfterDays === null) after.pointsExpireSince = ctx.now
    return (await tx.sql.row(saveSettings, [
      ctx.business.id,
      after.timezone,
      after.currency,
      after.earnPointsPerUnit,
      after.pointSpendValue,
      after.usdRate,
      after.redemptionTtlHours,
      after.pointsExpireAfterDays,
      after.pointsExpireSince,
      ctx.now,
    ]))!
  })
}
