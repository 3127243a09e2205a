/** What the OpenAPI document says that no row of the route table does. */

export const description = `A loyalty program: points, rewards, redemptions, customers and what belongs to them.

- Every call sends \`Authorization: Bearer <API key>\` and concerns the business that the key belongs to. What belongs to
  another business is not found.
- Success is \`{"success": true, "message", "data"}\`, failure \`{"success": false, "error": {"message"}}\`.
- Every answer carries \`X-Request-Id\` and the three \`RateLimit-*\` headers; \`x-rate-limit-scope\` says which of the
  key's limits an operation counts against.
- A write (\`x-idempotent\`) takes an \`Idempotency-Key\`: a retry within 24 hours gets the first answer again.
- What stands behind \`security\` is the scope that a key with scopes needs.
- \`x-addition\` marks what goes beyond the specification of the Loyalty Business API.
- \`x-error-codes\` names the refusals behind a status; what to do about each: [/docs/errors](/docs/errors).
- An unknown path answers 404 \`RouteNotFound\`, another method of a known path 405 \`MethodNotAllowed\`; HEAD works where
  GET does.
- Later versions may add members to answers and values to their enumerations; ignore what you do not know.

More: [/docs](/docs).`

const tagDescriptions: Readonly<Record<string, string>> = {
  me: 'The key and the business that owns it.',
  settings: 'Settings of the program.',
  customers: 'Customers, their balance and the identifiers that other systems know them by.',
  points: 'Points given and taken.',
  transactions: 'The ledger.',
  rewards: 'What points buy, with images, code pools and webhooks.',
  redemptions: 'Rewards on their way to a customer: codes for the counter, parcels, digital values.',
  'code-batches': 'Batches of codes printed on products.',
  codes: 'Codes of batches, claimed by customers.',
  raffles: 'Raffles: entries, draws and their proof.',
  promotions: 'Times in which points count more.',
  segments: 'Customers chosen by what they do.',
  tiers: 'Levels of customers and what they bring.',
  reviews: 'What customers say.',
  devices: 'Points terminals.',
  terminal: 'What a terminal does.',
}

export const tagsOf = (names: readonly string[]) =>
  [...new Set(names)].map((name) => ({ name, description: tagDescriptions[name] ?? `Routes of /${name}.` }))

const count = { type: 'integer', minimum: 0 }

export const components = {
  securitySchemes: {
    apiKey: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'lby_live_…',
      description:
        'An API key of a business. A key without scopes may do everything; one with scopes needs the one that stands behind the operation.',
    },
    terminalToken: {
      type: 'http',
      scheme: 'bearer',
      description: 'The token of a paired points terminal, which may do what the counter needs.',
    },
  },
  parameters: {
    'Idempotency-Key': {
      name: 'Idempotency-Key',
      in: 'header',
      required: false,
      description: 'Makes the request safe to repeat for 24 hours.',
      schema: { type: 'string', minLength: 1, maxLength: 255 },
    },
  },
  headers: {
    'X-Request-Id': {
      description: "Names the request in the service's log; the client's own, if it sent a sensible one.",
      required: true,
      schema: { type: 'string' },
    },
    'RateLimit-Limit': {
      description: 'Requests that the limit allows in a minute.',
      required: true,
      schema: count,
    },
    'RateLimit-Remaining': {
      description: 'How many are left of them.',
      required: true,
      schema: count,
    },
    'RateLimit-Reset': {
      description: 'Seconds until the minute is over.',
      required: true,
      schema: count,
    },
    'Retry-After': { description: 'Seconds after which to try again.', schema: count },
    'Idempotency-Replayed': {
      description: 'There where this is the answer to an earlier request with the same key.',
      schema: { type: 'string', const: 'true' },
    },
    'Content-Disposition': {
      description: 'Names the file.',
      required: true,
      schema: { type: 'string' },
    },
    Allow: { description: 'The methods that the path has.', required: true, schema: { type: 'string' } },
  },
} as const
