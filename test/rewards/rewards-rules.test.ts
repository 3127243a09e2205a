import test from 'ava'
import { createTenant, startApp } from '../helpers/app.js'
import { createReward, createTier } from '../helpers/factories.js'

const app = await startApp({ teardown: (end) => test.after.always(end) })

type Fields = Record<string, unknown>

const LIMIT = { cooldown_mode: 'limit', cooldown_count: 2, cooldown_amount: 3, cooldown_unit: 'day' }
const NO_LIMIT = { cooldown_count: null, cooldown_amount: null, cooldown_unit: null }
const DAYS = { birthday: true, birthday_window_mode: 'days', birthday_days_before: 3, birthday_days_after: 4 }
const ABSENCE = { absence_amount: 2, absence_unit: 'month' }
const CASHBACK = { type: 'cashback', cashback_cents: 250 }
const DATES = { start_date: '2026-05-01', end_date: '2026-05-31' }
/** Stands for the id of a tier of the test's business. */
const TIER = '<tier>'
const INHERITS = {
  tier_id: TIER,
  cooldown_mode: null,
  cooldown_count: null,
  cooldown_amount: null,
  cooldown_unit: null,
  early_access_hours: null,
}

const whenLimit = 'required when cooldown_mode is limit'
const onlyLimit = 'only allowed when cooldown_mode is limit'
const missing = (...fields: string[]) => fields.map((field) => `${field}: ${whenLimit}`).join('; ')

