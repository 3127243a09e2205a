import assert from 'node:assert/strict'
import test from 'ava'
import fc from 'fast-check'
import { createTenant, type RestAnswer, startApp } from '../helpers/app.js'
import { createReward, createTier } from '../helpers/factories.js'
import { cause, type Fields, mixed } from './reward-requests.js'

const app = await startApp({ teardown: (end) => test.after.always(end) })

/** The part of a reward that says whether it is on, as docs/decisions.md tells it ("Being off has causes"). */
interface Model {
  hand: boolean
  limit: boolean
  pool: boolean
  source: unknown
  max: number | null
  count: number
  reserved: number
  available: number
}

const CREATED: Model = {
  hand: false,
  limit: false,
  pool: false,
  source: 'static',
  max: null,
  count: 0,
  reserved: 0,
  available: 0,
}

const isOn = ({ hand, limit, pool }: Model) => !hand && !limit && !pool

/** The cap and the source that a well-formed request leads to. */
const merged = (model: Model, fields: Fields) => ({
  max: fields.max_redemptions === undefined ? model.max : (fields.max_redemptions as number | null),
  source:
    (fields.delivery_mode ?? 'digital') === 'digital'
      ? (fields.digital_asset_source ?? model.source)
      : 'static',
})

/** The code with which a well-formed change has to be refused. */
function refusalOf(model: Model, fields: Fields): string | undefined {
  const { count, reserved, available } = model
  const { max, source } = merged(model, fields)
  if (max !== null && max < count + reserved) return `400 REWARD_LIMIT_BELOW_CURRENT:${count + reserved}`
  if (fields.active !== true) return undefined
  if (max === count) return `409 REWARD_LIMIT_REACHED:${max}`
  return source === 'pool' && available === 0 ? '409 DIGITAL_POOL_EXHAUSTED' : undefined
}

/** The causes after a change that was accepted: what each part of it does to them, one after the other. */
function changed(model: Model, fields: Fields): Model {
  const after = { ...model, ...merged(model, fields) }
  if (fields.active === false) return { ...after, hand: true, limit: false, pool: false }
  if (fields.active === true) return { ...after, hand: false, limit: false, pool: false }
  if (after.max === null || after.max > model.count) after.limit = false
  else if (!model.hand) after.limit = true
  if (after.source !== 'pool') after.pool = false
  else if (model.source !== 'pool' && model.available === 0 && !model.hand) after.pool = true
  return after
}

/** A new reward may ask to be on and yet be off by pool: it could not have been filled before. */
const created = ({ active, ...fields }: Fields): Model =>
  changed(CREATED, active === false ? { ...fields, active } : fields)

/** What else happens to a reward, done to its row as redemptions and pools do it. */
type Event = { change: Fields } | { complete: true } | { reserve: number } | { fill: number }

function happen(model: Model, event: Exclude<Event, { change: Fields }>): Model {
  if ('fill' in event) {
    const pool = model.source === 'pool' && event.fill === 0 && !model.hand
    return { ...model, available: event.fill, pool }
  }
  const { max, count, reserved } = model
  if ('reserve' in event) {
    const fits = max === null || count + event.reserve <= max
    return fits ? { ...model, reserved: event.reserve } : model
  }
  const redeemable = isOn(model) && (max === null || count + reserved < max)
  return redeemable ? { ...model, count: count + 1, limit: count + 1 === max } : model
}

const NAMED = /^[a-z_]+(\.([a-z_]+|\d+))*: [^;]+(; [a-z_]+(\.([a-z_]+|\d+))*: [^;]+)*$/
const CODED = /^(400 REWARD_LIMIT_BELOW_CURRENT|409 REWARD_LIMIT_REACHED):\d+$|^409 DIGITAL_POOL_EXHAUSTED$/

/** `success`, `refused` (by name), or the status with the code; throws on anything else. */
function outcomeOf({ status, body, text }: RestAnswer): string {
  if (body.success) return 'success'
  const { message } = body.error
  if (CODED.test(`${status} ${message}`)) return `${status} ${message}`
  assert.ok(
    status === 400 && (NAMED.test(message) || message === 'Provide at least one field to change'),
    text,
  )
  return 'refused'
}

test('whatever is sent, a reward stays within its rules and is off for exactly the causes that hold', async (t) => {
  const { rest, businessId, graph } = await createTenant(app)
  const tierIds = [await createTier({ graph }), await createTier({ graph })].map(({ id }) => id as string)
  const request = fc.oneof(cause, mixed([...tierIds, businessId]))
  const event = fc.oneof<fc.WeightedArbitrary<Event>[]>(
    { weight: 6, arbitrary: fc.record({ change: request }) },
    { weight: 3, arbitrary: fc.constant({ complete: true }) },
    { weight: 1, arbitrary: fc.record({ reserve: fc.nat(2) }) },
    { weight: 1, arbitrary: fc.record({ fill: fc.nat(1) }) },
  )
  const seen: Record<string, number> = {}
  const see = (answer: RestAnswer) => {
    const outcome = outcomeOf(answer)
    const kind = outcome.replace(/:.*/, '')
    seen[kind] = (seen[kind] ?? 0) + 1
    return outcome
  }

  const followsTheModel = async (fields: Fields, events: Event[]) => {
    const wanted = await rest('POST /rewards', { name: 'Tea', points_cost: 1, ...fields })
    const isMade = see(wanted) === 'success'
    // What happens to a reward later is worth more tries than its making.
    const { id } = isMade ? wanted.body.data.reward : await createReward({ rest })
    const key = { businessId_id: { businessId, id } }
    let model = isMade ? created(fields) : CREATED
    const row = async () => app.database.db.reward.findUniqueOrThrow({ where: key })
    const isModel = async () => {
      const found = await row()
      const shown = {
        hand: found.offByHand,
        limit: found.deactivatedByLimit,
        pool: found.deactivatedByPool,
        source: found.digitalAssetSource,
        max: found.maxRedemptions,
        count: found.redemptionsCount,
        reserved: found.reservedCount,
        available: found.poolAvailable,
      }
      assert.deepEqual(shown, model)
    }
    await isModel()

    for (const event of events) {
      if ('change' in event) {
        const before = await row()
        const answer = await rest(`PATCH /rewards/${id}`, event.change)
        const outcome = see(answer)
        if (outcome === 'success') {
          assert.equal(refusalOf(model, event.change), undefined)
          model = changed(model, event.change)
          assert.equal(answer.body.data.reward.active, isOn(model))
        } else {
          if (outcome !== 'refused') assert.equal(outcome, refusalOf(model, event.change))
          assert.deepEqual(await row(), before, 'a refusal changes nothing')
        }
      } else {
        model = happen(model, event)
        await app.database.db.reward.update({
          where: key,
          data: {
            redemptionsCount: model.count,
            reservedCount: model.reserved,
            poolAvailable: model.available,
            deactivatedByLimit: model.limit,
            deactivatedByPool: model.pool,
          },
        })
      }
      await isModel()
    }
  }

  const chain = fc.array(event, { minLength: 8, maxLength: 8 })
  await fc.assert(fc.asyncProperty(request, chain, followsTheModel), {
    numRuns: 60,
    includeErrorInReport: true,
  })
  t.log(seen)
  const { success = 0, refused = 0, ...coded } = seen
  t.true(success > 0 && refused > 0 && Object.keys(coded).length > 0)
})
