import { readBusiness } from '../businesses/businesses.js'
import type { Context } from '../context.js'
import { addressOf } from '../customers/address.js'
import { type Statement, statement } from '../database/sql.js'
import { AppError, invalid } from '../errors.js'
import { readAccount } from '../ledger/customer.js'
import { localDate } from '../time.js'
import { conditionsOf } from './conditions.js'
import { Ground } from './facts.js'
import type { Filter } from './filter.js'
import { type Preset, presetsOn } from './presets.js'
import type { SegmentInput } from './segments.input.js'

/** A customer of a segment; the values are of the moment that the segment is asked for. */
export interface SegmentCustomer {
  id: string
  displayName: string | null
  pointsBalance: number
  visitCount: number
  redemptionCount: number
  /** Whole US dollars, rounded down. */
  spendUsdEstimated: number
  lastVisitAt: Date | null
  joinedAt: Date
  tierId: string | null
  identifiers: { id: string; value: string; label: string | null; createdAt: Date }[]
}

export interface SegmentPage {
  customers: SegmentCustomer[]
  limit: number
  offset: number
  totalCount: number
}

/** One condition of a segment, as it is for one customer. */
export interface Explained {
  field: string
  /** JSON, in the graph's spelling. */
  asked: string
  holds: boolean
  /** What the condition looked at; null = there is nothing. */
  seen: string | null
}

interface AsOf {
  /** A moment in the past; null = now. */
  asOf?: Date | null | undefined
}

/** The ready-made segments, as of today in the business's zone. */
export const listPresets = ({ now, business }: Context): readonly Preset[] =>
  presetsOn(localDate(now, business.timezone))

/**
 * A page of a segment, ordered by id, and how many customers there are in all: one statement, so that they agree. Throws
 * InvalidInput naming `asOf` or `timezone`.
 */
export async function segmentPage(
  ctx: Context,
  { input, asOf, defaultLimit }: { input: SegmentInput; defaultLimit: number } & AsOf,
): Promise<SegmentPage> {
  const { limit: asked, offset: from } = input.pagination ?? {}
  const [limit, offset] = [asked ?? defaultLimit, from ?? 0]
  const on = await groundOf(ctx, asOf)
  const met = new Set(conditionsOf(filterOf(input, on), on).map(({ holds }) => holds()))
  const where = [on.customers(), ...met].join(' AND ')
  const rows = await select<SegmentRow>(ctx, pageSql(on, where, { limit, offset }), on)
  return {
    customers: rows.flatMap(({ totalCount, identifiers, ...row }) =>
      row.id === null ? [] : [{ ...row, identifiers: identifiers.map(withMoment) } as SegmentCustomer],
    ),
    limit,
    offset,
    totalCount: rows[0]!.totalCount,
  }
}

type SegmentRow = {
  totalCount: number
  id: string | null
  identifiers: (Identified & { createdAt: string })[]
}
type Identified = Omit<SegmentCustomer['identifiers'][number], 'createdAt'>

const withMoment = (identifier: SegmentRow['identifiers'][number]) => ({
  ...identifier,
  createdAt: new Date(identifier.createdAt),
})

function pageSql(on: Ground, where: string, { limit, offset }: { limit: number; offset: number }): string {
  const dollars = `div(${on.weighedSpend()}, ${on.put(on.spend.perDollar, 'numeric')})::bigint`
  // Counting and paging each find the customers in the way that is best for it, unless that means reading the ledger.
  const [once, segment] = on.readsLedger
    ? [`WITH segment AS MATERIALIZED (SELECT c.* FROM ${where})`, 'segment c']
    : ['', where]
  return `
    ${once}
    SELECT total.count AS "totalCount", c.id, c.display_name AS "displayName", ${on.points()} AS "pointsBalance",
           c.visit_count AS "visitCount", c.redemption_count AS "redemptionCount", ${dollars} AS "spendUsdEstimated",
           c.last_visit_at AS "lastVisitAt", c.joined_at AS "joinedAt", c.tier_id AS "tierId",
           (SELECT coalesce(json_agg(json_build_object('id', i.id, 'value', i.value, 'label', i.label,
                                                       'createdAt', i.created_at) ORDER BY i.created_at, i.id), '[]')
              FROM customer_identifiers i WHERE i.business_id = $1 AND i.customer_id = c.id) AS identifiers
      FROM (SELECT count(*) FROM ${segment}) AS total
      LEFT JOIN (
        SELECT c.* FROM ${segment} ORDER BY c.id LIMIT ${on.put(limit, 'int')} OFFSET ${on.put(offset, 'int')}
      ) c ON true
     ORDER BY c.id`
}

/**
 * Which conditions of a segment a customer meets, with the values seen. Throws CUSTOMER_NOT_FOUND, or InvalidInput naming
 * `asOf` or `timezone`.
 */
export async function explainSegment(
  ctx: Context,
  { input, customer, asOf }: { input: SegmentInput; customer: string } & AsOf,
): Promise<{ userId: string; matches: boolean; conditions: Explained[] }> {
  const { id } = await readAccount(ctx, addressOf(customer))
  const on = await groundOf(ctx, asOf)
  const conditions = conditionsOf(filterOf(input, on), on)
  const columns = conditions.map(
    ({ holds, seen }) => `json_build_object('holds', coalesce(${holds()}, false), 'seen', ${seen()})`,
  )
  const sql = `SELECT json_build_array(${columns.join(', ')}) AS found FROM ${on.customers(id)}`
  const [row] = await select<{ found: Pick<Explained, 'holds' | 'seen'>[] }>(ctx, sql, on)
  // In the past: not a customer yet.
  if (!row) throw new AppError('CUSTOMER_NOT_FOUND')
  const explained = conditions.map(({ field, asked }, index) => ({
    field,
    asked: JSON.stringify(asked),
    ...row.found[index]!,
  }))
  return { userId: id, matches: explained.every(({ holds }) => holds), conditions: explained }
}

async function groundOf(ctx: Context, asOf: Date | null | undefined): Promise<Ground> {
  if (asOf && asOf > ctx.now) throw invalid('asOf', 'must not be in the future')
  return new Ground(await readBusiness(ctx), ctx.now, asOf)
}

const filterOf = ({ presetId, ...filter }: SegmentInput, { today }: Ground): Filter =>
  presetId == null ? filter : presetsOn(today).find(({ id }) => id === presetId)!.filter

/** PostgreSQL's code for, among others, a time zone that it does not know. */
const INVALID_PARAMETER_VALUE = '22023'

/** Over ten million rows it takes longer, and wants more memory for its hashes, than anything at a till may. */
const roomToReadLedger = statement<never>(
  'room_to_read_ledger',
  `SELECT set_config('statement_timeout', '60s', true), set_config('work_mem', '128MB', true)`,
)

/**
 * Without a name: there are too many filters for each to stay prepared, and each is planned best for its own values.
 */
async function select<Row>(ctx: Context, text: string, { values, readsLedger }: Ground): Promise<Row[]> {
  const unnamed: Statement<Row> = { name: '', text }
  try {
    if (!readsLedger) return await ctx.sql.rows(unnamed, values)
    return await ctx.database.transaction(async ({ sql }) => {
      await sql.row(roomToReadLedger, [])
      return sql.rows(unnamed, values)
    })
  } catch (error) {
    // The database may have an older list of zones than this process.
    if ((error as { code?: string }).code === INVALID_PARAMETER_VALUE)
      throw invalid('timezone', 'is not known to the database')
    throw error
  }
}
