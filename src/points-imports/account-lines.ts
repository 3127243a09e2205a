import type { Context } from '../context.js'
import { statement } from '../database/sql.js'
import { AppError } from '../errors.js'
import { accountColumns, accountJoins, type CustomerAccount } from '../ledger/customer.js'
import { usableBalance } from '../ledger/expiry.rules.js'
import { MAX_BALANCE } from '../ledger/ledger.js'
import { type Earner, promotionsNear } from '../points/earner.js'
import { earnedPoints, minorUnits, product } from '../points/earning.rules.js'
import { bestMultiplier } from '../promotions/promotions.rules.js'
import { localDate } from '../time.js'
import type { CsvIssue, PointsLine } from './points-csv.rules.js'

/** A line whose customer is known. */
export interface AccountLine extends PointsLine {
  customerId: string
  /** The points that it gives, by the customer's tier and the promotions as they are now. */
  worth: number
}

type Account = CustomerAccount & Pick<Earner, 'promotionsNear'>

const findAccounts = statement<Account & { line: number }>(
  'accounts_of_points_lines',
  `SELECT asked.line, ${promotionsNear('$5::timestamptz')} AS "promotionsNear", ${accountColumns}
     FROM unnest($2::int[], $3::uuid[], $4::text[]) AS asked (line, user_id, identifier)
     LEFT JOIN customer_identifiers i ON i.business_id = $1 AND i.value = asked.identifier
     JOIN customers c ON c.business_id = $1 AND c.id = coalesce(asked.user_id, i.customer_id) AND c.erased_at IS NULL
     ${accountJoins}`,
)

/** Finds the customers of all lines at once, and what their accounts would refuse. */
export async function checkAccounts(
  ctx: Context,
  lines: readonly PointsLine[],
): Promise<{ accountLines: AccountLine[]; issues: CsvIssue[] }> {
  const accounts = await accountsOf(ctx, lines)
  const balances = new Map<string, number>()
  const accountLines: AccountLine[] = []
  const issues: CsvIssue[] = []
  for (const line of lines) {
    const refuse = (column: string, message: string) => issues.push({ line: line.line, column, message })
    const account = accounts.get(line.line)
    if (!account) {
      refuse(line.userId === null ? 'identifier' : 'user_id', 'is not a customer')
      continue
    }
    const worth = worthOf(line, account, ctx.now)
    if (worth === undefined) {
      refuse('amount', `has more decimals than ${account.currency} has`)
      continue
    }
    const balance = (balances.get(account.id) ?? usableBalance(account, account, ctx.now)) + worth
    balances.set(account.id, balance)
    if (balance > MAX_BALANCE)
      refuse(
        line.points === null ? 'amount' : 'points',
        new AppError('BALANCE_LIMIT_REACHED', MAX_BALANCE).message,
      )
    accountLines.push({ ...line, customerId: account.id, worth })
  }
  return { accountLines, issues }
}

async function accountsOf(ctx: Context, lines: readonly PointsLine[]): Promise<Map<number, Account>> {
  const found = await ctx.sql.rows(findAccounts, [
    ctx.business.id,
    lines.map(({ line }) => line),
    lines.map(({ userId }) => userId),
    lines.map(({ identifier }) => identifier),
    ctx.now,
  ])
  return new Map(found.map(({ line, ...account }) => [line, account]))
}

/** Undefined where the amount has more decimals than the currency. */
function worthOf({ points, amount }: PointsLine, account: Account, now: Date): number | undefined {
  if (amount === null) return points!
  if (minorUnits(amount, account.currency) === undefined) return undefined
  const promotion = bestMultiplier(account.promotionsNear ?? [], localDate(now, account.timezone))
  const multipliers = [account.tier?.pointsMultiplier ?? '1', promotion?.pointsMultiplier ?? '1']
  return earnedPoints(amount, account.earnPointsPerUnit, product(multipliers))
}
