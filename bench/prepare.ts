import pg from 'pg'
import { createApiKey } from '../src/businesses/accounts.js'
import { openDatabase } from '../src/database/database.js'
import { createSecrets } from '../src/secrets.js'
import { fillPools } from './pool.js'
import { prepareClaimCodes } from './prepare-claim-codes.js'
import type { Subject } from './recorded.js'
import { customerId, customerIdSql, RAFFLE_COST, RAFFLE_ID, REWARD_COST, REWARD_ID } from './tenants.js'
import type { Material } from './workloads.js'

interface Wanted {
  businessId: string
  customers: number
  /** Redemption codes that are to be pending; as many values have the code pools, and so many codes are unclaimed. */
  codes: number
}

/**
 * Makes what a run uses up or must know: an API key, pending redemptions, one for each completion, values in the code
 * pools, and codes to claim.
 */
export async function prepare(
  url: string,
  secret: string,
  { businessId, customers, codes: wanted }: Wanted,
): Promise<{ subject: Subject; material: Material }> {
  const database = openDatabase({ url, poolSize: 2, onError: () => {} })
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const now = new Date()
    const { id: keyId, key: apiKey } = await createApiKey(
      database,
      createSecrets(secret),
      { businessId, name: 'benchmark' },
      now,
    )
    await client.query(
      `UPDATE redemptions SET status = 'expired' WHERE business_id = $1 AND status = 'pending'`,
      [businessId],
    )
    const { rows } = await client.query<{ code: string }>(INSERT_PENDING, [businessId, wanted, customers])
    await fillPools(client, businessId, wanted)
    const claimCodes = await prepareClaimCodes(client, businessId, wanted)
    await client.query(INSERT_RAFFLE, [businessId])
    await client.query('VACUUM ANALYZE batch_codes, redemptions, transactions, customers, transaction_counts')
    const codes = rows.map(({ code }) => code)
    return {
      subject: {
        businessId,
        keyId,
        customerId: customerId(0),
        code: codes.pop()!,
        claimCode: claimCodes.pop()!,
      },
      material: { apiKey, customers, codes, claimCodes, run: now.toISOString() },
    }
  } finally {
    await client.end()
    await database.close()
  }
}

/** Random codes for customers who are spread over all; a code that there is already makes one redemption less. */
const INSERT_PENDING = `
  INSERT INTO redemptions (business_id, id, code, reward_id, customer_id, status, delivery_mode, reward_name, type,
                           points_cost, cashback_cents, created_at, expires_at)
  SELECT $1, gen_random_uuid(),
         (SELECT string_agg(substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', floor(random() * 32)::int + 1, 1), '')
            FROM generate_series(1, 8) WHERE n IS NOT NULL),
         '${REWARD_ID}', ${customerIdSql('n * 7919 % $3::bigint')}, 'pending', 'in_store', 'Coffee', 'item',
         ${REWARD_COST}, 0, now(), now() + interval '1 day'
    FROM generate_series(1, $2::bigint) AS n
  ON CONFLICT DO NOTHING
  RETURNING code`

/** One raffle serves all runs; it is never drawn. */
const INSERT_RAFFLE = `
  INSERT INTO raffles (business_id, id, name, starts_at, ends_at, points_cost, entries_per_user, winners_count,
                       seed_hash, sealed_seed, created_at, updated_at)
  VALUES ($1, '${RAFFLE_ID}', 'Bicycle', now() - interval '1 day', '2999-01-01', ${RAFFLE_COST}, 10000, 1,
          repeat('0', 64), '', now(), now())
  ON CONFLICT DO NOTHING`
