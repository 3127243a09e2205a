import test from 'ava'
import { createTenant, startApp } from '../helpers/app.js'
import { createReward, createTier } from '../helpers/factories.js'

const app = await startApp({ teardown: (end) => test.after.always(end) })

const CREATE = 'mutation ($input: CreateTierInput!) { createTier(input: $input) { id name rank minPoints } }'
const UPDATE = 'mutation ($input: UpdateTierInput!) { updateTier(input: $input) { id } }'
const DELETE = 'mutation ($id: UUID!) { deleteTier(input: { id: $id }) { id } }'
const SETTINGS =
  'mutation ($input: UpdateTierSettingsInput!) { updateTierSettings(input: $input) { enabled periodMonths } }'

test('tiers are listed lowest rank first, with what was sent', async (t) => {
  const { graph } = await createTenant(app)
  const gold = await createTier({ graph }, { name: 'Gold 🥇', rank: 2, minPoints: 2_000_000_000 })
  const base = await createTier({ graph }, { name: 'Basis', rank: 0, minPoints: 0 })
  t.deepEqual((await graph('{ tiers { id name rank minPoints } }')).data.tiers, [
    { id: base.id, name: 'Basis', rank: 0, minPoints: 0 },
    { id: gold.id, name: 'Gold 🥇', rank: 2, minPoints: 2_000_000_000 },
  ])
})

test('a rank is taken once in a business, also by many at the same time, and is free in another', async (t) => {
  const { graph } = await createTenant(app)
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => graph(CREATE, { input: { name: 'Gold', rank: 1, minPoints: 1 } })),
  )
  const refusals = answers.flatMap(({ errors }) => errors ?? []).map(({ extensions }) => extensions.code)
  t.deepEqual(refusals, Array(7).fill('TIER_RANK_TAKEN'))
  t.is((await graph('{ tiers { id } }')).data.tiers.length, 1)

  const other = await createTenant(app)
  t.is((await createTier(other, { rank: 1 })).rank, 1)
})

for (const [field, values] of Object.entries({
  name: ['', 'x'.repeat(201), 'a\0b', '\ud800'],
  rank: [-1, 1_000_001],
  minPoints: [-1, 2_000_000_001],
  'benefits.pointsMultiplier': ['0.99', '10.01', '1.555', '100'],
  'benefits.cashbackBoostPercent': [-1, 1001],
  'benefits.referralBonusPoints': [-1, 1_000_001],
  'benefits.tierReachBonusPoints': [-1, 1_000_001],
})) {
  test(`${field} of a tier has its bounds, when creating and changing`, async (t) => {
    const { graph } = await createTenant(app)
    const { id } = await createTier({ graph }, { rank: 9, minPoints: 1 })
    for (const value of values) {
      const [outer, inner] = field.split('.') as [string, string?]
      const sent = { [outer]: inner === undefined ? value : { [inner]: value } }
      for (const { errors } of [
        await graph(CREATE, { input: { name: 'Gold', rank: 1, minPoints: 1, ...sent } }),
        await graph(UPDATE, { input: { id, ...sent } }),
      ])
        t.is(errors?.[0].extensions.fields[0].path, field, JSON.stringify(value))
    }
  })
}

test('GET /tiers shows the settings, also before anybody has set them, and the tiers with their benefits', async (t) => {
  const { rest, graph } = await createTenant(app)
  const settings = {
    enabled: false,
    metric: 'points_earned',
    period: 'lifetime',
    period_months: null,
    downgrade_policy: 'none',
  }
  t.deepEqual((await rest('GET /tiers')).body.data, { settings, tiers: [] })
  const { id } = await createTier(
    { graph },
    { rank: 3, minPoints: 5, benefits: { pointsMultiplier: '1.50' } },
  )
  const change = { enabled: true, metric: 'spend', period: 'rolling' }
  await graph(SETTINGS, { input: { ...change, periodMonths: 12, downgradePolicy: 'one_down' } })
  t.deepEqual((await rest('GET /tiers')).body.data, {
    settings: { ...change, period_months: 12, downgrade_policy: 'one_down' },
    tiers: [
      {
        id,
        name: 'Gold',
        rank: 3,
        min_points: 5,
        benefits: {
          points_multiplier: '1.5',
          cashback_boost_percent: 0,
          referral_bonus_points: 0,
          tier_reach_bonus_points: 0,
        },
      },
    ],
  })
})

