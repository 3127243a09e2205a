/** How much data the benchmark runs on; multiples of 10 customers. */
export interface Sizes {
  customers: number
  transactions: number
}

/** The tenant that is measured, among others that share its tables and have a fiftieth of its size. */
export const OTHER_TENANTS = 4
const OTHER_TENANTS_SHARE = 1 / 50

export const otherSizes = ({ customers, transactions }: Sizes): Sizes => ({
  customers: Math.max(10, Math.round((customers * OTHER_TENANTS_SHARE) / 10) * 10),
  transactions: Math.round(transactions * OTHER_TENANTS_SHARE),
})

/** A zone with summer time, so that local days cost what they cost most businesses. */
export const BENCH_BUSINESS = {
  name: 'Benchmark',
  email: 'bench@example.com',
  country: 'DE',
  currency: 'EUR',
  timezone: 'Europe/Berlin',
} as const

/** Ids end in the row's number, so that a request for any customer can be made without asking the database. */
const CUSTOMER_ID_PREFIX = '018bcfe5-6800-7000-8000-'

/** The id of customer `n`, from 0. */
export const customerId = (n: number): string => CUSTOMER_ID_PREFIX + n.toString(16).padStart(12, '0')

/** The same in SQL, over an expression of type bigint. */
export const customerIdSql = (n: string): string =>
  `('${CUSTOMER_ID_PREFIX}' || lpad(to_hex(${n}), 12, '0'))::uuid`

/** The reward whose codes are completed: open to all, at a cost that every customer's balance bears. */
export const REWARD_ID = '018bcfe5-6800-7000-8001-000000000000'
export const REWARD_COST = 1

/** The raffle that is entered: open to all, as often as the benchmark likes. */
export const RAFFLE_ID = '018bcfe5-6800-7000-8002-000000000000'
export const RAFFLE_COST = 1
