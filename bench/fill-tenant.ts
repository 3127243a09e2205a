import type pg from 'pg'
import { BENCH_BUSINESS, customerIdSql, REWARD_COST, REWARD_ID, type Sizes } from './tenants.js'

/**
 * The history of one business over three years, made by arithmetic in the database. Of each hundred transactions,
 * tenths of the customers make these shares: few people buy much, many buy once. Every tenth transaction of a
 * customer takes points, less than the nine before it gave; by turns it is a completed redemption and a call of
 * the API. Everything that the service keeps beside the rows (balances, visits, counters) is computed from them.
 */
const SHARES = [1, 1, 2, 2, 4, 5, 8, 12, 20, 45]

const YEARS_MS = 3 * 365 * 24 * 3_600_000
const EARNED_MIN = 10
const REDEEMED = 50
/** Coprime to every sensible number of customers: spreads neighbours in time over all of them. */
const STRIDE = 1_000_003

export async function fillTenant(
  client: pg.Client,
  businessId: string,
  { customers, transactions }: Sizes,
  say: (message: string) => void,
): Promise<void> {
  const endMs = Date.now()
  const firstMs = endMs - YEARS_MS
  const stepMs = YEARS_MS / transactions
  const joinedStepMs = YEARS_MS / customers
  await client.query(HELPERS)
  await client.query(`SET work_mem = '256MB'`)
  for (const [what, statement] of Object.entries({
    transactions: insertTransactions(customers, transactions, firstMs, stepMs),
    redemptions: INSERT_REDEMPTIONS,
    visits: INSERT_VISITS,
    customers: insertCustomers(customers, firstMs - YEARS_MS, joinedStepMs),
    identifiers: INSERT_IDENTIFIERS,
    counts: INSERT_COUNTS,
    days: INSERT_DAYS,
    rewards: INSERT_REWARD,
  })) {
    say(what)
    await client.query(statement, [businessId])
  }
}

/** A moment from milliseconds since 1970; ids that begin with it; a redemption code from a number. */
const HELPERS = `
  CREATE OR REPLACE FUNCTION pg_temp.moment(ms float8) RETURNS timestamptz LANGUAGE sql IMMUTABLE
    RETURN to_timestamp(floor(ms) / 1000);
  CREATE OR REPLACE FUNCTION pg_temp.id(ms float8, variety int, n bigint) RETURNS uuid LANGUAGE sql IMMUTABLE
    RETURN (lpad(to_hex(floor(ms)::bigint), 12, '0') || '700' || to_hex(variety) || '8' || lpad(to_hex(n), 15, '0'))::uuid;
  CREATE OR REPLACE FUNCTION pg_temp.code(n bigint) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN (SELECT string_agg(substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((n >> (5 * place)) & 31)::int + 1, 1), '')
              FROM generate_series(0, 7) AS place)`

const array = (numbers: readonly number[]): string => `'{${numbers.join(',')}}'::int[]`

/** Which tenth of the customers each of a hundred transactions belongs to, and the how-manieth of that tenth it is. */
const slots = SHARES.flatMap((share, tenth) => Array.from({ length: share }, (_, rank) => ({ tenth, rank })))

const insertTransactions = (customers: number, transactions: number, firstMs: number, stepMs: number) => `
  INSERT INTO transactions (business_id, id, customer_id, type, status, source, points, amount_minor, currency,
                            reward_id, redemption_id, occurred_at, created_at)
  SELECT $1, pg_temp.id(ms, 0, n), customer_id,
         (CASE WHEN redeems THEN 'redeem' ELSE 'earn' END)::transaction_type, 'completed',
         (CASE WHEN rewarded THEN 'reward' ELSE 'api' END)::transaction_source,
         CASE WHEN redeems THEN ${REDEEMED} ELSE points END,
         CASE WHEN NOT redeems THEN points * 100 + n % 100 END,
         CASE WHEN NOT redeems THEN '${BENCH_BUSINESS.currency}' END,
         CASE WHEN rewarded THEN '${REWARD_ID}'::uuid END, CASE WHEN rewarded THEN pg_temp.id(ms, 1, n) END,
         pg_temp.moment(ms), pg_temp.moment(ms)
    FROM (
      SELECT n, ${firstMs} + n * ${stepMs}::float8 AS ms, ${EARNED_MIN} + (n * 37 % 191)::int AS points,
             ${customerIdSql(`(turn * ${STRIDE} % ${customers / 10}) * 10 + tenth`)} AS customer_id,
             turn / ${customers / 10} % 10 = 9 AS redeems, turn / ${customers / 10} % 20 = 9 AS rewarded
        FROM (
          SELECT n, tenths[n % 100 + 1] AS tenth, n / 100 * shares[tenths[n % 100 + 1] + 1] + ranks[n % 100 + 1] AS turn
            FROM generate_series(0, ${transactions - 1}::bigint) AS n,
                 (SELECT ${array(slots.map(({ tenth }) => tenth))} AS tenths,
                         ${array(slots.map(({ rank }) => rank))} AS ranks, ${array(SHARES)} AS shares) AS plan
        ) AS turns
    ) AS history`