test('settings are refused by name where they are out of bounds or contradict each other, and then nothing changes', async (t) => {
  const { graph, rest } = await createTenant(app)
  const refusal = async (input: object) => (await graph(SETTINGS, { input })).errors?.[0].extensions
  for (const periodMonths of [0, 121])
    t.is((await refusal({ period: 'rolling', periodMonths })).fields[0].path, 'periodMonths')
  t.is((await refusal({ period: 'rolling' })).fields[0].path, 'periodMonths')
  t.is((await refusal({ downgradePolicy: 'requalify' })).fields[0].path, 'downgradePolicy')
  t.is(
    (await refusal({ metric: 'points_balance', period: 'rolling', periodMonths: 1 })).fields[0].path,
    'period',
  )
  t.is((await refusal({})).code, 'EMPTY_UPDATE')
  t.is((await rest('GET /tiers')).body.data.settings.period, 'lifetime')
  for (const periodMonths of [1, 120])
    t.is(await refusal({ period: 'rolling', periodMonths }), undefined, String(periodMonths))
})

test('a tier is changed field by field, its benefits as a whole, and keeps its place in the order', async (t) => {
  const { graph } = await createTenant(app)
  const benefits = { pointsMultiplier: '2', cashbackBoostPercent: 5 }
  const low = await createTier({ graph }, { rank: 1, minPoints: 100, benefits })
  const high = await createTier({ graph }, { rank: 2, minPoints: 200 })
  const change = (input: object) => graph(UPDATE, { input })
  const fieldOf = async (input: object) => (await change(input)).errors?.[0].extensions.fields?.[0].path
  t.is(await fieldOf({ id: low.id, minPoints: 201 }), 'minPoints')
  t.is(await fieldOf({ id: high.id, minPoints: 99 }), 'minPoints')
  t.is(await fieldOf({ id: high.id, rank: 0 }), 'rank')
  t.is((await change({ id: high.id, rank: 1 })).errors?.[0].extensions.code, 'TIER_RANK_TAKEN')
  t.is((await change({ id: high.id })).errors?.[0].extensions.code, 'EMPTY_UPDATE')
  await change({ id: low.id, name: 'Basis', minPoints: 200, benefits: { referralBonusPoints: 3 } })
  const { data } = await graph(
    '{ tiers { name rank minPoints benefits { pointsMultiplier cashbackBoostPercent referralBonusPoints } } }',
  )
  t.deepEqual(data.tiers[0], {
    name: 'Basis',
    rank: 1,
    minPoints: 200,
    benefits: { pointsMultiplier: '1', cashbackBoostPercent: 0, referralBonusPoints: 3 },
  })
})

test('a tier that a reward names is not deleted; one that none does is gone, and its rank is free again', async (t) => {
  const { graph, rest } = await createTenant(app)
  const gold = await createTier({ graph }, { rank: 7 })
  const codeOf = async (id: string) => (await graph(DELETE, { id })).errors?.[0].extensions.code
  for (const use of [
    { tier_gate: { mode: 'minimum', tier_id: gold.id } },
    { tier_overrides: [{ tier_id: gold.id, early_access_hours: 2 }] },
  ]) {
    const reward = await createReward({ rest }, use)
    t.is(await codeOf(gold.id), 'TIER_IN_USE')
    await rest(`DELETE /rewards/${reward.id}`)
  }
  t.is(await codeOf(gold.id), undefined)
  t.is(await codeOf(gold.id), 'TIER_NOT_FOUND')
  t.is(
    (await graph(UPDATE, { input: { id: gold.id, name: 'x' } })).errors?.[0].extensions.code,
    'TIER_NOT_FOUND',
  )
  const gate = await rest('POST /rewards', {
    name: 'x',
    points_cost: 1,
    tier_gate: { mode: 'only', tier_id: gold.id },
  })
  t.is(gate.body.error.message, 'tier_gate.tier_id: is not a tier of the business')
  t.is((await createTier({ graph }, { rank: 7 })).rank, 7)
})

test('a business has 50 tiers at most, however many are added at once', async (t) => {
  const { graph } = await createTenant(app)
  const answers = await Promise.all(
    Array.from({ length: 54 }, (_, rank) => graph(CREATE, { input: { name: 'x', rank, minPoints: 1 } })),
  )
  const refusals = answers.flatMap(({ errors }) => errors ?? []).map(({ message }) => message)
  t.deepEqual(refusals, Array(4).fill('TIER_LIMIT_REACHED:50'))
})

test("another business's tiers are neither changed nor deleted", async (t) => {
  const [one, other] = [await createTenant(app), await createTenant(app)]
  const { id } = await createTier(one)
  const updated = await other.graph(UPDATE, { input: { id, name: 'x' } })
  const deleted = await other.graph(DELETE, { id })
  t.is(updated.errors?.[0].extensions.code, 'TIER_NOT_FOUND')
  t.is(deleted.errors?.[0].extensions.code, 'TIER_NOT_FOUND')
  t.is((await one.graph('{ tiers { name } }')).data.tiers[0].name, 'Gold')
})

test("another business's tiers are not listed", async (t) => {
  const [one, other] = [await createTenant(app), await createTenant(app)]
  await createTier(one)
  t.deepEqual((await other.graph('{ tiers { id } }')).data.tiers, [])
})
