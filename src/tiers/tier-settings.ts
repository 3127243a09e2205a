import { v7 as uuidv7 } from 'uuid'
import { type Context, type TransactionContext, transaction } from '../context.js'
import { statement } from '../database/sql.js'
import { givenFields } from '../patch.js'
import { changeTierRules, DEFAULT_TIER_RULES, type TierRules } from './tiers.rules.js'

const columns = `enabled, metric, period, period_months AS "periodMonths", downgrade_policy AS "downgradePolicy"`

const find = statement<TierRules>(
  'find_tier_settings',
  `SELECT ${columns} FROM tier_settings WHERE business_id = $1`,
)

/** How customers of the business come by their tiers. */
export const readTierSettings = async (ctx: Context): Promise<TierRules> =>
  (await ctx.sql.row(find, [ctx.business.id])) ?? DEFAULT_TIER_RULES

const beginChange = statement<TierRules>(
  'begin_tier_change',
  `INSERT INTO tier_settings (business_id, recalculation) VALUES ($1, $2)
   ON CONFLICT (business_id) DO UPDATE SET recalculation = $2 RETURNING ${columns}`,
)

/**
 * Begins a change of tiers or settings: others wait until the transaction ends. All customers are judged anew by a
 * job, within a minute or so; a request that did that itself would take as long as the business has customers.
 */
export const lockTierSystem = async (tx: TransactionContext): Promise<TierRules> =>
  (await tx.sql.row(beginChange, [tx.business.id, uuidv7()]))!

const save = statement<never>(
  'save_tier_settings',
  `UPDATE tier_settings SET enabled = $2, metric = $3, period = $4, period_months = $5, downgrade_policy = $6
    WHERE business_id = $1`,
)

/** Changes the settings; what is absent stays. Throws EMPTY_UPDATE, or InvalidInput naming what contradicts. */
export function updateTierSettings(
  ctx: Context,
  input: { [Field in keyof TierRules]?: TierRules[Field] | undefined },
): Promise<TierRules> {
  const change = givenFields(input)
  return transaction(ctx, async (tx) => {
    const after = changeTierRules(await lockTierSystem(tx), change)
    const { enabled, metric, period, periodMonths, downgradePolicy } = after
    await tx.sql.run(save, [tx.business.id, enabled, metric, period, periodMonths, downgradePolicy])
    return after
  })
}