const INSERT_REDEMPTIONS = `
  INSERT INTO redemptions (business_id, id, code, reward_id, customer_id, status, delivery_mode, reward_name, type,
                           points_cost, cashback_cents, created_at, expires_at, completed_at)
  SELECT business_id, redemption_id, pg_temp.code(row_number() OVER () * 2654435761 % 1099511627776), reward_id,
         customer_id, 'completed', 'in_store', 'Coffee', 'item', points, 0,
         created_at - interval '10 minutes', created_at + interval '1 day', created_at
    FROM transactions WHERE business_id = $1 AND redemption_id IS NOT NULL`

const INSERT_VISITS = `
  INSERT INTO visits (business_id, customer_id, date)
  SELECT DISTINCT business_id, customer_id, (occurred_at AT TIME ZONE '${BENCH_BUSINESS.timezone}')::date
    FROM transactions WHERE business_id = $1`

const insertCustomers = (customers: number, firstMs: number, stepMs: number) => `
  INSERT INTO customers (business_id, id, display_name, email, birthday, joined_at, created_at, updated_at,
                         balance, visit_count, redemption_count, spend_minor, earned_points, last_visit_at,
                         visit_hours, visit_hours_timezone)
  SELECT $1, c.id, 'Customer ' || n, 'customer' || n || '@example.com',
         to_char(date '1950-01-01' + (n % 18000)::int, 'YYYY-MM-DD'),
         pg_temp.moment(${firstMs} + n * ${stepMs}::float8), pg_temp.moment(${firstMs} + n * ${stepMs}::float8), now(),
         coalesce(t.earned, 0) - coalesce(t.redeemed, 0), coalesce(v.visits, 0), coalesce(t.rewards, 0),
         coalesce(t.spend, 0), coalesce(t.earned, 0), t.last_visit_at,
         t.visit_hours, CASE WHEN t.visit_hours IS NOT NULL THEN '${BENCH_BUSINESS.timezone}' END
    FROM (SELECT n, ${customerIdSql('n')} AS id FROM generate_series(0, ${customers - 1}::bigint) AS n) AS c
    LEFT JOIN (
      SELECT customer_id, sum(points) FILTER (WHERE type = 'earn') AS earned,
             sum(points) FILTER (WHERE type = 'redeem') AS redeemed, sum(amount_minor) AS spend,
             count(redemption_id) AS rewards, max(occurred_at) AS last_visit_at,
             bit_or(set_bit(0::bit(168), ((floor(date_part('epoch', occurred_at AT TIME ZONE '${BENCH_BUSINESS.timezone}') / 3600)::bigint + 96) % 168)::int, 1)) AS visit_hours
        FROM transactions WHERE business_id = $1 GROUP BY customer_id
    ) AS t ON t.customer_id = c.id
    LEFT JOIN (
      SELECT customer_id, count(*) AS visits FROM visits WHERE business_id = $1 GROUP BY customer_id
    ) AS v ON v.customer_id = c.id`

const INSERT_IDENTIFIERS = `
  INSERT INTO customer_identifiers (business_id, id, customer_id, value, label, created_at)
  SELECT business_id, id, id, 'card-' || row_number() OVER (ORDER BY id), 'Customer card', created_at
    FROM customers WHERE business_id = $1`

const INSERT_COUNTS = `
  INSERT INTO transaction_counts (business_id, type, status, shard, count, points)
  SELECT business_id, type, status, get_byte(uuid_send(customer_id), 15) % 64, count(*), sum(points)
    FROM transactions WHERE business_id = $1 GROUP BY 1, 2, 3, 4`

const INSERT_DAYS = `
  INSERT INTO transaction_days (business_id, day, earn_count, redeem_count)
  SELECT business_id, (created_at AT TIME ZONE 'UTC')::date, count(*) FILTER (WHERE type = 'earn'),
         count(*) FILTER (WHERE type = 'redeem')
    FROM transactions WHERE business_id = $1 AND created_at < date_trunc('day', now() - interval '1 day', 'UTC') GROUP BY 1, 2`

const INSERT_REWARD = `
  INSERT INTO rewards (business_id, id, name, points_cost, redemptions_count, created_at, updated_at)
  SELECT $1, '${REWARD_ID}', 'Coffee', ${REWARD_COST}, count(*), now(), now()
    FROM redemptions WHERE business_id = $1`
