import test from 'ava'
import { createTenant, startApp, type Tenant } from '../helpers/app.js'
import { createPoolReward } from '../helpers/factories.js'

const app = await startApp({ teardown: (end) => test.after.always(end) })

const CSV = { 'content-type': 'text/csv' }
const LINKS = { digital_asset_type: 'link' }

const range = (length: number) => Array.from({ length }, (_, index) => index)

/** All values of a pool, in their order. */
async function valuesOf({ rest }: Tenant, id: string): Promise<string[]> {
  const { body } = await rest(`GET /rewards/${id}/pool/export?format=json`)
  return body.map(({ value }: { value: string }) => value)
}

const required = 'values: required'
const oneOfBoth = 'provide exactly one of values or all'

/** Bodies that are refused, with what is said of them. */
const refusedAdditions: Record<string, [unknown, string]> = {
  'no values': [{}, required],
  null: [{ values: null }, 'values: must be an array'],
  'a single value': [{ values: 'a' }, 'values: must be an array'],
  'an empty list': [{ values: [] }, 'values: must not be empty'],
  'an empty value': [{ values: ['a', ''] }, 'values.1: must not be empty'],
  'a value of 501 characters': [{ values: ['x'.repeat(501)] }, 'values.0: must have at most 500 characters'],
  'a value of 501 emoji': [{ values: ['🎁'.repeat(501)] }, 'values.0: must have at most 500 characters'],
  'a value with NUL': [{ values: ['a', 'b', 'c', 'd\0'] }, 'values.3: must not contain NUL characters'],
  'a value that is no text': [{ values: ['a', 'b\ud800'] }, 'values.1: must be well-formed Unicode'],
  'values of other types': [
    { values: [1, null, true, ['a'], {}] },
    range(5)
      .map((index) => `values.${index}: must be a string`)
      .join('; '),
  ],
  'one value too many': [{ values: range(10_001).map(String) }, 'values: must have at most 10000 elements'],
  'an unknown field': [{ values: ['a'], all: true }, 'all: unknown field'],
  'the field that the path fills': [{ values: ['a'], reward_id: 'x' }, 'reward_id: unknown field'],
}

for (const [what, [body, message]] of Object.entries(refusedAdditions))
  test(`${what}: nothing is added, and the refusal names it`, async (t) => {
    const tenant = await createTenant(app)
    const { id } = await createPoolReward(tenant)
    const answer = await tenant.rest(`POST /rewards/${id}/pool`, body)
    t.deepEqual([answer.status, answer.body.error.message], [400, message])
    t.deepEqual(await valuesOf(tenant, id), [])
  })

const refusedRemovals: Record<string, [unknown, string]> = {
  'nothing named': [{}, oneOfBoth],
  'no body': [undefined, oneOfBoth],
  'all, but not really': [{ all: false }, oneOfBoth],
  both: [{ values: ['a'], all: true }, oneOfBoth],
  'all in words': [{ all: 'yes' }, 'all: must be true or false'],
  'an empty list': [{ values: [] }, 'values: must not be empty'],
  'an empty value': [{ values: [''] }, 'values.0: must not be empty'],
}

for (const [what, [body, message]] of Object.entries(refusedRemovals))
  test(`removing ${what}: nothing is removed, and the refusal says why`, async (t) => {
    const tenant = await createTenant(app)
    const { id } = await createPoolReward(tenant, ['a'])
    const answer = await tenant.rest(`DELETE /rewards/${id}/pool`, body)
    t.deepEqual([answer.status, answer.body.error.message], [400, message])
    t.deepEqual(await valuesOf(tenant, id), ['a'])
  })

test('values are stored as they are sent: spaces, quotes, line breaks, emoji, formulas, 500 characters', async (t) => {
  const tenant = await createTenant(app)
  const { id } = await createPoolReward(tenant)
  const values = [
    ' a ',
    'a',
    'A',
    '"quoted", with comma',
    'two\r\nlines',
    '\t',
    'é',
    'e\u0301',
    '👩‍👩‍👧',
    '=HYPERLINK("https://example.com")',
    '+1',
    '@x',
    '🎁'.repeat(500),
  ]
  const { body } = await tenant.rest(`POST /rewards/${id}/pool`, { values })
  t.like(body.data, { added: values.length, skipped: 0 })
  t.deepEqual(await valuesOf(tenant, id), values)
})

