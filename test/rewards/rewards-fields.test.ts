import test from 'ava'
import { createTenant, startApp } from '../helpers/app.js'
import { createReward, createTier } from '../helpers/factories.js'

const app = await startApp({ teardown: (end) => test.after.always(end) })

/** What one field takes and refuses, in requests that hold the fields it goes with. */
interface Field {
  /** The fields beside it. */
  beside?: Record<string, unknown>
  takes: readonly unknown[]
  /** Refused by the name of the field itself … */
  refuses?: readonly unknown[]
  /** … or of a member of it. */
  refusesWithin?: readonly (readonly [member: string, value: unknown])[]
  /** What null makes of it; without this, null is refused. */
  nullGives?: unknown
}

const LONG_AGO = '0001-01-01'
const NO_STRINGS = [7, true, [], {}]
const NO_INTEGERS = ['7', 1.5, true, [], {}, 2 ** 31, 2 ** 53, -(2 ** 31) - 1]
const NO_DATES = ['2026-02-30', '2026-2-3', '26-02-03', '2026-02-03T00:00:00Z', '', '0000-01-01', 20260203]
const NO_UUIDS = ['gold', '', 7]
const BAD_TEXTS = ['a\0b', '\ud800']
const LIMIT = { cooldown_mode: 'limit', cooldown_count: 1, cooldown_amount: 1, cooldown_unit: 'day' }
const DIGITAL = { delivery_mode: 'digital', digital_asset_type: 'code' }
const STATIC = { ...DIGITAL, digital_asset_value: 'SAVE10' }
const EXTERNAL = { ...DIGITAL, digital_asset_source: 'external', digital_webhook_url: 'https://example.com' }
const ABSENCE = { absence_amount: 3, absence_unit: 'day' }
const BIRTHDAY = {
  birthday: true,
  birthday_window_mode: 'days',
  birthday_days_before: 1,
  birthday_days_after: 1,
}
const UNITS = ['minute', 'hour', 'day', 'month']
/** Stands for a tier of the test's business. */
const TIER = '<tier>'
const NOBODYS_TIER = '01900000-0000-7000-8000-000000000000'

const text = (max: number) => ({
  takes: ['', '☕'.repeat(max), ' x\n'],
  refuses: ['☕'.repeat(max + 1), ...BAD_TEXTS, ...NO_STRINGS],
  nullGives: null,
})
const integer = (min: number, max: number) => ({
  takes: [min, max],
  refuses: [min - 1, max + 1, ...NO_INTEGERS],
})
const oneOf = (...values: string[]) => ({
  takes: values,
  refuses: ['', 'other', values[0]!.toUpperCase(), 1, {}],
})
const boolean = { takes: [true, false], refuses: ['true', 1, {}] }

