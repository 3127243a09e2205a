import test from 'ava'
import { createTenant, startApp } from '../helpers/app.js'

/** Refused values of a field, with what is said of them. */
const TEXT = {
  type: 'must be a string',
  nul: 'must not contain NUL characters',
  broken: 'must be well-formed Unicode',
}
const badText: [unknown, string][] = [
  [7, TEXT.type],
  [true, TEXT.type],
  [['a'], TEXT.type],
  [{ a: 1 }, TEXT.type],
  ['', 'must not be empty'],
  ['a\0b', TEXT.nul],
  ['a\ud800', TEXT.broken],
]
const email = 'must be an e-mail address'
const phone = 'must be a phone number'
const birthday = 'must be a date (YYYY-MM-DD or --MM-DD)'
const language = 'must be a BCP 47 language tag in canonical form, like de or pt-BR'
const timestamp = 'must be an ISO 8601 timestamp with a time zone'

const badProfile: Record<string, [unknown, string][]> = {
  display_name: [...badText, ['🦄'.repeat(201), 'must have at most 200 characters']],
  email: [
    ...badText,
    [`${'a'.repeat(64)}@${'b.'.repeat(127)}cc`, 'must have at most 320 characters'],
    ...[
      'ada',
      'ada@',
      '@example.com',
      'ada@example',
      'a@b@c.de',
      'a b@c.de',
      'a..b@c.de',
      'a@-b.de',
      'a@b..de',
    ].map((value): [string, string] => [value, email]),
  ],
  phone: [
    ...badText,
    ['1'.repeat(33), 'must have at most 32 characters'],
    ...['12', '+', 'call me', '++491234', '1234567890123456', '123\n456'].map((value): [string, string] => [
      value,
      phone,
    ]),
  ],
  birthday: [
    ...badText,
    ...[
      ...['1990-02-30', '2001-02-29', '--02-30', '--13-01', '1990-1-1', '90-01-01', '0000-01-01'],
      ...['01.02.1990', '1990-01-01T00:00:00Z', '-02-03', '----02-03'],
    ].map((value): [string, string] => [value, birthday]),
    ['2999-01-01', 'must not be in the future'],
  ],
  language: [
    ...badText,
    ['de-'.padEnd(40, 'a'), 'must have at most 35 characters'],
    ...['german language', 'de_DE', 'DE', 'de-de', 'd', 'iw'].map((value): [string, string] => [
      value,
      language,
    ]),
  ],
  referred_by: [
    [7, 'must be a UUID'],
    ['', 'must be a UUID'],
    ['ada', 'must be a UUID'],
    ['0190a0a0-0000-7000-8000-000000000001', 'must be the user id of a customer'],
  ],
  joined_at: [
    [7, timestamp],
    ['', timestamp],
    ['2020-01-01', timestamp],
    ['2020-01-01T00:00:00', timestamp],
    ['2020-02-30T00:00:00Z', timestamp],
    ['2999-01-01T00:00:00Z', 'must not be in the future'],
    ['0001-01-01T00:00:00+14:00', timestamp],
    ['1899-12-31T23:59:59Z', 'must not be before 1900'],
  ],
}

const reserved = 'must not be a UUID, "lookup", "." or ".."'
const badIdentifier: Record<string, [unknown, string][]> = {
  value: [
    ...badText,
    ['x'.repeat(201), 'must have at most 200 characters'],
    ...[
      'lookup',
      '.',
      '..',
      '0190a0a0-0000-7000-8000-000000000001',
      '0190A0A0-0000-7000-8000-00000000000A',
    ].map((value): [string, string] => [value, reserved]),
  ],
  label: [
    [7, TEXT.type],
    ['a\0b', TEXT.nul],
    ['x'.repeat(101), 'must have at most 100 characters'],
  ],
}

test('every bad field of a customer is refused by its name, and nothing is written', async (t) => {
  const { rest } = await createTenant(await startApp(t))
  const created = await rest('POST /customers', { display_name: 'Ada' })
  const { customer } = created.body.data
  for (const [field, values] of Object.entries(badProfile)) {
    for (const [value, message] of values) {
      for (const request of ['POST /customers', `PATCH /customers/${customer.user_id}`]) {
        const refused = await rest(request, {
          [field]: value,
          ...(field === 'phone' ? {} : { phone: '110' }),
        })
        t.is(refused.status, 400, `${field} ${JSON.stringify(value)}`)
        t.true(
          refused.body.error.message.split('; ').includes(`${field}: ${message}`),
          `${JSON.stringify(value)}: ${refused.body.error.message}`,
        )
      }
    }
  }
  const listed = await rest('GET /customers')
  t.deepEqual(listed.body.data.customers, [customer])
})