test('of many bad values some are named and the others counted', async (t) => {
  const tenant = await createTenant(app)
  const { id } = await createPoolReward(tenant)
  const values = range(10_000).map((index) => (index === 3 ? 'good' : ''))
  const { body } = await tenant.rest(`POST /rewards/${id}/pool`, { values })
  const message: string = body.error.message
  t.true(message.startsWith('values.0: must not be empty; values.1: must not be empty; '))
  t.true(message.endsWith('; values.50: must not be empty; and 9949 more'))
  const graphed = await tenant.graph(
    'mutation ($input: AddPoolValuesInput!) { addPoolValues(input: $input) { added } }',
    { input: { rewardId: id, values } },
  )
  t.is(graphed.errors![0].message, message)
  t.is(graphed.errors![0].extensions.fields.length, 50)
})

test('ten thousand values are added at once, also as CSV', async (t) => {
  const tenant = await createTenant(app)
  const { id } = await createPoolReward(tenant)
  const values = range(10_000).map((index) => `CODE-${index}`)
  t.like((await tenant.rest(`POST /rewards/${id}/pool`, { values })).body.data, { added: 10_000 })
  const csv = `value\n${range(10_000)
    .map((index) => `CODE-${index + 1}`)
    .join('\n')}`
  const { body } = await tenant.rest(`POST /rewards/${id}/pool`, csv, CSV)
  t.like(body.data, { added: 1, skipped: 9_999 })
  t.deepEqual(await valuesOf(tenant, id), [...values, 'CODE-10000'])
})

const csvBodies: Record<string, [string, string[]]> = {
  'lines that end in LF': ['value\na\nb\n', ['a', 'b']],
  'lines that end in CRLF, and no end of the last': ['value\r\na\r\nb', ['a', 'b']],
  'lines that end in CR': ['value\ra\rb\r', ['a', 'b']],
  'quoted fields, header included': [
    '"value"\n"a"\n"b ""c"", d"\n"two\nlines"\n',
    ['a', 'b "c", d', 'two\nlines'],
  ],
  'a byte order mark': ['\ufeffvalue\na\n', ['a']],
  'empty lines': ['value\n\na\n\n\nb\n\n', ['a', 'b']],
  'spaces, which are part of the value': ['value\n a \n', [' a ']],
  'a value that is the header': ['value\nvalue\n', ['value']],
  'text of all the world': ['value\n🎁é\n', ['🎁é']],
}

for (const [what, [csv, values]] of Object.entries(csvBodies))
  test(`CSV is read with ${what}`, async (t) => {
    const tenant = await createTenant(app)
    const { id } = await createPoolReward(tenant)
    const headers = { 'content-type': 'text/csv; charset=utf-8; header=present' }
    const { status, body, text } = await tenant.rest(`POST /rewards/${id}/pool`, csv, headers)
    t.is(status, 200, text)
    t.like(body.data, { added: values.length, skipped: 0 })
    t.deepEqual(await valuesOf(tenant, id), values)
  })

const NO_CSV = 'Request body is not valid CSV'
const HEADER = 'the CSV must have one column, and its name in the first line: value'

const refusedCsv: Record<string, [string | Buffer, number, string]> = {
  'without a header': ['a\nb\n', 400, HEADER],
  'with another header': ['code\na\n', 400, HEADER],
  'with more columns': ['value,status\na,available\n', 400, HEADER],
  'with a field too many': ['value\na\nb,c\n', 400, NO_CSV],
  'with an open quote': ['value\n"a\n', 400, NO_CSV],
  'with a quote inside': ['value\na"b\n', 400, NO_CSV],
  'with text after a quote': ['value\n"a"b\n', 400, NO_CSV],
  'that is not UTF-8': [Buffer.from('value\ncafé\n', 'latin1'), 400, NO_CSV],
  'of a header alone': ['value\n', 400, 'values: must not be empty'],
  'of nothing': ['', 400, required],
  'of empty lines': ['\n\n', 400, HEADER],
  'with an empty value': ['value\na\n""\n', 400, 'values.1: must not be empty'],
  'with NUL': ['value\na\0\n', 400, 'values.0: must not contain NUL characters'],
  'with one value too many': [
    `value\n${'a\n'.repeat(10_001)}`,
    400,
    'values: must have at most 10000 elements',
  ],
  'with millions of lines': [`value\n${'a\n'.repeat(3_000_000)}`, 413, 'Request body too large'],
  'past 8 MB': [`value\n"${'a'.repeat(9_000_000)}"\n`, 413, 'Request body too large'],
}

