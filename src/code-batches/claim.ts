import { type Context, type TransactionContext, transaction } from '../context.js'
import type { CustomerAddress } from '../customers/address.js'
import { statement } from '../database/sql.js'
import { AppError } from '../errors.js'
import type { CustomerAccount } from '../ledger/customer.js'
import { settleExpiry } from '../ledger/ledger.js'
import { earn } from '../points/earn.js'
import { type Earner, lockEarner } from '../points/earner.js'
import type { PointsResult } from '../points/points.js'
import { failuresAfter, secondsToWait } from './claim-limit.rules.js'
import { FOLDED_PREFIX, readCode, type WrittenCode } from './code.rules.js'

/**
 * Gives a customer the points of a code, once (docs: decisions, Code batches). Throws CUSTOMER_ADDRESS,
 * CUSTOMER_NOT_FOUND, RATE_LIMIT_EXCEEDED after too many failures, CODE_NOT_FOUND, CODE_ALREADY_CLAIMED,
 * BATCH_INACTIVE, BATCH_EXPIRED or BALANCE_LIMIT_REACHED, in this order.
 */
export async function claimCode(
  ctx: Context,
  { code, ...address }: CustomerAddress & { code: string },
): Promise<PointsResult> {
  const written = readCode(code)
  const claimed = await transaction(ctx, async (tx) => {
    const account = await lockEarner(tx, address, null)
    requirePatience(account, tx.now)
    const found = await lockCode(tx, written)
    if (found) return claim(tx, account, found)
    await countFailure(tx, account, written)
    return undefined
  })
  // Thrown when that is committed: the failure is to be counted.
  if (!claimed) throw new AppError('CODE_NOT_FOUND')
  return claimed
}

/** The customer is locked, so claims on all instances count one after the other. */
function requirePatience({ claimFailures }: CustomerAccount, now: Date): void {
  const seconds = secondsToWait(claimFailures ?? [], now)
  if (seconds > 0) throw new AppError('RATE_LIMIT_EXCEEDED', undefined, seconds)
}

interface FoundCode {
  batchId: string
  id: string
  isClaimed: boolean
  points: number
  active: boolean
  expiresAt: Date | null
}

const findAndLock = statement<FoundCode>(
  'lock_batch_code',
  `SELECT k.batch_id AS "batchId", k.id, k.claimed_at IS NOT NULL AS "isClaimed",
          b.points, b.active, b.expires_at AS "expiresAt"
     FROM batch_codes k JOIN code_batches b ON b.business_id = k.business_id AND b.id = k.batch_id
    WHERE k.business_id = $1 AND k.suffix = $2 AND ${FOLDED_PREFIX} = $3
      FOR NO KEY UPDATE OF k`,
)

async function lockCode(
  tx: TransactionContext,
  { prefix, suffix }: WrittenCode,
): Promise<FoundCode | undefined> {
  if (suffix === undefined) return undefined
  return tx.sql.row(findAndLock, [tx.business.id, suffix, prefix])
}

/** Last the batch, which all claims of its codes count on; it may have been switched off meanwhile. */
const markClaimed = statement<never>(
  'claim_batch_code',
  `WITH claimed AS (
     UPDATE batch_codes SET customer_id = $4, transaction_id = $5, claimed_at = $6
      WHERE business_id = $1 AND batch_id = $2 AND id = $3 AND claimed_at IS NULL RETURNING batch_id
   )
   UPDATE code_batches b SET claimed = b.claimed + 1 FROM claimed
    WHERE b.business_id = $1 AND b.id = claimed.batch_id AND b.active`,
)

async function claim(tx: TransactionContext, account: Earner, code: FoundCode): Promise<PointsResult> {
  if (code.isClaimed) throw new AppError('CODE_ALREADY_CLAIMED')
  if (!code.active) throw new AppError('BATCH_INACTIVE')
  if (code.expiresAt && code.expiresAt <= tx.now) throw new AppError('BATCH_EXPIRED')
  await settleExpiry(tx, account)
  const { points } = code
  const row = await earn(tx, account, { type: 'earn', source: 'code', points, earnedPoints: points })
  const values = [tx.business.id, code.batchId, code.id, account.id, row.id, tx.now]
  if ((await tx.sql.run(markClaimed, values)) === 0) throw new AppError('BATCH_INACTIVE')
  return { transaction: row, balance: account }
}

const rememberFailure = statement<never>(
  'remember_claim_failure',
  'UPDATE customers SET claim_failures = $3 WHERE business_id = $1 AND id = $2',
)
const countOnBatch = statement<never>(
  'count_failed_claim',
  `UPDATE code_batches SET failed_attempts = failed_attempts + 1
    WHERE business_id = $1 AND ${FOLDED_PREFIX} = $2`,
)

async function countFailure(
  tx: TransactionContext,
  { id, claimFailures }: CustomerAccount,
  { prefix }: WrittenCode,
): Promise<void> {
  await tx.sql.run(rememberFailure, [tx.business.id, id, failuresAfter(claimFailures ?? [], tx.now)])
  await tx.sql.run(countOnBatch, [tx.business.id, prefix])
}