const fields: Record<string, Field> = {
  name: {
    takes: ['x', '☕'.repeat(200), ' Ünïcødé 👩‍👩‍👧 '],
    refuses: ['', '☕'.repeat(201), ...BAD_TEXTS, ...NO_STRINGS],
  },
  description: text(5000),
  conditions: text(1000),
  points_cost: integer(0, 1_000_000_000),
  active: boolean,
  type: { takes: ['item', 'discount'], refuses: ['gift', '', 1] },
  cashback_cents: { beside: { type: 'cashback', cashback_cents: 1 }, ...integer(0, 1_000_000_000) },
  start_date: { takes: [LONG_AGO, '2028-02-29', '9999-12-31'], refuses: NO_DATES, nullGives: null },
  end_date: { takes: [LONG_AGO, '2028-02-29', '9999-12-31'], refuses: NO_DATES, nullGives: null },
  time_active: {
    takes: [
      {},
      { monday: { active: true, start: '00:00', end: '23:59' } },
      { saturday: { active: true, start: '22:00', end: '02:00' }, sunday: { active: false } },
      { sunday: { active: false, start: '09:00', end: '09:00' } },
    ],
    refuses: ['always', [], 1, true],
    refusesWithin: [
      ['someday', { someday: { active: false } }],
      ['Monday', { Monday: { active: false } }],
      ['monday', { monday: null }],
      ['monday', { monday: 'closed' }],
      ['monday.active', { monday: {} }],
      ['monday.active', { monday: { active: 'yes' } }],
      ['monday.start', { monday: { active: true, end: '10:00' } }],
      ['monday.end', { monday: { active: true, start: '10:00', end: null } }],
      ['friday.end', { friday: { active: true, start: '10:00', end: '24:00' } }],
      ['friday.start', { friday: { active: false, start: '9:00' } }],
      ['friday.start', { friday: { active: true, start: '09:60', end: '10:00' } }],
      ['friday.closed', { friday: { active: false, closed: true } }],
    ],
    nullGives: null,
  },
  cooldown_mode: { beside: LIMIT, takes: ['limit'], refuses: ['always', '', 1] },
  cooldown_count: { beside: LIMIT, ...integer(1, 1000) },
  cooldown_amount: { beside: LIMIT, ...integer(1, 1000) },
  cooldown_unit: { beside: LIMIT, ...oneOf(...UNITS) },
  absence_amount: { beside: ABSENCE, ...integer(1, 1000) },
  absence_unit: { beside: ABSENCE, ...oneOf(...UNITS) },
  birthday: boolean,
  birthday_window_mode: { beside: { birthday: true }, ...oneOf('exact', 'month'), nullGives: 'exact' },
  birthday_days_before: { beside: BIRTHDAY, ...integer(0, 366) },
  birthday_days_after: { beside: BIRTHDAY, ...integer(0, 366) },
  tier_gate: {
    takes: [
      { mode: 'minimum', tier_id: TIER },
      { mode: 'only', tier_id: TIER },
    ],
    refuses: ['gold', [], 1],
    refusesWithin: [
      ['mode', { tier_id: TIER }],
      ['mode', { mode: 'maximum', tier_id: TIER }],
      ['tier_id', { mode: 'only' }],
      ['tier_id', { mode: 'only', tier_id: NOBODYS_TIER }],
      ...NO_UUIDS.map((tier_id) => ['tier_id', { mode: 'only', tier_id }] as const),
      ['rank', { mode: 'only', tier_id: TIER, rank: 1 }],
    ],
    nullGives: null,
  },
  tier_overrides: {
    takes: [[]],
    refuses: ['gold', { tier_id: TIER }, 1, Array(51).fill({ tier_id: TIER })],
    refusesWithin: [
      ['0', [null]],
      ['0', ['gold']],
      ['0.tier_id', [{}]],
      ['0.tier_id', [{ tier_id: NOBODYS_TIER }]],
      ['1.tier_id', [{ tier_id: TIER }, { tier_id: NOBODYS_TIER }]],
      ['1.tier_id', [{ tier_id: TIER }, { tier_id: TIER }]],
      ...NO_UUIDS.map((tier_id) => ['0.tier_id', [{ tier_id }]] as const),
      ['0.cooldown_mode', [{ tier_id: TIER, cooldown_mode: 'always' }]],
      ['0.cooldown_count', [{ tier_id: TIER, ...LIMIT, cooldown_count: 0 }]],
      ['0.cooldown_amount', [{ tier_id: TIER, ...LIMIT, cooldown_amount: 1001 }]],
      ['0.cooldown_unit', [{ tier_id: TIER, ...LIMIT, cooldown_unit: 'week' }]],
      ['0.early_access_hours', [{ tier_id: TIER, early_access_hours: -1 }]],
      ['0.early_access_hours', [{ tier_id: TIER, early_access_hours: 8761 }]],
      ['0.points', [{ tier_id: TIER, points: 1 }]],
    ],
    nullGives: [],
  },
  max_redemptions: { ...integer(1, 1_000_000), nullGives: null },
  delivery_mode: { takes: ['in_store', 'shipping'], refuses: ['mail', '', 1] },
  digital_asset_type: { beside: STATIC, ...oneOf('code') },
  digital_asset_source: { beside: STATIC, ...oneOf('static') },
  digital_asset_value: {
    beside: STATIC,
    takes: ['x', '☕'.repeat(500)],
    refuses: ['', '☕'.repeat(501), ...BAD_TEXTS, ...NO_STRINGS],
  },
  digital_webhook_url: {
    beside: EXTERNAL,
    takes: ['https://example.com:8443/mint?x=1', `https://example.com/${'x'.repeat(480)}`],
    refuses: [
      '',
      `https://example.com/${'x'.repeat(481)}`,
      'http://example.com',
      'https://user@example.com',
      'https://localhost:3000/',
      'https://10.0.0.1/',
      'https://[::1]/',
      ...BAD_TEXTS,
      ...NO_STRINGS,
    ],
  },
  digital_email_delivery: { beside: STATIC, ...boolean, nullGives: false },
}

const REQUIRED = ['name', 'points_cost']