for (const [what, [csv, status, message]] of Object.entries(refusedCsv))
  test(`CSV ${what} is refused`, async (t) => {
    const tenant = await createTenant(app)
    const { id } = await createPoolReward(tenant)
    const response = await fetch(`${app.url}/api/v1/rewards/${id}/pool`, {
      method: 'POST',
      headers: { ...CSV, authorization: `Bearer ${tenant.key}` },
      body: csv as string,
    })
    const { error } = (await response.json()) as { error: { message: string } }
    t.deepEqual([response.status, error.message], [status, message])
    t.deepEqual(await valuesOf(tenant, id), [])
  })

test('CSV is taken where a file of values is, and nowhere else', async (t) => {
  const tenant = await createTenant(app)
  const { id } = await createPoolReward(tenant)
  const csv = (request: string) => tenant.rest(request, 'value\na\n', CSV)
  const elsewhere = [await csv(`DELETE /rewards/${id}/pool`), await csv('POST /rewards')]
  for (const { status, body } of elsewhere)
    t.deepEqual([status, body.error.message], [415, 'Content-Type must be application/json'])
  const { status, body } = await tenant.rest(`POST /rewards/${id}/pool`, 'a', {
    'content-type': 'application/vnd.ms-excel',
  })
  t.deepEqual([status, body.error.message], [415, 'Content-Type must be application/json or text/csv'])
})

const notLink = (index: number) =>
  `values.${index}: must be an http or https URL when digital_asset_type is link`

test('the values of a link reward are http or https URLs, each refused by its place', async (t) => {
  const tenant = await createTenant(app)
  const { id } = await createPoolReward(tenant, [], LINKS)
  const values = ['https://example.com/a', 'b', 'http://example.com', 'ftp://example.com', 'https://']
  const { status, body } = await tenant.rest(`POST /rewards/${id}/pool`, { values })
  t.deepEqual([status, body.error.message], [400, [1, 3, 4].map(notLink).join('; ')])
  const csv = await tenant.rest(`POST /rewards/${id}/pool`, 'value\nx\n', CSV)
  t.is(csv.body.error.message, notLink(0))
  t.deepEqual(await valuesOf(tenant, id), [])
  const good = await tenant.rest(`POST /rewards/${id}/pool`, { values: [values[0], values[2]] })
  t.like(good.body.data, { added: 2 })
})

const codesInPool = (field: string, value: string) =>
  `${field}: must not be ${value}: values of the pool are not http or https URLs`

test('a pool with unclaimed codes does not become one of links; what was handed out does not matter', async (t) => {
  const tenant = await createTenant(app)
  const { id } = await createPoolReward(tenant, ['CODE', 'https://example.com/1', 'https://example.com/2'])
  const patch = async (change: object) => {
    const { status, body } = await tenant.rest(`PATCH /rewards/${id}`, change)
    return status === 200 ? status : body.error.message
  }
  t.is(await patch(LINKS), codesInPool('digital_asset_type', 'link'))
  t.is(
    await patch({ digital_asset_source: 'static', ...LINKS, digital_asset_value: 'https://example.com' }),
    200,
  )
  t.is(await patch({ digital_asset_source: 'pool' }), codesInPool('digital_asset_source', 'pool'))
  t.is(await patch({ digital_asset_source: 'pool', digital_asset_type: 'code' }), 200)

  await tenant.rest('POST /customers', { identifiers: [{ value: 'ada' }] })
  await tenant.rest('POST /points/issue', { identifier: 'ada', points: 10 })
  const redeemed = await tenant.rest('POST /redemptions', { reward_id: id, identifier: 'ada' })
  t.is(redeemed.body.data.asset.value, 'CODE')
  t.is(await patch(LINKS), 200)
  t.is(await patch({ name: 'Links' }), 200)
  const code = await tenant.rest(`POST /rewards/${id}/pool`, { values: ['OTHER'] })
  t.is(code.body.error.message, notLink(0))
})

test('a code hidden behind thousands of links is found', async (t) => {
  const tenant = await createTenant(app)
  const links = range(9_999).map((index) => `https://example.com/${index}`)
  const { id } = await createPoolReward(tenant, links)
  await tenant.rest(`POST /rewards/${id}/pool`, { values: ['CODE'] })
  const { body } = await tenant.rest(`PATCH /rewards/${id}`, LINKS)
  t.is(body.error.message, codesInPool('digital_asset_type', 'link'))
  await tenant.rest(`DELETE /rewards/${id}/pool`, { values: ['CODE'] })
  t.is((await tenant.rest(`PATCH /rewards/${id}`, LINKS)).status, 200)
})
