/**
 * The error catalogue: each error is declared once, with its HTTP status and the message that the
 * specification (§7) or docs/decisions.md writes. Everything else (REST answers, `extensions.code` in the
 * graph, what may be stored for an idempotency key) derives from it. The domain throws `AppError`; it knows
 * neither Koa nor GraphQL.
 */

interface ErrorKind {
  status: number
  /** The text of the REST error; a function where it carries a value after a colon. */
  message: string | ((value: number | string) => string)
  /** Decided by the state of the business, so a retry with the same Idempotency-Key gets it again. */
  storable?: true
  /** What the operation wrote before it refused stays: a failed attempt is counted. Everything else is rolled back. */
  keepsEffects?: true
}

const withValue = (code: string) => (value: number | string) => `${code}:${value}`

export const catalogue = {
  // Requests
  INVALID_INPUT: { status: 400, message: 'Invalid input' },
  INVALID_JSON: { status: 400, message: 'Request body is not valid JSON' },
  INVALID_CSV: { status: 400, message: 'Request body is not valid CSV' },
  INVALID_MULTIPART: { status: 400, message: 'Request body is not valid multipart/form-data' },
  NOT_AN_OBJECT: { status: 400, message: 'Request body must be a JSON object' },
  EMPTY_UPDATE: { status: 400, message: 'Provide at least one field to change' },
  CUSTOMER_ADDRESS: { status: 400, message: 'Provide exactly one of user_id or identifier.' },
  INVALID_IDEMPOTENCY_KEY: { status: 400, message: 'Idempotency-Key must be 1 to 255 characters' },
  INVALID_API_KEY: { status: 401, message: 'Invalid API key' },
  BUSINESS_SUSPENDED: { status: 403, message: 'Business suspended' },
  INSUFFICIENT_SCOPE: { status: 403, message: (scope) => `Insufficient scope: ${scope}` },
  ROUTE_NOT_FOUND: { status: 404, message: 'Route not found' },
  METHOD_NOT_ALLOWED: { status: 405, message: 'Method not allowed' },
  BODY_TOO_LARGE: { status: 413, message: 'Request body too large' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, message: (types) => `Content-Type must be ${types}` },
  RATE_LIMIT_EXCEEDED: { status: 429, message: 'Too many requests, please try again later' },
  INTERNAL: { status: 500, message: 'Internal server error' },
  UNAVAILABLE: { status: 503, message: 'Service temporarily unavailable' },

  // Idempotency (spec §8)
  IDEMPOTENCY_KEY_REUSED: { status: 422, message: 'IDEMPOTENCY_KEY_REUSED' },
  IDEMPOTENCY_KEY_IN_USE: { status: 409, message: 'IDEMPOTENCY_KEY_IN_USE' },
  CUSTOMER_ERASED: { status: 410, message: 'CUSTOMER_ERASED' },

  // Things that are not there (or belong to another business: the same answer)
  REWARD_NOT_FOUND: { status: 404, message: 'Reward not found', storable: true },
  PROMOTION_NOT_FOUND: { status: 404, message: 'Promotion not found', storable: true },
  RAFFLE_NOT_FOUND: { status: 404, message: 'Raffle not found', storable: true },
  REDEMPTION_NOT_FOUND: { status: 404, message: 'Redemption not found', storable: true },
  IMAGE_NOT_FOUND: { status: 404, message: 'Image not found' },
  MAIL_NOT_FOUND: { status: 404, message: 'Mail not found', storable: true },
  IDENTIFIER_NOT_FOUND: { status: 404, message: 'Identifier not found', storable: true },
  TIER_NOT_FOUND: { status: 404, message: 'Tier not found', storable: true },
  POINTS_IMPORT_NOT_FOUND: { status: 404, message: 'Import not found', storable: true },
  TRANSACTION_NOT_FOUND: { status: 404, message: 'Transaction not found', storable: true },
  REVIEW_QUESTION_NOT_FOUND: { status: 404, message: 'Question not found', storable: true },
  DEVICE_NOT_FOUND: { status: 404, message: 'Device not found', storable: true },
  PAIRING_CODE_NOT_FOUND: { status: 404, message: 'PAIRING_CODE_NOT_FOUND', storable: true },
  CUSTOMER_NOT_FOUND: {
    status: 404,
    message: 'Customer not found. Check the user_id or identifier.',
    storable: true,
  },

  // Customers and points
  IDENTIFIER_TAKEN: { status: 409, message: 'IDENTIFIER_TAKEN', storable: true },
  INSUFFICIENT_POINTS: { status: 409, message: withValue('INSUFFICIENT_POINTS'), storable: true },
  BALANCE_LIMIT_REACHED: { status: 409, message: withValue('BALANCE_LIMIT_REACHED'), storable: true },
  TRANSACTION_NOT_REVERSIBLE: { status: 409, message: 'TRANSACTION_NOT_REVERSIBLE', storable: true },
  TRANSACTION_ALREADY_REVERSED: { status: 409, message: 'TRANSACTION_ALREADY_REVERSED', storable: true },

  // Code batches
  CODE_BATCH_NOT_FOUND: { status: 404, message: 'Code batch not found', storable: true },
  CODE_PREFIX_TAKEN: { status: 409, message: 'CODE_PREFIX_TAKEN', storable: true },
  CODE_NOT_FOUND: { status: 404, message: 'CODE_NOT_FOUND', storable: true, keepsEffects: true },
  CODE_ALREADY_CLAIMED: { status: 409, message: 'CODE_ALREADY_CLAIMED', storable: true },
  BATCH_INACTIVE: { status: 409, message: 'BATCH_INACTIVE', storable: true },
  BATCH_EXPIRED: { status: 409, message: 'BATCH_EXPIRED', storable: true },

  // Rewards (spec §3, §7)
  REWARD_LIMIT_BELOW_CURRENT: {
    status: 400,
    message: withValue('REWARD_LIMIT_BELOW_CURRENT'),
    storable: true,
  },
  REWARD_NOT_EXTERNALLY_SOURCED: {
    status: 400,
    message: 'REWARD_NOT_EXTERNALLY_SOURCED',
    storable: true,
  },
  REWARD_LIMIT_REACHED: { status: 409, message: withValue('REWARD_LIMIT_REACHED'), storable: true },
  DIGITAL_POOL_EXHAUSTED: { status: 409, message: 'DIGITAL_POOL_EXHAUSTED', storable: true },
  POOL_CAPACITY_EXCEEDED: { status: 409, message: withValue('POOL_CAPACITY_EXCEEDED'), storable: true },
  REWARD_NOT_POOL_SOURCED: { status: 400, message: 'REWARD_NOT_POOL_SOURCED', storable: true },

  // Devices
  DEVICE_NAME_TAKEN: { status: 409, message: 'DEVICE_NAME_TAKEN', storable: true },
  DEVICE_REVOKED: { status: 409, message: 'DEVICE_REVOKED', storable: true },

  // Reviews
  REVIEW_ALREADY_SUBMITTED: { status: 409, message: 'REVIEW_ALREADY_SUBMITTED', storable: true },

  // Tiers
  TIER_LIMIT_REACHED: { status: 409, message: withValue('TIER_LIMIT_REACHED'), storable: true },
  TIER_IN_USE: { status: 409, message: 'TIER_IN_USE', storable: true },
  TIER_RANK_TAKEN: { status: 409, message: 'TIER_RANK_TAKEN', storable: true },

  // Raffles (spec §3)
  RAFFLE_NOT_OPEN: { status: 409, message: withValue('RAFFLE_NOT_OPEN'), storable: true },
  RAFFLE_ENTRY_LIMIT_REACHED: {
    status: 409,
    message: withValue('RAFFLE_ENTRY_LIMIT_REACHED'),
    storable: true,
  },
  RAFFLE_FULL: { status: 409, message: 'RAFFLE_FULL', storable: true },
  RAFFLE_HAS_ENTRIES: { status: 409, message: 'RAFFLE_HAS_ENTRIES', storable: true },
  RAFFLE_NOT_ACTIVE: { status: 409, message: withValue('RAFFLE_NOT_ACTIVE'), storable: true },
  RAFFLE_NOT_DRAWN: { status: 409, message: withValue('RAFFLE_NOT_DRAWN'), storable: true },
  RAFFLE_NOT_CANCELLABLE: { status: 409, message: withValue('RAFFLE_NOT_CANCELLABLE'), storable: true },

  // Redemptions (spec §4 note 1, §7)
  REDEMPTION_NOT_IN_STORE: { status: 400, message: withValue('REDEMPTION_NOT_IN_STORE'), storable: true },
  REDEMPTION_NOT_PENDING: { status: 409, message: withValue('REDEMPTION_NOT_PENDING'), storable: true },
  REDEMPTION_EXPIRED: { status: 409, message: 'REDEMPTION_EXPIRED', storable: true },
  REDEMPTION_COOLDOWN_ACTIVE: {
    status: 409,
    message: withValue('REDEMPTION_COOLDOWN_ACTIVE'),
    storable: true,
  },
  REDEMPTION_NOT_ELIGIBLE: { status: 409, message: withValue('REDEMPTION_NOT_ELIGIBLE'), storable: true },
  REDEMPTION_LIMIT_REACHED: { status: 409, message: withValue('REDEMPTION_LIMIT_REACHED'), storable: true },
  REDEMPTION_NOT_SHIPPING: { status: 400, message: withValue('REDEMPTION_NOT_SHIPPING'), storable: true },
  REDEMPTION_NOT_FULFILLABLE: {
    status: 409,
    message: withValue('REDEMPTION_NOT_FULFILLABLE'),
    storable: true,
  },
  REDEMPTION_NOT_CANCELLABLE: {
    status: 409,
    message: withValue('REDEMPTION_NOT_CANCELLABLE'),
    storable: true,
  },
  DIGITAL_PROVISION_FAILED: { status: 502, message: 'DIGITAL_PROVISION_FAILED', storable: true },
  MAIL_NOT_RETRYABLE: { status: 409, message: withValue('MAIL_NOT_RETRYABLE'), storable: true },
} as const satisfies Record<string, ErrorKind>

