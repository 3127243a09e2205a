import type { ErrorCode } from './errors.js'

/** For people: when a refusal comes, and what to do about it. The error reference and OpenAPI say it to them. */
export interface ErrorAdvice {
  /** A sentence without a full stop, in the present tense. */
  when: string
  whatToDo: string
}

const checkId = 'Check the id; what belongs to another business is not found either.'
const asAnswered = 'Wait as long as `Retry-After` says, then send the same request again.'

export const errorAdvice: Readonly<Record<ErrorCode, ErrorAdvice>> = {
  INVALID_INPUT: {
    when: 'A value is not allowed, a field is missing, or a field or query parameter is not known; the message names each of them as it was sent',
    whatToDo: 'Correct the named fields. Sending the same again gets the same answer.',
  },
  INVALID_JSON: {
    when: 'The body is not JSON in UTF-8, is nested deeper than 32 levels, or broke off',
    whatToDo: 'Send well-formed JSON.',
  },
  INVALID_CSV: {
    when: 'The body was sent as `text/csv` and is no CSV in UTF-8',
    whatToDo: 'Send RFC 4180: fields with commas, quotes or line breaks in double quotes.',
  },
  INVALID_MULTIPART: {
    when: 'The body was sent as a form and cannot be read as one, or has too many parts',
    whatToDo: 'Let your HTTP library build the form and set its `Content-Type` with the boundary.',
  },
  NOT_AN_OBJECT: {
    when: 'The body is JSON, but not an object',
    whatToDo: 'Send an object, `{…}`.',
  },
  EMPTY_UPDATE: {
    when: 'An update gives no field',
    whatToDo: 'Send at least one field; `null` clears one.',
  },
  CUSTOMER_ADDRESS: {
    when: 'The customer is addressed in two ways or in none',
    whatToDo: 'Send `user_id` or `identifier`, not both.',
  },
  INVALID_IDEMPOTENCY_KEY: {
    when: 'The `Idempotency-Key` is empty or longer than 255 characters',
    whatToDo: 'Send a UUID, or your own number of the thing that is booked.',
  },
  INVALID_API_KEY: {
    when: 'The key is missing, malformed, unknown, revoked or expired',
    whatToDo: 'Send `Authorization: Bearer <key>` with a valid key; `GET /me` tells whether it is one.',
  },
  BUSINESS_SUSPENDED: {
    when: 'The business is suspended',
    whatToDo: 'Ask the operator of the installation.',
  },
  INSUFFICIENT_SCOPE: {
    when: 'The key lacks the scope that the message names, or a terminal does what terminals may not',
    whatToDo: 'Use a key that has it.',
  },
  ROUTE_NOT_FOUND: { when: 'No route has this path', whatToDo: 'Check the path and its prefix, `/api/v1`.' },
  METHOD_NOT_ALLOWED: {
    when: 'The path has other methods',
    whatToDo: 'Use one of those that the header `Allow` lists.',
  },
  BODY_TOO_LARGE: {
    when: 'The body is larger than 8 MB, inflated, or has more records than a list may have',
    whatToDo: 'Send it in several requests.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    when: 'The body has a `Content-Type` or a `Content-Encoding` that the route does not take',
    whatToDo: 'Send one that the message names.',
  },
  RATE_LIMIT_EXCEEDED: {
    when: 'The limit of the minute is used up; `retryAfter` and `Retry-After` say for how many seconds',
    whatToDo: `${asAnswered} Watch \`RateLimit-Remaining\` to slow down before.`,
  },
  INTERNAL: {
    when: 'The service has a fault',
    whatToDo:
      'Try again with the same `Idempotency-Key`. If it stays, quote the `X-Request-Id` to the operator: the log names the cause under it.',
  },
  UNAVAILABLE: {
    when: 'The database does not answer in time',
    whatToDo: `${asAnswered} With an \`Idempotency-Key\` nothing is booked twice.`,
  },

  IDEMPOTENCY_KEY_REUSED: {
    when: 'The `Idempotency-Key` was used within 24 hours for another request',
    whatToDo: 'Use a new key for a new request, and the same one only to repeat the same.',
  },
  IDEMPOTENCY_KEY_IN_USE: {
    when: 'The first request with this `Idempotency-Key` is still running',
    whatToDo: 'Wait a second and repeat it: you get the answer of the first.',
  },
  CUSTOMER_ERASED: {
    when: 'The stored answer to this `Idempotency-Key` spoke of a customer who has been erased since',
    whatToDo: 'Nothing: the request was carried out at the time.',
  },

  REWARD_NOT_FOUND: { when: 'There is no such reward, or it was deleted', whatToDo: checkId },
  REDEMPTION_NOT_FOUND: {
    when: 'There is no redemption of this code',
    whatToDo: 'Have the code read out again; case does not matter.',
  },
  IMAGE_NOT_FOUND: { when: 'There is no image at this address', whatToDo: 'Take the `image_url` anew.' },
  MAIL_NOT_FOUND: { when: 'There is no such e-mail', whatToDo: checkId },
  IDENTIFIER_NOT_FOUND: { when: 'The customer has no such identifier', whatToDo: checkId },
  TRANSACTION_NOT_FOUND: { when: 'There is no such transaction', whatToDo: checkId },
  PROMOTION_NOT_FOUND: { when: 'There is no such promotion', whatToDo: checkId },
  RAFFLE_NOT_FOUND: { when: 'There is no such raffle', whatToDo: checkId },
  REVIEW_QUESTION_NOT_FOUND: { when: 'There is no such question', whatToDo: checkId },
  DEVICE_NOT_FOUND: { when: 'There is no such terminal', whatToDo: checkId },
  PAIRING_CODE_NOT_FOUND: {
    when: 'The pairing code is unknown, used, or older than 10 minutes',
    whatToDo: 'Have a new one made (`POST /devices/{id}/pairing-qr`).',
  },
  CODE_BATCH_NOT_FOUND: { when: 'There is no such code batch', whatToDo: checkId },
  CODE_NOT_FOUND: {
    when: 'The code does not exist or was mistyped: its last character checks the others',
    whatToDo: 'Have it read again. A customer with ten failures in ten minutes has to wait.',
  },
  TIER_NOT_FOUND: { when: 'There is no such tier', whatToDo: checkId },
  POINTS_IMPORT_NOT_FOUND: { when: 'There is no such upload of points', whatToDo: checkId },
  CUSTOMER_NOT_FOUND: {
    when: 'No customer has this user id or identifier',
    whatToDo: 'Check it, or create the customer with that identifier.',
  },

  IDENTIFIER_TAKEN: {
    when: 'Another customer of the business has this identifier',
    whatToDo: 'Look that customer up: it may be the same person.',
  },
  INSUFFICIENT_POINTS: {
    when: 'The customer has fewer points than this takes; the number is what is free',
    whatToDo: 'Take less, or let the customer earn more first.',
  },
  BALANCE_LIMIT_REACHED: {
    when: 'The balance would pass the number, the most that one may hold',
    whatToDo: 'Check the amount; it is most likely a mistake.',
  },
  TRANSACTION_NOT_REVERSIBLE: {
    when: 'The transaction is no completed earning',
    whatToDo: 'Reverse the earning itself; cancel a redemption to give points back.',
  },
  TRANSACTION_ALREADY_REVERSED: { when: 'The earning was taken back before', whatToDo: 'Nothing.' },

  REWARD_LIMIT_BELOW_CURRENT: {
    when: '`max_redemptions` is below the number, the redemptions completed so far',
    whatToDo: 'Set at least that number, or null for no cap.',
  },
  REWARD_NOT_EXTERNALLY_SOURCED: {
    when: 'The reward has no webhook: its `digital_asset_source` is not `external`',
    whatToDo: 'Switch the source to `external` first.',
  },
  REWARD_LIMIT_REACHED: {
    when: '`active: true` is sent for a reward that has reached its cap, the number',
    whatToDo: 'Raise `max_redemptions` or set it null; that switches the reward on again.',
  },
  DIGITAL_POOL_EXHAUSTED: {
    when: 'The code pool of the reward has no value left',
    whatToDo: 'Add values to the pool; that switches the reward on again.',
  },
  POOL_CAPACITY_EXCEEDED: {
    when: 'The pool would hold more values than the number; none was added',
    whatToDo: 'Add fewer, or remove unclaimed ones first.',
  },
  REWARD_NOT_POOL_SOURCED: {
    when: 'The reward has no code pool: its `digital_asset_source` is not `pool`',
    whatToDo: 'Switch the source to `pool` first.',
  },

  TIER_LIMIT_REACHED: {
    when: 'The business has as many tiers as the number, the most that there may be',
    whatToDo: 'Change or delete one.',
  },
  TIER_IN_USE: {
    when: 'A reward is restricted to the tier or treats it in its own way',
    whatToDo: 'Take it out of `tier_gate` and `tier_overrides` of all rewards first.',
  },
  TIER_RANK_TAKEN: { when: 'Another tier has this rank', whatToDo: 'Choose another rank.' },

  CODE_PREFIX_TAKEN: { when: 'Another batch has this prefix', whatToDo: 'Choose another prefix.' },
  CODE_ALREADY_CLAIMED: { when: 'The code was claimed before', whatToDo: 'Give no points: it works once.' },
  BATCH_INACTIVE: { when: 'The batch of the code was deactivated', whatToDo: 'Give no points.' },
  BATCH_EXPIRED: { when: 'The batch of the code has expired', whatToDo: 'Give no points.' },

  DEVICE_NAME_TAKEN: { when: 'Another terminal has this name', whatToDo: 'Choose another name.' },
  DEVICE_REVOKED: { when: 'The terminal was revoked, for good', whatToDo: 'Register a new one.' },

  REVIEW_ALREADY_SUBMITTED: {
    when: 'The customer has reviewed today, in the time zone of the business',
    whatToDo: 'Take the next one tomorrow.',
  },

  RAFFLE_NOT_OPEN: {
    when: 'The raffle takes no entries; the word is its availability',
    whatToDo: 'Enter while it is `open`.',
  },
  RAFFLE_ENTRY_LIMIT_REACHED: {
    when: 'The customer would have more entries than the number, the most that one may have',
    whatToDo: 'Enter fewer times.',
  },
  RAFFLE_FULL: {
    when: 'The raffle would have more entries, or more people, than it may have',
    whatToDo: 'Enter fewer times, or raise `max_entries`.',
  },
  RAFFLE_HAS_ENTRIES: {
    when: 'The raffle has entries, after which only its texts and its image change',
    whatToDo: 'Cancel it, which refunds all entries, and create another.',
  },
  RAFFLE_NOT_ACTIVE: {
    when: 'The raffle is not running; the word is its status',
    whatToDo: 'Read the raffle: it may have been ended already.',
  },
  RAFFLE_NOT_DRAWN: {
    when: 'The raffle has no provisional winners; the word is its status',
    whatToDo: 'End it first; confirm once.',
  },
  RAFFLE_NOT_CANCELLABLE: {
    when: 'The raffle is over; the word is its status',
    whatToDo: 'Nothing: a completed raffle is final, and a cancelled one is refunded.',
  },

  REDEMPTION_NOT_IN_STORE: {
    when: 'The redemption is not one of the counter; the word is its delivery mode',
    whatToDo: 'Fulfil a parcel by the fulfil route; a digital redemption is complete already.',
  },
  REDEMPTION_NOT_PENDING: {
    when: 'The redemption has the status that the word says',
    whatToDo: 'Hand nothing out: the code is used up.',
  },
  REDEMPTION_EXPIRED: {
    when: 'The code was not completed in time (`redemption_ttl_hours`)',
    whatToDo: 'Create a new redemption.',
  },
  REDEMPTION_COOLDOWN_ACTIVE: {
    when: 'The customer has used up what the cooldown of the reward allows; the number is the seconds left, 0 where it is once for ever',
    whatToDo: 'Offer it again after that time.',
  },
  REDEMPTION_NOT_ELIGIBLE: {
    when: 'The customer or the moment does not fit the reward; the word says why: `inactive`, `schedule`, `tier`, `birthday` or `absence`',
    whatToDo: 'Tell the customer the reason.',
  },
  REDEMPTION_LIMIT_REACHED: {
    when: 'All that the reward has, the number, were redeemed',
    whatToDo: 'Raise `max_redemptions` to go on.',
  },
  REDEMPTION_NOT_SHIPPING: {
    when: 'The redemption is no parcel; the word is its delivery mode',
    whatToDo: 'Fulfil parcels only.',
  },
  REDEMPTION_NOT_FULFILLABLE: {
    when: 'The parcel cannot go from the state that the word says to the one that was sent',
    whatToDo: 'Read the redemption; a parcel goes from unfulfilled to shipped to delivered.',
  },
  REDEMPTION_NOT_CANCELLABLE: {
    when: 'The redemption is in the state that the word says and cannot be cancelled any more',
    whatToDo: 'Correct the balance by points issue, if it has to be.',
  },
  DIGITAL_PROVISION_FAILED: {
    when: "The business's endpoint gave no valid value; no points were taken",
    whatToDo: 'Look into the deliveries of the reward or call its webhook test; then redeem anew.',
  },
  MAIL_NOT_RETRYABLE: {
    when: 'The e-mail has the status that the word says and is not sent again',
    whatToDo: 'Nothing.',
  },
}