/** A change that contradicts what is stored, or itself; `before: undefined` = a new reward. */
const contradictions: Record<string, { before?: Fields; change: Fields; message: string }> = {
  'cooldown_mode limit asks for its three fields': {
    change: { cooldown_mode: 'limit' },
    message: missing('cooldown_count', 'cooldown_amount', 'cooldown_unit'),
  },
  'cooldown_mode limit asks for the one that lacks': {
    before: {},
    change: { ...LIMIT, cooldown_unit: null },
    message: missing('cooldown_unit'),
  },
  'a limit loses none of its fields': {
    before: LIMIT,
    change: { cooldown_count: null },
    message: missing('cooldown_count'),
  },
  'cooldown fields need the mode limit': {
    change: { cooldown_mode: 'once', cooldown_count: 1, cooldown_unit: 'day' },
    message: `cooldown_count: ${onlyLimit}; cooldown_unit: ${onlyLimit}`,
  },
  'a cooldown field cannot come before its mode': {
    before: {},
    change: { cooldown_amount: 1 },
    message: `cooldown_amount: ${onlyLimit}`,
  },
  'a mode does not take what it makes meaningless': {
    before: LIMIT,
    change: { cooldown_mode: 'none', cooldown_count: 3 },
    message: `cooldown_count: ${onlyLimit}`,
  },
  'absence_amount needs its unit': {
    change: { absence_amount: 1 },
    message: 'absence_unit: required with absence_amount',
  },
  'absence_unit needs its amount': {
    before: {},
    change: { absence_unit: 'day' },
    message: 'absence_amount: required with absence_unit',
  },
  'half of an absence cannot be cleared': {
    before: ABSENCE,
    change: { absence_amount: null },
    message: 'absence_amount: required with absence_unit',
  },
  'a birthday window needs birthday': {
    change: { birthday_window_mode: 'month' },
    message: 'birthday_window_mode: only allowed when birthday is true',
  },
  'birthday false does not take a window': {
    before: DAYS,
    change: { birthday: false, birthday_window_mode: 'days', birthday_days_after: 1 },
    message:
      'birthday_window_mode: only allowed when birthday is true; birthday_days_after: only allowed when birthday_window_mode is days',
  },
  'a window of days needs both numbers': {
    before: { birthday: true },
    change: { birthday_window_mode: 'days', birthday_days_after: 0 },
    message: 'birthday_days_before: required when birthday_window_mode is days',
  },
  'birthday days need the mode days': {
    change: { birthday: true, birthday_days_before: 1, birthday_days_after: 1 },
    message:
      'birthday_days_before: only allowed when birthday_window_mode is days; birthday_days_after: only allowed when birthday_window_mode is days',
  },
  'cashback needs its cents': {
    change: { type: 'cashback' },
    message: 'cashback_cents: required when type is cashback',
  },
  'cashback does not lose its cents': {
    before: CASHBACK,
    change: { cashback_cents: null },
    message: 'cashback_cents: required when type is cashback',
  },
  'cents need cashback': {
    before: {},
    change: { cashback_cents: 0 },
    message: 'cashback_cents: only allowed when type is cashback',
  },
  'an end before the start is refused in a new reward': {
    change: { start_date: '2026-05-02', end_date: '2026-05-01' },
    message: 'end_date: must not be before start_date',
  },
  'an end before the stored start is refused': {
    before: DATES,
    change: { end_date: '2026-04-30' },
    message: 'end_date: must not be before start_date',
  },
  'a start after the stored end is refused': {
    before: DATES,
    change: { start_date: '2026-06-01' },
    message: 'start_date: must not be after end_date',
  },
  'an override that makes a limit needs the three numbers where the reward has none to inherit': {
    change: { tier_overrides: [{ tier_id: TIER, cooldown_mode: 'limit', cooldown_unit: 'hour' }] },
    message: missing('tier_overrides.0.cooldown_count', 'tier_overrides.0.cooldown_amount'),
  },
  'an override of another mode takes no numbers': {
    before: LIMIT,
    change: { tier_overrides: [{ tier_id: TIER, cooldown_mode: 'once', cooldown_count: 1 }] },
    message: `tier_overrides.0.cooldown_count: ${onlyLimit}`,
  },
  'an override that inherits no limit takes no numbers': {
    before: {},
    change: { tier_overrides: [{ tier_id: TIER, cooldown_amount: 1 }] },
    message: `tier_overrides.0.cooldown_amount: ${onlyLimit}`,
  },
  'a reward cannot drop the numbers that the limit of a stored override inherits': {
    before: { ...LIMIT, tier_overrides: [{ tier_id: TIER, cooldown_mode: 'limit', cooldown_count: 9 }] },
    change: { cooldown_mode: 'none' },
    message: missing('tier_overrides.0.cooldown_amount', 'tier_overrides.0.cooldown_unit'),
  },
  'every contradiction is named at once': {
    change: {
      ...ABSENCE,
      absence_unit: null,
      type: 'cashback',
      cooldown_mode: 'limit',
      birthday_days_after: 1,
    },
    message: [
      'cashback_cents: required when type is cashback',
      missing('cooldown_count', 'cooldown_amount', 'cooldown_unit'),
      'birthday_days_after: only allowed when birthday_window_mode is days',
      'absence_unit: required with absence_amount',
    ].join('; '),
  },
}

