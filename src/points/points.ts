import { type Context, deviceOf, transaction } from '../context.js'
import type { CustomerAddress } from '../customers/address.js'
import { statement } from '../database/sql.js'
import { actingTerminal } from '../devices/acting-terminal.js'
import { pointsRefusal } from '../devices/devices.rules.js'
import { AppError, invalid } from '../errors.js'
import { type CustomerAccount, lockAccount, readAccount } from '../ledger/customer.js'
import {
  type LedgerRow,
  MAX_BALANCE,
  PURCHASES,
  post,
  settleExpiry,
  type TransactionSource,
} from '../ledger/ledger.js'
import { bestMultiplier } from '../promotions/promotions.rules.js'
import { localDate } from '../time.js'
import { earn } from './earn.js'
import { type Earner, lockEarner } from './earner.js'
import { earnedPoints, minorUnits, product } from './earning.rules.js'

export interface PointsResult {
  transaction: LedgerRow
  balance: CustomerAccount
}

export interface IssueInput extends CustomerAddress {
  points?: number | null | undefined
  /** Decimal, in the business's currency. */
  amount?: string | null | undefined
  locationId?: string | null | undefined
  description?: string | null | undefined
  occurredAt?: Date | null | undefined
  /** Default: who asks. No request says it. */
  source?: TransactionSource
}

/**
 * Gives points: exactly `points`, or what `amount` earns (rate × tier multiplier × best promotion, as of
 * `occurredAt`, floored once). Throws CUSTOMER_ADDRESS, CUSTOMER_NOT_FOUND, BALANCE_LIMIT_REACHED, or InvalidInput
 * naming `amount`, `occurredAt`, or `points` where a terminal would pass its limits.
 */
export function issuePoints(ctx: Context, input: IssueInput): Promise<PointsResult> {
  const source = input.source ?? sourceOf(ctx)
  const occurredAt = input.occurredAt ?? ctx.now
  if (occurredAt > ctx.now) throw invalid('occurredAt', 'must not be in the future')
  return transaction(ctx, async (tx) => {
    const account = await lockEarner(tx, input, input.occurredAt ?? null)
    await settleExpiry(tx, account)
    const earned =
      input.amount == null ? { points: input.points! } : purchase(account, input.amount, occurredAt)
    const terminal = await actingTerminal(tx)
    const refusal = terminal && pointsRefusal(earned.points, terminal)
    if (refusal) throw refusal
    const row = await earn(tx, account, {
      type: 'earn',
      source,
      occurredAt,
      deviceId: deviceOf(ctx),
      locationId: input.locationId ?? terminal?.locationId ?? null,
      description: input.description ?? null,
      earnedPoints: PURCHASES.has(source) ? earned.points : 0,
      ...earned,
    })
    return { transaction: row, balance: account }
  })
}

function purchase(earner: Earner, amount: string, occurredAt: Date) {
  const { currency, timezone, tierThen: tier } = earner
  const amountMinor = minorUnits(amount, currency)
  if (amountMinor === undefined) throw invalid('amount', `has more decimals than ${currency} has`)
  const promotion = bestMultiplier(earner.promotionsNear ?? [], localDate(occurredAt, timezone))
  const multiplier = product([tier?.pointsMultiplier ?? '1', promotion?.pointsMultiplier ?? '1'])
  const points = earnedPoints(amount, earner.earnPointsPerUnit, multiplier)
  if (points > MAX_BALANCE) throw new AppError('BALANCE_LIMIT_REACHED', MAX_BALANCE)
  const by = { multiplier, promotionId: promotion?.id ?? null, tierId: tier?.id ?? null }
  return { points, amountMinor, currency, spendMinor: amountMinor, ...by }
}

/** Who gave or took the points, as rows say it. */
function sourceOf({ actor }: Context): TransactionSource {
  if (actor.kind === 'api_key') return 'api'
  return actor.kind === 'terminal' ? 'terminal' : 'dashboard'
}

/** Takes points. Throws CUSTOMER_ADDRESS, CUSTOMER_NOT_FOUND or INSUFFICIENT_POINTS with what is free. */
export function redeemPoints(
  ctx: Context,
  input: CustomerAddress & { points: number; description?: string | null | undefined },
): Promise<PointsResult> {
  return transaction(ctx, async (tx) => {
    const account = await lockAccount(tx, input)
    await settleExpiry(tx, account)
    const row = await post(tx, account, {
      type: 'redeem',
      source: sourceOf(ctx),
      points: input.points,
      description: input.description ?? null,
    })
    return { transaction: row, balance: account }
  })
}

interface Reversible {
  customerId: string
  type: string
  status: string
  source: TransactionSource
  points: number
  amountMinor: number | null
  currency: string | null
  reversed: boolean
}

const findReversible = statement<Reversible>(
  'find_reversible_transaction',
  `SELECT o.customer_id AS "customerId", o.type, o.status, o.source, o.points, o.amount_minor AS "amountMinor",
          o.currency, EXISTS (SELECT FROM transactions r WHERE r.business_id = $1 AND r.reverses_id = $2) AS reversed
     FROM transactions o WHERE o.business_id = $1 AND o.id = $2`,
)

/** Earnings that goods can be returned for; refunds, bonuses and reversals are no purchases. */
const REVERSIBLE: ReadonlySet<TransactionSource> = new Set(['api', 'terminal', 'dashboard', 'code', 'import'])

/**
 * Takes back an earning, whole and once (returned goods); spend and tier progress go down with it. Throws
 * TRANSACTION_NOT_FOUND, TRANSACTION_NOT_REVERSIBLE, TRANSACTION_ALREADY_REVERSED, or INSUFFICIENT_POINTS where the
 * customer has spent the points since.
 */
export function reverseTransaction(ctx: Context, { id }: { id: string }): Promise<PointsResult> {
  return transaction(ctx, async (tx) => {
    const target = [ctx.business.id, id]
    const known = await tx.sql.row(findReversible, target)
    if (!known) throw new AppError('TRANSACTION_NOT_FOUND')
    if (known.type !== 'earn' || known.status !== 'completed' || !REVERSIBLE.has(known.source))
      throw new AppError('TRANSACTION_NOT_REVERSIBLE')
    const account = await lockAccount(tx, { userId: known.customerId })
    // Asked again now that nobody else can be reversing it.
    if ((await tx.sql.row(findReversible, target))!.reversed)
      throw new AppError('TRANSACTION_ALREADY_REVERSED')
    await settleExpiry(tx, account)
    const row = await post(tx, account, {
      type: 'redeem',
      source: 'reversal',
      points: known.points,
      amountMinor: known.amountMinor,
      currency: known.currency,
      reversesId: id,
      spendMinor: -(known.amountMinor ?? 0),
      earnedPoints: PURCHASES.has(known.source) ? -known.points : 0,
    })
    return { transaction: row, balance: account }
  })
}

/** The balance object of spec §2. Throws CUSTOMER_NOT_FOUND. */
export const readBalance = (ctx: Context, address: CustomerAddress): Promise<CustomerAccount> =>
  readAccount(ctx, address)
