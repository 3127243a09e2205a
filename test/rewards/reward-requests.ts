import fc from 'fast-check'

/** Requests about rewards, in their bounds or just outside, with fields that fit together or do not. */

export type Fields = Record<string, unknown>
const modest = (min: number, max: number) => fc.integer({ min: min - 1, max: max + 1 })
/** Each field present or not, null or not. */
const loose = (fields: Record<string, fc.Arbitrary<unknown>>) => {
  const nullable = Object.entries(fields).map(([key, value]) => [key, fc.option(value, { freq: 6 })])
  return fc.record(Object.fromEntries(nullable), { requiredKeys: [] })
}
const text = fc.constantFrom('', 'Tea', '☕ 👩‍👩‍👧', 'a\0b', '\ud800', 'x'.repeat(5001))
const unit = fc.constantFrom('minute', 'hour', 'day', 'month')
const date = fc.constantFrom('2026-01-01', '2026-06-15', '2026-12-31', '2026-02-30')
const cooldown = {
  cooldown_mode: fc.constantFrom('none', 'limit', 'once'),
  cooldown_count: modest(1, 1000),
  cooldown_amount: fc.integer({ min: 1, max: 9 }),
  cooldown_unit: unit,
}
const SOURCES = [
  { delivery_mode: 'digital', digital_asset_type: 'code', digital_asset_source: 'pool' },
  { delivery_mode: 'digital', digital_asset_type: 'code', digital_asset_value: 'SAVE10' },
  { digital_asset_source: 'external', digital_webhook_url: 'https://example.com/mint' },
  { digital_asset_source: 'pool' },
  { delivery_mode: 'in_store' },
]
const LIMIT = { cooldown_mode: 'limit', cooldown_count: 2, cooldown_amount: 3, cooldown_unit: 'day' }
const digital = {
  delivery_mode: fc.constantFrom('in_store', 'shipping', 'digital'),
  digital_asset_type: fc.constantFrom('code', 'link'),
  digital_asset_source: fc.constantFrom('static', 'pool', 'external'),
  digital_asset_value: fc.constantFrom('SAVE10', 'https://example.com/save', ''),
  digital_webhook_url: fc.constantFrom('https://example.com/mint', 'https://localhost'),
  digital_email_delivery: fc.boolean(),
}
const day = loose({
  active: fc.boolean(),
  start: fc.constantFrom('09:00', '23:59', '24:00'),
  end: fc.constantFrom('17:00', '00:00'),
})

/** What moves the causes of being off. */
export const cause = fc.oneof(
  fc.record({ active: fc.constantFrom(true, true, false) }),
  fc.record({ max_redemptions: fc.option(fc.integer({ min: 1, max: 3 })) }),
  fc.constantFrom<Fields>(...SOURCES),
)

function partOf(tierIds: string[]): fc.Arbitrary<Fields> {
  const tierId = fc.constantFrom(...tierIds)
  const override = fc.record(
    { tier_id: tierId, ...cooldown, early_access_hours: modest(0, 8760) },
    { requiredKeys: ['tier_id'] },
  )
  return fc.oneof(
    cause,
    fc.constant(LIMIT),
    loose(digital),
    loose({ name: text, description: text }),
    loose({ points_cost: modest(0, 1_000_000_000), conditions: text, colour: fc.nat() }),
    loose({
      type: fc.constantFrom('item', 'discount', 'cashback'),
      cashback_cents: modest(0, 1_000_000_000),
    }),
    loose({ start_date: date, end_date: date }),
    loose({ time_active: loose({ monday: day, sunday: day }) }),
    loose(cooldown),
    loose({ absence_amount: modest(1, 1000), absence_unit: unit }),
    loose({
      birthday: fc.boolean(),
      birthday_window_mode: fc.constantFrom('exact', 'days', 'month'),
      birthday_days_before: modest(0, 366),
      birthday_days_after: fc.nat(366),
    }),
    loose({ tier_gate: loose({ mode: fc.constantFrom('minimum', 'only'), tier_id: tierId }) }),
    fc.record({ tier_overrides: fc.array(override, { maxLength: 3 }) }),
  )
}

/** Up to three parts in one request. */
export const mixed = (tierIds: string[]): fc.Arbitrary<Fields> =>
  fc.array(partOf(tierIds), { minLength: 1, maxLength: 3 }).map((parts) => Object.assign({}, ...parts))
