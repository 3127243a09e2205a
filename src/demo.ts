import { createApiKey, createBusiness } from './businesses/accounts.js'
import { type Context, enter, type Services, unattendedContext } from './context.js'
import { createCustomer } from './customers/customers.js'
import { issuePoints } from './points/points.js'
import { completeRedemption, createRedemption } from './redemptions/redemptions.js'
import { createReward } from './rewards/rewards.js'
import { updateTierSettings } from './tiers/tier-settings.js'
import { createTier } from './tiers/tiers.js'

/** A demo business as it was seeded. */
export interface Demo {
  readonly businessId: string
  /** Shown this once. */
  readonly apiKey: string
  /** An identifier of a customer with points. */
  readonly customer: string
}

const BUSINESS = {
  name: 'Corner Café (demo)',
  email: 'owner@example.com',
  country: 'DE',
  timezone: 'Europe/Berlin',
  currency: 'EUR',
}

const benefits = (pointsMultiplier: string, bonusPoints: number) => ({
  pointsMultiplier,
  cashbackBoostPercent: 0,
  referralBonusPoints: bonusPoints,
  tierReachBonusPoints: bonusPoints,
})
const TIERS = [
  { name: 'Bronze', rank: 1, minPoints: 0 },
  { name: 'Silver', rank: 2, minPoints: 500, benefits: benefits('1.1', 50) },
  { name: 'Gold', rank: 3, minPoints: 2000, benefits: benefits('1.25', 200) },
]

const COFFEE = {
  name: 'Free coffee',
  description: 'Any coffee on the menu.',
  pointsCost: 100,
  cooldownMode: 'limit',
  cooldownCount: 2,
  cooldownAmount: 1,
  cooldownUnit: 'day',
} as const
const OTHER_REWARDS = [
  { name: 'Breakfast for two', pointsCost: 450, conditions: 'Not on public holidays.', maxRedemptions: 500 },
  { name: '5 € off', pointsCost: 300, type: 'discount' },
  { name: 'Birthday cake', pointsCost: 0, birthday: true, birthdayWindowMode: 'month' },
] as const

/** Customers with what they spent, in EUR, and how many days ago. */
const CUSTOMERS = [
  {
    profile: { displayName: 'Ada Lovelace', email: 'ada@example.com', birthday: '1815-12-10' },
    identifier: 'C-1001',
    purchases: [
      { amount: '180.00', daysAgo: 12 },
      { amount: '74.50', daysAgo: 2 },
    ],
  },
  {
    profile: { displayName: 'Grace Hopper', email: 'grace@example.com', birthday: '1906-12-09' },
    identifier: 'C-1002',
    purchases: [{ amount: '512.00', daysAgo: 40 }],
  },
  {
    profile: { displayName: 'Alan Turing', birthday: '--06-23' },
    identifier: 'C-1003',
    purchases: [],
  },
]

const DAY_MS = 24 * 60 * 60 * 1000

/** Adds a demo business with everything that a first look needs: all of it or nothing. */
export function seedDemo(services: Services): Promise<Demo> {
  const { database, secrets, clock } = services
  return database.transaction(async (open) => {
    const now = clock.now()
    const businessId = await createBusiness(open, BUSINESS, now)
    const { id, key } = await createApiKey(open, secrets, { businessId, name: 'demo' }, now)
    const ctx = enter(
      unattendedContext(
        services,
        { id: businessId, timezone: BUSINESS.timezone },
        // As if the shop had done it all with its key.
        { kind: 'api_key', id, scopes: [] },
      ),
      open,
    )
    for (const tier of TIERS) await createTier(ctx, tier, {})
    await updateTierSettings(ctx, { enabled: true })
    const coffee = await createReward(ctx, COFFEE, {})
    for (const reward of OTHER_REWARDS) await createReward(ctx, reward, {})
    for (const customer of CUSTOMERS) await addCustomer(ctx, customer)
    const customer = CUSTOMERS[0]!.identifier
    const { redemption } = await createRedemption(ctx, { rewardId: coffee.id, identifier: customer })
    await completeRedemption(ctx, redemption)
    return { businessId, apiKey: key, customer }
  })
}

async function addCustomer(ctx: Context, { profile, identifier, purchases }: (typeof CUSTOMERS)[number]) {
  await createCustomer(ctx, { ...profile, identifiers: [{ value: identifier, label: 'Customer card' }] }, {})
  for (const { amount, daysAgo } of purchases)
    await issuePoints(ctx, { identifier, amount, occurredAt: new Date(ctx.now.getTime() - daysAgo * DAY_MS) })
}
