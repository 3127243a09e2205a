import { createLoyaltyClient, dataOf, LoyaltyError } from '../src/index.js'

/** The five-minute tour of the README, typed: what it returns is what the last step says of the customer. */
export async function tour(baseUrl: string, apiKey: string, receipt: string) {
  const api = createLoyaltyClient({ baseUrl, apiKey })

  const { business } = await dataOf(api.GET('/api/v1/me'))
  const identifier = `TILL-${receipt}`
  const { customer } = await dataOf(
    api.POST('/api/v1/customers', {
      body: { display_name: 'Marie Curie', identifiers: [{ value: identifier, label: 'Customer card' }] },
    }),
  )
  const { reward } = await dataOf(
    api.POST('/api/v1/rewards', {
      body: {
        name: 'Slice of cake',
        points_cost: 100,
        cooldown_mode: 'limit',
        cooldown_count: 1,
        cooldown_amount: 1,
        cooldown_unit: 'day',
      },
    }),
  )

  // The same receipt is booked once, however often it is sent.
  const purchase = () =>
    dataOf(
      api.POST('/api/v1/points/issue', {
        params: { header: { 'Idempotency-Key': receipt } },
        body: { identifier, amount: '120.50' },
      }),
    )
  const issued = await purchase()
  const again = await purchase()

  const { redemption } = await dataOf(
    api.POST('/api/v1/redemptions', { body: { reward_id: reward.id, identifier } }),
  )
  const code = { params: { path: { code: redemption.code } } }
  const completed = await dataOf(api.POST('/api/v1/redemptions/{code}/complete', code))
  const refusal = await dataOf(api.POST('/api/v1/redemptions/{code}/complete', code)).catch((error) => error)

  const balance = await dataOf(
    api.GET('/api/v1/customers/{userId}/balance', { params: { path: { userId: identifier } } }),
  )
  const { transactions, pagination } = await dataOf(
    api.GET('/api/v1/transactions', { params: { query: { type: 'redeem', limit: 1 } } }),
  )
  return {
    business: business.name,
    customer: customer.display_name,
    bookedOnce: issued.transaction.id === again.transaction.id,
    status: completed.redemption.status,
    refusal: refusal instanceof LoyaltyError ? [refusal.status, refusal.code, refusal.value] : undefined,
    balance: balance.balance,
    latest: transactions[0]?.points,
    returned: pagination.returned,
  }
}