test('all bad fields are named in one answer', async (t) => {
  const { rest } = await createTenant(await startApp(t))
  const { status, body } = await rest('POST /customers', {
    display_name: '',
    email: 'ada',
    nickname: 'A',
    identifiers: [{ value: 'ok' }, { label: 5, code: 1 }, { value: '..' }],
  })
  t.is(status, 400)
  t.deepEqual(body.error.message.split('; ').sort(), [
    'display_name: must not be empty',
    `email: ${email}`,
    'identifiers.1.code: unknown field',
    'identifiers.1.label: must be a string',
    'identifiers.1.value: required',
    `identifiers.2.value: ${reserved}`,
    'nickname: unknown field',
  ])
})

test('identifiers of a new customer are an array of at most 20 that differ', async (t) => {
  const { rest } = await createTenant(await startApp(t))
  const refusal = async (identifiers: unknown) => {
    const { status, body } = await rest('POST /customers', { identifiers })
    t.is(status, 400)
    return body.error.message
  }
  const values = (count: number) => Array.from({ length: count }, (_, n) => ({ value: `v${n}` }))
  t.is(await refusal('x'), 'identifiers: must be an array')
  t.is(await refusal({ value: 'x' }), 'identifiers: must be an array')
  t.is(await refusal(['x', null]), 'identifiers.0: must be an object; identifiers.1: must be an object')
  t.is(await refusal(values(21)), 'identifiers: must have at most 20 entries')
  t.is(await refusal([{ value: 'x' }, { value: 'y' }, { value: 'x' }]), 'identifiers.2.value: given twice')
  t.is((await rest('POST /customers', { identifiers: values(20) })).status, 201)
})

test('every bad field of an identifier is refused by its name, wherever it is sent', async (t) => {
  const { rest } = await createTenant(await startApp(t))
  const created = await rest('POST /customers', { identifiers: [{ value: 'own', label: 'till' }] })
  const { user_id, identifiers } = created.body.data.customer
  const one = `/customers/${user_id}/identifiers/${identifiers[0].id}`
  for (const [field, values] of Object.entries(badIdentifier)) {
    for (const [value, message] of values) {
      const sent = { value: 'new', [field]: value }
      for (const request of [`POST /customers/${user_id}/identifiers`, `PATCH ${one}`]) {
        const refused = await rest(request, sent)
        t.is(refused.status, 400)
        t.is(refused.body.error.message, `${field}: ${message}`)
      }
      const nested = await rest('POST /customers', { identifiers: [sent] })
      t.is(nested.body.error.message, `identifiers.0.${field}: ${message}`)
    }
  }
  t.is((await rest(`POST /customers/${user_id}/identifiers`, {})).body.error.message, 'value: required')
  t.is((await rest(`PATCH ${one}`, {})).body.error.message, 'Provide at least one field to change')
  t.is((await rest(`PATCH ${one}`, { value: null })).body.error.message, 'value: must be a string')
  const readOnly = await rest(`PATCH ${one}`, { id: user_id, created_at: null, customer: 'x' })
  t.deepEqual(readOnly.body.error.message.split('; ').sort(), [
    'created_at: unknown field',
    'customer: unknown field',
    'id: unknown field',
  ])
  t.deepEqual((await rest(`GET /customers/${user_id}/identifiers`)).body.data, { identifiers })
  t.is((await rest('GET /customers')).body.data.pagination.total_count, 1)
})

test('the good neighbours of bad values pass', async (t) => {
  const { rest } = await createTenant(await startApp(t))
  const good: Record<string, string[]> = {
    display_name: ['🦄'.repeat(200), ' '],
    email: [
      'a@b.de',
      `${'a'.repeat(64)}@${'b.'.repeat(126)}cc`,
      "o'neil+x=y@sub.example.co.uk",
      '用户@例え.jp',
    ],
    phone: ['110', '+491701234567', '(0170) 123 45-67/8', '+123456789012345'],
    birthday: ['2000-02-29', '--02-29', '--12-31', '1899-12-31'],
    language: ['de', 'pt-BR', 'zh-Hant-TW', 'sr-Latn-RS', 'gsw', 'en-x-club'],
  }
  for (const [field, values] of Object.entries(good)) {
    for (const value of values) {
      const { status, text, body } = await rest('POST /customers', { [field]: value })
      t.is(status, 201, `${field} ${value}: ${text}`)
      t.is(body.data.customer[field], value)
    }
  }
})
