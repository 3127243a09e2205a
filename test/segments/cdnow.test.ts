import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import pLimit from 'p-limit'
import { v7 as uuidv7 } from 'uuid'
import { unattendedContext } from '../../src/context.js'
import { issuePoints } from '../../src/points/points.js'
import { startOfLocalDay } from '../../src/time.js'
import { createTenant, startApp, type TestApp, testClock } from '../helpers/app.js'
import { DAY } from '../helpers/wall-clock.js'

/** The purchases of CDNOW's customers 1997 to 1998, where they are at hand: a public data set, not part of the project. */
const FILE = [
  process.env.LOYALTY_PURCHASES_FILE,
  fileURLToPath(new URL('../../../shared/data/cdnow/CDNOW_sample.txt', import.meta.url)),
].find((file) => file && existsSync(file))

const TODAY = '1998-07-01'
const ZONE = 'America/New_York'

interface Purchase {
  customer: string
  /** `YYYY-MM-DD` */
  day: string
  amount: string
  cents: number
}

/** Of a file of padded columns: customer in the master set, customer, day, pieces, dollars. */
const readPurchases = (file: string): Purchase[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, customer, day, , amount] = line.trim().split(/ +/) as [string, string, string, string, string]
      return {
        customer,
        day: `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}`,
        amount,
        cents: Math.round(Number(amount) * 100),
      }
    })

interface Known {
  visits: number
  cents: number
  points: number
  first: string
  last: string
}

function knownOf(purchases: readonly Purchase[]): Known[] {
  return [...byCustomer(purchases).values()].map((own) => {
    const days = [...new Set(own.map(({ day }) => day))].sort()
    return {
      visits: days.length,
      cents: own.reduce((sum, { cents }) => sum + cents, 0),
      points: own.reduce((sum, { cents }) => sum + Math.floor(cents / 100), 0),
      first: days[0]!,
      last: days.at(-1)!,
    }
  })
}

function byCustomer(purchases: readonly Purchase[]): Map<string, Purchase[]> {
  const groups = new Map<string, Purchase[]>()
  for (const each of purchases) groups.set(each.customer, [...(groups.get(each.customer) ?? []), each])
  return groups
}

const daysAgo = (days: number) => new Date(Date.parse(TODAY) - days * DAY).toISOString().slice(0, 10)

/** Filters, and what each means in the file. */
const cases: [filter: object, holds: (known: Known) => boolean][] = [
  [{ preset_id: 'champions' }, ({ visits, last }) => visits >= 10 && last >= daysAgo(30)],
  [{ preset_id: 'loyal' }, ({ visits, last }) => visits >= 5 && last >= daysAgo(60)],
  [{ preset_id: 'at_risk' }, ({ visits, last }) => visits >= 3 && last < daysAgo(60)],
  [{ preset_id: 'lapsed' }, ({ last }) => last < daysAgo(180)],
  [{ preset_id: 'new' }, ({ first }) => first >= daysAgo(30)],
  [{ preset_id: 'one_time' }, ({ visits }) => visits === 1],
  [{ preset_id: 'big_spenders' }, ({ cents }) => cents >= 50_000],
  [{ preset_id: 'birthday_this_month' }, () => false],
  [{ preset_id: 'unredeemed_balance' }, ({ points }) => points >= 1000],
  [{ preset_id: 'frequent_redeemers' }, () => false],
  [{}, () => true],
  [{ visit_count: { min: 2, max: 5 } }, ({ visits }) => visits >= 2 && visits <= 5],
  [{ visit_count: { min: 6 } }, ({ visits }) => visits >= 6],
  [{ spend_usd_estimated: { max: 50 } }, ({ cents }) => cents <= 5000],
  [{ spend_usd_estimated: { min: 50, max: 200 } }, ({ cents }) => cents >= 5000 && cents <= 20_000],
  [{ spend_usd_estimated: { min: 200, max: 500 } }, ({ cents }) => cents >= 20_000 && cents <= 50_000],
  [{ points_balance: { min: 100, max: 250 } }, ({ points }) => points >= 100 && points <= 250],
  [{ last_visit_within_days: 30 }, ({ last }) => last >= daysAgo(30)],
  [{ last_visit_within_days: 90 }, ({ last }) => last >= daysAgo(90)],
  [{ last_visit_within_days: 365 }, ({ last }) => last >= daysAgo(365)],
  [{ last_visit_not_within_days: 365 }, ({ last }) => last < daysAgo(365)],
  [{ joined_within_days: 500 }, ({ first }) => first >= daysAgo(500)],
  [{ joined_before_days_ago: 500 }, ({ first }) => first < daysAgo(500)],
]

