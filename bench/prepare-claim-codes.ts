import type pg from 'pg'
import { v7 as uuidv7 } from 'uuid'
import { generateSuffix, printedCode } from '../src/code-batches/code.rules.js'
import { randomCharacters } from '../src/crockford.js'

/** As many as claim at once: claims of one batch wait for each other, and not every business runs one alone. */
const BATCHES = 16
const CODES_AT_ONCE = 5_000

/** Codes that nobody has claimed, of several batches in turn. */
export async function prepareClaimCodes(
  client: pg.Client,
  businessId: string,
  wanted: number,
): Promise<string[]> {
  const quantity = Math.ceil(wanted / BATCHES)
  const batches: string[][] = []
  for (let batch = 0; batch < BATCHES; batch++) batches.push(await makeBatch(client, businessId, quantity))
  return batches[0]!.flatMap((_, index) => batches.map((codes) => codes[index]!))
}

async function makeBatch(client: pg.Client, businessId: string, quantity: number): Promise<string[]> {
  const [id, prefix] = [uuidv7(), randomCharacters(10)]
  await client.query(
    `INSERT INTO code_batches (business_id, id, batch_ref, name, prefix, points, quantity, created_via, created_at)
     VALUES ($1, $2, $3, 'Benchmark', $4, 10, $5, 'api', now())`,
    [businessId, id, randomCharacters(8), prefix, quantity],
  )
  const suffixes = Array.from({ length: quantity }, generateSuffix)
  for (let from = 0; from < quantity; from += CODES_AT_ONCE) {
    const some = suffixes.slice(from, from + CODES_AT_ONCE)
    await client.query(
      `INSERT INTO batch_codes (business_id, batch_id, id, suffix)
       SELECT $1, $2, made.id, made.suffix FROM unnest($3::uuid[], $4::text[]) AS made (id, suffix)`,
      [businessId, id, some.map(() => uuidv7()), some],
    )
  }
  return suffixes.map((suffix) => printedCode(prefix, suffix))
}