/** Puts the id of a tier where the tables say so. */
const withTier = <T>(value: T, tierId: string): T =>
  JSON.parse(JSON.stringify(value).replaceAll(JSON.stringify(TIER), JSON.stringify(tierId)))

const BASE = { name: 'Coffee', points_cost: 100 }

/** Sends a value for a field in a new reward and to one that is there already. */
async function setUp(field: string, beside: Record<string, unknown>) {
  const tenant = await createTenant(app)
  const { id: tierId } = await createTier(tenant)
  const { id } = await createReward(tenant, beside)
  const send = async (value: unknown) => [
    await tenant.rest('POST /rewards', { ...BASE, ...beside, [field]: value }),
    await tenant.rest(`PATCH /rewards/${id}`, { [field]: value }),
  ]
  return { send, tierId }
}

for (const [field, { beside = {}, takes, refuses = [], refusesWithin = [], nullGives }] of Object.entries(
  fields,
))
  test(`${field} takes what is within its bounds, and refuses all else by name`, async (t) => {
    const { send, tierId } = await setUp(field, beside)
    const gives = async (value: unknown, given: unknown) => {
      for (const answer of await send(value)) {
        t.true(answer.body.success, `${JSON.stringify(value)} ${answer.text}`)
        t.deepEqual(answer.body.data?.reward[field], given)
      }
    }
    const isRefused = async (value: unknown, path: string) => {
      for (const answer of await send(value)) {
        t.is(answer.status, 400, `${JSON.stringify(value)} ${answer.text}`)
        t.true(answer.body.error.message.startsWith(`${path}: `), `${JSON.stringify(value)} ${answer.text}`)
      }
    }
    for (const value of withTier(takes, tierId)) await gives(value, value)
    for (const value of withTier(refuses, tierId)) await isRefused(value, field)
    for (const [member, value] of withTier(refusesWithin, tierId))
      await isRefused(value, `${field}.${member}`)
    if (nullGives === undefined) await isRefused(null, field)
    else await gives(null, nullGives)
  })

test('the table of fields is that of the input types', async (t) => {
  const { graph } = await createTenant(app)
  const { data } = await graph(`{
    create: __type(name: "CreateRewardInput") { inputFields { name type { kind } } }
    update: __type(name: "UpdateRewardInput") { inputFields { name type { kind } } }
  }`)
  const names = (type: { inputFields: { name: string; type: { kind: string } }[] }, required: boolean) =>
    type.inputFields
      .filter(({ type: { kind } }) => !required || kind === 'NON_NULL')
      .map(({ name }) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
      .sort()
  t.deepEqual(names(data.create, false), Object.keys(fields).sort())
  t.deepEqual(names(data.update, false), [...Object.keys(fields), 'id'].sort())
  t.deepEqual(names(data.create, true), REQUIRED)
  t.deepEqual(names(data.update, true), ['id'])
})

test('a new reward needs its name and cost, and says both', async (t) => {
  const { rest } = await createTenant(app)
  for (const body of [undefined, {}]) {
    const { status, body: answer } = await rest('POST /rewards', body)
    t.is(status, 400)
    t.is(answer.error.message, 'name: required; points_cost: required')
  }
})

test('read-only and unknown fields are refused by name, beside all else that is wrong', async (t) => {
  const tenant = await createTenant(app)
  const { id } = await createReward(tenant)
  const readOnly = [
    'id',
    'business_id',
    'image_url',
    'created_at',
    'redemptions_count',
    'redemptions_remaining',
    'deactivated_by_limit',
    'deactivated_by_pool',
    'pool_remaining',
    'digital_webhook_secret',
    'pointsCost',
    'colour',
    '__proto__',
    'constructor',
  ]
  for (const field of readOnly) {
    const body = `{"name":"","points_cost":1,${JSON.stringify(field)}:1}`
    for (const request of ['POST /rewards', `PATCH /rewards/${id}`]) {
      const { status, body: answer } = await tenant.rest(request, body)
      t.is(status, 400, field)
      t.is(answer.error.message, `${field}: unknown field; name: must not be empty`)
    }
  }
})

test('a change of nothing is refused', async (t) => {
  const tenant = await createTenant(app)
  const { id } = await createReward(tenant)
  for (const body of [undefined, {}]) {
    const answer = await tenant.rest(`PATCH /rewards/${id}`, body)
    t.is(answer.status, 400)
    t.is(answer.body.error.message, 'Provide at least one field to change')
  }
})