export type ErrorCode = keyof typeof catalogue

/** Codes whose message carries a value. */
type ValuedCode = {
  [C in ErrorCode]: (typeof catalogue)[C]['message'] extends string ? never : C
}[ErrorCode]
export type PlainCode = Exclude<ErrorCode, ValuedCode>

/** One refused field: `path` in the graph's camelCase, dots between levels. */
export interface FieldIssue {
  path: string
  message: string
}

/** A refusal from the catalogue. Anything thrown that is not one is a fault of ours and is masked. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly value: number | string | undefined
  /** Seconds after which a retry makes sense, where the answer says so (429, 503, a key in use). */
  readonly retryAfterSeconds: number | undefined

  constructor(code: PlainCode, value?: undefined, retryAfterSeconds?: number)
  constructor(code: ValuedCode, value: number | string)
  constructor(code: ErrorCode, value?: number | string, retryAfterSeconds?: number) {
    const { message } = catalogue[code] as ErrorKind
    super(typeof message === 'string' ? message : message(value as number | string))
    this.name = 'AppError'
    this.code = code
    this.value = value
    this.retryAfterSeconds = retryAfterSeconds
  }

  get kind(): ErrorKind {
    return catalogue[this.code]
  }
}

/** Bad input: every refused field by name. */
export class InvalidInput extends AppError {
  readonly issues: readonly FieldIssue[]

  constructor(issues: readonly FieldIssue[]) {
    super('INVALID_INPUT')
    this.issues = issues
    this.message = describeIssues(issues)
  }
}

/** How many refused fields one answer names. */
export const MAX_NAMED_ISSUES = 50

/**
 * `points_cost: must be at least 0; name: required` (`spell` turns a path into the caller's spelling). Of a
 * long list of bad values only the first are named.
 */
function describeIssues(
  issues: readonly FieldIssue[],
  spell: (path: string) => string = (path) => path,
): string {
  const named = issues
    .slice(0, MAX_NAMED_ISSUES)
    .map(({ path, message }) => (path === '' ? message : `${spell(path)}: ${message}`))
  const others = issues.length - named.length
  return [...named, ...(others > 0 ? [`and ${others} more`] : [])].join('; ')
}

/** Refuses one field by name. */
export const invalid = (path: string, message: string): InvalidInput => new InvalidInput([{ path, message }])