/** Books a purchase for each customer, as its till would have. */
async function book(
  app: TestApp,
  businessId: string,
  ids: ReadonlyMap<string, string>,
  purchases: Purchase[],
) {
  const actor = { kind: 'api_key', id: uuidv7(), scopes: [] } as const
  const limit = pLimit(8)
  await Promise.all(
    purchases.map(({ customer, day, amount }) =>
      limit(() => {
        const occurredAt = startOfLocalDay(day, ZONE)
        const ctx = unattendedContext(app, { id: businessId, timezone: ZONE }, actor)
        return issuePoints(ctx, { userId: ids.get(customer)!, amount, occurredAt })
      }),
    ),
  )
}

const testWithRealFile = FILE ? test : test.skip
testWithRealFile(
  'segments of real purchases have as many customers as the file says, on the day and looking back',
  async (t) => {
    t.timeout(300_000)
    const clock = testClock(startOfLocalDay(TODAY, ZONE))
    const app = await startApp(t, { clock })
    const { businessId, rest, graph } = await createTenant(app, { timezone: ZONE })
    const purchases = readPurchases(FILE!)
    const known = knownOf(purchases)

    const ids = new Map<string, string>()
    const joined: Date[] = []
    for (const { customer, day } of purchases)
      if (!ids.has(customer)) {
        ids.set(customer, uuidv7())
        joined.push(startOfLocalDay(day, ZONE))
      }
    await app.database.pool.query(
      `INSERT INTO customers (business_id, id, joined_at, created_at, updated_at)
     SELECT $1, new.id, new.joined, $4, $4 FROM unnest($2::uuid[], $3::timestamptz[]) AS new (id, joined)`,
      [businessId, [...ids.values()], joined, clock.now()],
    )
    await book(app, businessId, ids, purchases)

    const expected = cases.map(([filter, holds]) => ({ filter, count: known.filter(holds).length }))
    const counts: typeof expected = []
    for (const [filter] of cases) {
      const { body } = await rest('POST /segments/preview', filter)
      counts.push({ filter, count: body.data.count })
    }
    t.deepEqual(counts, expected)
    for (const { filter, count } of counts) t.log(String(count).padStart(5), JSON.stringify(filter))

    // Half a year later many have come again; what was then has not changed.
    clock.advance(180 * DAY)
    const again = [...ids.keys()].filter((_, index) => index % 10 === 0)
    await book(
      app,
      businessId,
      ids,
      again.map((customer) => ({ customer, day: '1998-11-11', amount: '700.00', cents: 70_000 })),
    )
    for (const { filter, count } of expected) {
      const camel = JSON.parse(
        JSON.stringify(filter).replace(/_([a-z])(?=[a-z_]*":)/g, (_, letter) => letter.toUpperCase()),
      )
      const answer = await graph(
        'query ($input: SegmentInput!, $asOf: DateTime) { segmentPreview(input: $input, asOf: $asOf) { count } }',
        { input: camel, asOf: startOfLocalDay(TODAY, ZONE).toISOString() },
      )
      t.is(answer.data?.segmentPreview.count, count, JSON.stringify(answer.errors ?? camel))
    }
  },
)
