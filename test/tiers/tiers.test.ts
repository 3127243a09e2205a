import test from 'ava'
import { createTenant, startApp } from '../helpers/app.js'
import { createTier } from '../helpers/factories.js'

const app = await startApp({ teardown: (end) => test.after.always(end) })

const CREATE = 'mutation ($input: CreateTierInput!) { createTier(input: $input) { id name rank minPoints } }'

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
})) {
  test(`${field} of a tier has its bounds`, async (t) => {
    const { graph } = await createTenant(app)
    for (const value of values) {
      const { errors } = await graph(CREATE, {
        input: { name: 'Gold', rank: 1, minPoints: 1, [field]: value },
      })
      t.is(errors?.[0].extensions.fields[0].path, field, JSON.stringify(value))
    }
  })
}

test("another business's tiers are not listed", async (t) => {
  const [one, other] = [await createTenant(app), await createTenant(app)]
  await createTier(one)
  t.deepEqual((await other.graph('{ tiers { id } }')).data.tiers, [])
})