/** A change with what it gives. */
const changes: Record<string, { before?: Fields; change: Fields; gives: Fields }> = {
  'a new reward has the defaults': {
    change: {},
    gives: {
      active: true,
      type: 'item',
      birthday: false,
      cooldown_mode: 'none',
      delivery_mode: 'in_store',
      digital_asset_source: 'static',
      digital_email_delivery: false,
      tier_gate: null,
      tier_overrides: [],
      time_active: null,
      max_redemptions: null,
      redemptions_count: 0,
      redemptions_remaining: null,
      pool_remaining: null,
    },
  },
  'leaving limit clears its three fields': {
    before: LIMIT,
    change: { cooldown_mode: 'once' },
    gives: { cooldown_mode: 'once', ...NO_LIMIT },
  },
  'null always passes where a field must be absent': {
    before: LIMIT,
    change: {
      cooldown_mode: 'none',
      ...NO_LIMIT,
      cashback_cents: null,
      birthday_window_mode: null,
      birthday_days_before: null,
      birthday_days_after: null,
      digital_asset_type: null,
      digital_asset_value: null,
      digital_webhook_url: null,
      digital_email_delivery: null,
    },
    gives: { cooldown_mode: 'none', ...NO_LIMIT, digital_email_delivery: false },
  },
  'one field of a limit changes alone': {
    before: LIMIT,
    change: { cooldown_unit: 'month' },
    gives: { ...LIMIT, cooldown_unit: 'month' },
  },
  'both halves of an absence are cleared together': {
    before: ABSENCE,
    change: { absence_amount: null, absence_unit: null },
    gives: { absence_amount: null, absence_unit: null },
  },
  'birthday without a mode is exact': {
    before: {},
    change: { birthday: true },
    gives: { birthday: true, birthday_window_mode: 'exact' },
  },
  'a mode set to null is exact again, and its days are cleared': {
    before: DAYS,
    change: { birthday_window_mode: null },
    gives: { birthday_window_mode: 'exact', birthday_days_before: null, birthday_days_after: null },
  },
  'leaving days clears both numbers': {
    before: DAYS,
    change: { birthday_window_mode: 'month' },
    gives: { birthday_window_mode: 'month', birthday_days_before: null, birthday_days_after: null },
  },
  'birthday false clears the window': {
    before: DAYS,
    change: { birthday: false },
    gives: {
      birthday: false,
      birthday_window_mode: null,
      birthday_days_before: null,
      birthday_days_after: null,
    },
  },
  'leaving cashback clears its cents': {
    before: CASHBACK,
    change: { type: 'discount' },
    gives: { type: 'discount', cashback_cents: null },
  },
  'one day is a range': {
    before: DATES,
    change: { start_date: '2026-05-31' },
    gives: { start_date: '2026-05-31', end_date: '2026-05-31' },
  },
  'time_active is replaced whole': {
    before: { time_active: { monday: { active: false }, friday: { active: false } } },
    change: { time_active: { monday: { active: true, start: '08:00', end: '12:00' } } },
    gives: { time_active: { monday: { active: true, start: '08:00', end: '12:00' } } },
  },
  'tier_gate is replaced whole': {
    before: { tier_gate: { mode: 'only', tier_id: TIER } },
    change: { tier_gate: { mode: 'minimum', tier_id: TIER } },
    gives: { tier_gate: { mode: 'minimum', tier_id: TIER } },
  },
  'an override inherits what it does not say, and says so with null': {
    before: LIMIT,
    change: { tier_overrides: [{ tier_id: TIER, cooldown_count: 9, early_access_hours: 48 }] },
    gives: { ...LIMIT, tier_overrides: [{ ...INHERITS, cooldown_count: 9, early_access_hours: 48 }] },
  },
  'an override may make a limit of its own': {
    before: {},
    change: { tier_overrides: [{ tier_id: TIER, ...LIMIT }] },
    gives: { cooldown_mode: 'none', tier_overrides: [{ ...INHERITS, ...LIMIT }] },
  },
  'an override may make a limit of the numbers that it inherits': {
    before: LIMIT,
    change: { tier_overrides: [{ tier_id: TIER, cooldown_mode: 'limit', cooldown_unit: 'month' }] },
    gives: { tier_overrides: [{ ...INHERITS, cooldown_mode: 'limit', cooldown_unit: 'month' }] },
  },
  'leaving limit clears what overrides changed about it, and keeps their own limits': {
    before: { ...LIMIT, tier_overrides: [{ tier_id: TIER, cooldown_count: 9, early_access_hours: 1 }] },
    change: { cooldown_mode: 'once' },
    gives: { tier_overrides: [{ ...INHERITS, early_access_hours: 1 }] },
  },
  'tier_overrides are cleared by an empty array': {
    before: { tier_overrides: [{ tier_id: TIER }] },
    change: { tier_overrides: [] },
    gives: { tier_overrides: [] },
  },
  'an absent field stays as it is': {
    before: {
      ...LIMIT,
      ...DAYS,
      ...ABSENCE,
      ...CASHBACK,
      ...DATES,
      description: '',
      conditions: 'One per table ☕',
      max_redemptions: 5,
      tier_gate: { mode: 'only', tier_id: TIER },
      tier_overrides: [{ ...INHERITS, cooldown_mode: 'none' }],
      time_active: { sunday: { active: false } },
    },
    change: { name: 'Tea' },
    gives: {
      name: 'Tea',
      points_cost: 100,
      ...LIMIT,
      ...DAYS,
      ...ABSENCE,
      ...CASHBACK,
      ...DATES,
      description: '',
      conditions: 'One per table ☕',
      max_redemptions: 5,
      redemptions_remaining: 5,
      tier_gate: { mode: 'only', tier_id: TIER },
      tier_overrides: [{ ...INHERITS, cooldown_mode: 'none' }],
      time_active: { sunday: { active: false } },
    },
  },
}

