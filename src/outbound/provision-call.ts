import { createHmac } from 'node:crypto'
import { parseInstant } from '../graphql/bounds.js'
import { isHttpUrl } from '../rewards/terms.rules.js'
import { guardedRequest } from './guarded-request.js'
import type { Network } from './network.js'
import type { RefusalReason } from './refusal.js'

/** The outbound call `reward.provision`, to the letter of spec §6. */

const MAX_BODY_BYTES = 65_536
const MAX_VALUE_LENGTH = 500

export interface ProvisionCall {
  url: string
  /** The reward's signing secret. */
  secret: string
  /** The redemption's id; `test_<uuid>` for test calls. */
  idempotencyKey: string
  /** Null = a test call. */
  redemptionId: string | null
  userId: string | null
  rewardId: string
  businessId: string
  assetType: 'code' | 'link'
  now: Date
}

/** Why a call brought no value; beside those of the client, what can be wrong with an answer. */
export type ProvisionFailure =
  | RefusalReason
  | 'status_not_2xx'
  | 'body_not_json'
  | 'type_mismatch'
  | 'value_invalid'
  | 'expires_at_invalid'

export interface ProvisionResult {
  request: { headers: Record<string, string>; body: string }
  /** HTTP status of the answer, if there was one. */
  status: number | null
  durationMs: number
  /** Exactly one of the two. */
  asset: { value: string; expiresAt: Date | null } | null
  failure: ProvisionFailure | null
}

/** Makes the call once; an answer that is not exactly what was asked for is a failure. */
export async function callProvision(network: Network, call: ProvisionCall): Promise<ProvisionResult> {
  const request = requestOf(call)
  const outcome = await guardedRequest(network, {
    method: 'POST',
    url: call.url,
    ...request,
    maxBodyBytes: MAX_BODY_BYTES,
  })
  const { status, durationMs } = outcome
  const read = !outcome.answered
    ? outcome.reason
    : outcome.ok
      ? readAsset(outcome.body, call.assetType, new Date(call.now.getTime() + durationMs))
      : 'status_not_2xx'
  return typeof read === 'string'
    ? { request, status, durationMs, asset: null, failure: read }
    : { request, status, durationMs, asset: read, failure: null }
}

function requestOf(call: ProvisionCall): ProvisionResult['request'] {
  const seconds = Math.floor(call.now.getTime() / 1000)
  const body = JSON.stringify({
    event: 'reward.provision',
    test: call.redemptionId === null,
    idempotency_key: call.idempotencyKey,
    redemption_id: call.redemptionId,
    reward_id: call.rewardId,
    business_id: call.businessId,
    user_id: call.userId,
    asset_type: call.assetType,
    requested_at: call.now.toISOString(),
  })
  const signature = createHmac('sha256', call.secret).update(`${seconds}.${body}`).digest('hex')
  return {
    body,
    headers: {
      'Content-Type': 'application/json',
      'X-Service-Event': 'reward.provision',
      'X-Service-Timestamp': String(seconds),
      'X-Service-Signature': `t=${seconds},v1=${signature}`,
      'Idempotency-Key': call.idempotencyKey,
      'User-Agent': 'Service-Webhooks/1.0',
    },
  }
}

/** What an answer that came at `now` brings, or why it brings nothing. */
function readAsset(body: Buffer, assetType: 'code' | 'link', now: Date) {
  let answer: unknown
  try {
    answer = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return 'body_not_json' as const
  }
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return 'body_not_json' as const
  const { type, value, expires_at: expires } = answer as Record<string, unknown>
  if (type !== assetType) return 'type_mismatch' as const
  if (typeof value !== 'string' || !isValue(value, assetType)) return 'value_invalid' as const
  if (expires == null) return { value, expiresAt: null }
  const expiresAt = typeof expires === 'string' ? parseInstant(expires) : undefined
  return expiresAt && expiresAt > now ? { value, expiresAt } : ('expires_at_invalid' as const)
}

function isValue(value: string, assetType: 'code' | 'link'): boolean {
  const length = [...value].length
  if (length < 1 || length > MAX_VALUE_LENGTH || value.includes('\0') || !value.isWellFormed()) return false
  return assetType === 'code' || isHttpUrl(value)
}