async function setUp(before: Fields | undefined) {
  const tenant = await createTenant(app)
  const { id: tierId } = await createTier(tenant)
  const own = (fields: Fields): Fields =>
    JSON.parse(JSON.stringify(fields).replaceAll(JSON.stringify(TIER), JSON.stringify(tierId)))
  const stored = before && (await createReward(tenant, own(before)))
  /** Sends the change: to what is stored, or as a new reward. */
  const send = (change: Fields) =>
    stored
      ? tenant.rest(`PATCH /rewards/${stored.id}`, own(change))
      : tenant.rest('POST /rewards', { name: 'Coffee', points_cost: 100, ...own(change) })
  return { tenant, own, stored, send }
}

for (const [title, { before, change, message }] of Object.entries(contradictions))
  test(title, async (t) => {
    const { tenant, stored, send } = await setUp(before)
    const answer = await send(change)
    t.is(answer.status, 400, answer.text)
    t.is(answer.body.error.message, message)
    const { rewards } = (await tenant.rest('GET /rewards')).body.data
    t.deepEqual(rewards, stored ? [stored] : [], 'a refusal leaves everything as it was')
  })

for (const [title, { before, change, gives }] of Object.entries(changes))
  test(title, async (t) => {
    const { tenant, own, send } = await setUp(before)
    const answer = await send(change)
    t.true(answer.body.success, answer.text)
    const { reward } = answer.body.data
    t.like(reward, own(gives))
    t.deepEqual((await tenant.rest(`GET /rewards/${reward.id}`)).body.data.reward, reward)
  })

test('overrides keep the order in which they were sent, and are replaced whole', async (t) => {
  const tenant = await createTenant(app)
  const tiers = await Promise.all(Array.from({ length: 50 }, () => createTier(tenant)))
  const tierIds = tiers.map(({ id }) => id as string)
  const shuffled = [...tierIds.slice(20), ...tierIds.slice(0, 20).reverse()]
  const asOverrides = (ids: string[]) => ids.map((tier_id) => ({ tier_id }))
  const inOrder = (overrides: { tier_id: string }[]) => overrides.map(({ tier_id }) => tier_id)

  const { id, tier_overrides } = await createReward(tenant, { tier_overrides: asOverrides(shuffled) })
  t.deepEqual(inOrder(tier_overrides), shuffled)
  const fewer = shuffled.slice(7, 20).reverse()
  const changed = await tenant.rest(`PATCH /rewards/${id}`, { tier_overrides: asOverrides(fewer) })
  t.deepEqual(inOrder(changed.body.data.reward.tier_overrides), fewer)
})

test('a tier of another business is no tier, in the gate and in overrides', async (t) => {
  const [own, other] = [await createTenant(app), await createTenant(app)]
  const [mine, foreign] = [await createTier(own), await createTier(other)]
  const { status, body } = await own.rest('POST /rewards', {
    name: 'Coffee',
    points_cost: 1,
    tier_gate: { mode: 'only', tier_id: foreign.id },
    tier_overrides: [{ tier_id: mine.id }, { tier_id: foreign.id }],
  })
  t.is(status, 400)
  t.is(
    body.error.message,
    'tier_gate.tier_id: is not a tier of the business; tier_overrides.1.tier_id: is not a tier of the business',
  )
})
