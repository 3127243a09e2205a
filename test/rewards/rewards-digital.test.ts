import test from 'ava'
import { createTenant, startApp, type Tenant } from '../helpers/app.js'
import { createReward } from '../helpers/factories.js'

const app = await startApp({ teardown: (end) => test.after.always(end) })

type Fields = Record<string, unknown>

const DIGITAL = { delivery_mode: 'digital', digital_asset_type: 'code' }
const STATIC = { ...DIGITAL, digital_asset_value: 'SAVE10' }
const LINK = { ...DIGITAL, digital_asset_type: 'link', digital_asset_value: 'https://example.com/save' }
const POOL = { ...DIGITAL, digital_asset_source: 'pool' }
const URL_ONE = 'https://example.com/one'
const EXTERNAL = { ...DIGITAL, digital_asset_source: 'external', digital_webhook_url: URL_ONE }
const NOT_DIGITAL = {
  digital_asset_type: null,
  digital_asset_source: 'static',
  digital_asset_value: null,
  digital_webhook_url: null,
  digital_email_delivery: false,
  pool_remaining: null,
}

const valueNeedsStatic =
  'digital_asset_value: only allowed when delivery_mode is digital and digital_asset_source is static'
const urlNeedsExternal =
  'digital_webhook_url: only allowed when delivery_mode is digital and digital_asset_source is external'
const staticNeedsValue =
  'digital_asset_value: required when delivery_mode is digital and digital_asset_source is static'
const externalNeedsUrl =
  'digital_webhook_url: required when delivery_mode is digital and digital_asset_source is external'
const needsType = 'digital_asset_type: required when delivery_mode is digital'
const onlyDigital = 'only allowed when delivery_mode is digital'
const sourceNeedsDigital = 'digital_asset_source: must be static unless delivery_mode is digital'

const rules: Record<string, { before?: Fields; change: Fields; refusal?: string; gives?: Fields }> = {
  'static is accepted and reported on rewards that are not digital': {
    change: { delivery_mode: 'shipping', digital_asset_source: 'static' },
    gives: NOT_DIGITAL,
  },
  'another source is refused on rewards that are not digital': {
    before: {},
    change: { digital_asset_source: 'pool' },
    refusal: sourceNeedsDigital,
  },
  'digital fields are refused on rewards that are not digital': {
    change: {
      ...EXTERNAL,
      delivery_mode: 'in_store',
      digital_asset_value: 'X',
      digital_email_delivery: true,
    },
    refusal: [
      sourceNeedsDigital,
      `digital_email_delivery: ${onlyDigital}`,
      `digital_asset_type: ${onlyDigital}`,
      valueNeedsStatic,
      urlNeedsExternal,
    ].join('; '),
  },
  'e-mail may be declined on rewards that are not digital': {
    before: {},
    change: { digital_email_delivery: false },
    gives: NOT_DIGITAL,
  },
  'becoming digital needs a type, and for static the value': {
    before: {},
    change: { delivery_mode: 'digital' },
    refusal: `${needsType}; ${staticNeedsValue}`,
  },
  'becoming digital with a pool needs no more than a type': {
    before: {},
    change: POOL,
    gives: { ...POOL, digital_asset_value: null, pool_remaining: 0 },
  },
  'becoming digital and external needs the URL': {
    before: {},
    change: { ...EXTERNAL, digital_webhook_url: null },
    refusal: externalNeedsUrl,
  },
  'pool and external refuse a value': {
    change: { ...POOL, digital_asset_value: 'X' },
    refusal: valueNeedsStatic,
  },
  'static and pool refuse a URL': {
    before: POOL,
    change: { digital_webhook_url: URL_ONE },
    refusal: urlNeedsExternal,
  },
  'the value of a static reward cannot be cleared': {
    before: STATIC,
    change: { digital_asset_value: null },
    refusal: staticNeedsValue,
  },
  'the URL of an external reward cannot be cleared': {
    before: EXTERNAL,
    change: { digital_webhook_url: null },
    refusal: externalNeedsUrl,
  },
  'switching to static without the value is refused': {
    before: POOL,
    change: { digital_asset_source: 'static' },
    refusal: staticNeedsValue,
  },
  'switching to external without the URL is refused': {
    before: STATIC,
    change: { digital_asset_source: 'external' },
    refusal: externalNeedsUrl,
  },
  'leaving static clears the value': {
    before: STATIC,
    change: { digital_asset_source: 'pool' },
    gives: { digital_asset_value: null, digital_asset_type: 'code' },
  },
  'leaving external clears the URL': {
    before: EXTERNAL,
    change: { digital_asset_source: 'static', digital_asset_value: 'X' },
    gives: { digital_webhook_url: null, digital_asset_value: 'X' },
  },
  'leaving digital clears all of it': {
    before: { ...EXTERNAL, digital_email_delivery: true },
    change: { delivery_mode: 'in_store' },
    gives: NOT_DIGITAL,
  },
  'a reward that was digital once brings nothing of it back': {
    before: STATIC,
    change: { delivery_mode: 'in_store' },
    gives: NOT_DIGITAL,
  },
  'restating static requires nothing': {
    before: STATIC,
    change: { digital_asset_source: 'static', delivery_mode: 'digital' },
    gives: STATIC,
  },
  'restating external requires nothing': {
    before: EXTERNAL,
    change: { digital_asset_source: 'external' },
    gives: EXTERNAL,
  },
  'the type of a digital reward cannot be cleared': {
    before: STATIC,
    change: { digital_asset_type: null },
    refusal: needsType,
  },
  'a link is an http or https URL': {
    change: { ...LINK, digital_asset_value: 'ftp://example.com' },
    refusal: 'digital_asset_value: must be an http or https URL when digital_asset_type is link',
  },
  'a link is changed to a link only': {
    before: LINK,
    change: { digital_asset_value: 'example.com' },
    refusal: 'digital_asset_value: must be an http or https URL when digital_asset_type is link',
  },
  'a stored code that is no URL does not become a link': {
    before: STATIC,
    change: { digital_asset_type: 'link' },
    refusal: 'digital_asset_type: must not be link: digital_asset_value is not an http or https URL',
  },
  'a code becomes a link with its URL, http as well': {
    before: STATIC,
    change: { digital_asset_type: 'link', digital_asset_value: 'http://example.com/ü?x=1#y' },
    gives: { digital_asset_type: 'link', digital_asset_value: 'http://example.com/ü?x=1#y' },
  },
  'a stored code that is a URL becomes a link, and a link a code': {
    before: { ...STATIC, digital_asset_value: 'HTTPS://example.com' },
    change: { digital_asset_type: 'link' },
    gives: { digital_asset_type: 'link', digital_asset_value: 'HTTPS://example.com' },
  },
}

const patch = (tenant: Tenant, id: string, change: Fields) => tenant.rest(`PATCH /rewards/${id}`, change)

for (const [title, { before, change, refusal, gives = {} }] of Object.entries(rules))
  test(title, async (t) => {
    const tenant = await createTenant(app)
    const answer = before
      ? await patch(tenant, (await createReward(tenant, before)).id, change)
      : await tenant.rest('POST /rewards', { name: 'Coupon', points_cost: 1, ...change })
    t.is(answer.status, refusal === undefined ? (before ? 200 : 201) : 400, answer.text)
    if (refusal === undefined) t.like(answer.body.data.reward, gives)
    else t.is(answer.body.error.message, refusal)
  })

test('what is no http or https URL as it is written is no link', async (t) => {
  const tenant = await createTenant(app)
  const { id } = await createReward(tenant, LINK)
  const values = [
    'https://',
    'https:example.com',
    'https://example .com',
    'javascript:alert(1)//https://example.com',
    ' https://example.com',
    'https://example.com\n',
    'https://example.com:99999',
  ]
  for (const digital_asset_value of values)
    t.is((await patch(tenant, id, { digital_asset_value })).status, 400, digital_asset_value)
})

const SECRET = /^whsec_[\w-]{43}$/

test('the signing secret is in the answer that creates an external reward, and in no other', async (t) => {
  const tenant = await createTenant(app)
  const created = await createReward(tenant, EXTERNAL)
  t.regex(created.digital_webhook_secret, SECRET)

  const other = await createReward(tenant, EXTERNAL)
  t.not(other.digital_webhook_secret, created.digital_webhook_secret)

  const later = [
    await tenant.rest(`GET /rewards/${created.id}`),
    await tenant.rest('GET /rewards'),
    await patch(tenant, created.id, { digital_webhook_url: 'https://example.com/two' }),
    await patch(tenant, created.id, { digital_asset_source: 'external' }),
    await patch(tenant, created.id, EXTERNAL),
    await patch(tenant, created.id, { name: 'Tea' }),
    await patch(tenant, created.id, { delivery_mode: 'in_store' }),
    await tenant.rest(`GET /rewards/${created.id}`),
  ]
  for (const { status, text, body } of later) {
    t.is(status, 200, text)
    for (const reward of body.data.rewards ?? [body.data.reward]) t.is(reward.digital_webhook_secret, null)
    t.false(text.includes('whsec_'))
  }
})

test('switching to external shows a new secret, each time', async (t) => {
  const tenant = await createTenant(app)
  const { id } = await createReward(tenant, STATIC)
  const secrets = new Set<string>()
  for (const away of [
    { digital_asset_source: 'pool' },
    { digital_asset_source: 'static', digital_asset_value: 'X' },
    { delivery_mode: 'in_store' },
  ]) {
    const { digital_webhook_secret } = (await patch(tenant, id, EXTERNAL)).body.data.reward
    t.regex(digital_webhook_secret, SECRET)
    secrets.add(digital_webhook_secret)
    t.is((await patch(tenant, id, away)).body.data.reward.digital_webhook_secret, null)
  }
  t.is(secrets.size, 3)
})

test('the secret is stored sealed, stays while the reward stays external, and goes when it leaves', async (t) => {
  const tenant = await createTenant(app)
  const { id, digital_webhook_secret } = await createReward(tenant, EXTERNAL)
  const stored = async () => {
    const key = { businessId_id: { businessId: tenant.businessId, id } }
    return (await app.database.db.reward.findUniqueOrThrow({ where: key })).digitalWebhookSecret
  }
  const sealed = await stored()
  t.is(app.secrets.open(sealed!), digital_webhook_secret)
  t.false(Buffer.from(sealed!).includes(digital_webhook_secret))
  await patch(tenant, id, { ...EXTERNAL, digital_webhook_url: 'https://example.com/two', name: 'Tea' })
  t.deepEqual(await stored(), sealed)
  await patch(tenant, id, { digital_asset_source: 'pool' })
  t.is(await stored(), null)
})

test('a refused switch to external makes no secret and leaves the reward as it was', async (t) => {
  const tenant = await createTenant(app)
  const { id } = await createReward(tenant, STATIC)
  const { status, text } = await patch(tenant, id, { ...EXTERNAL, digital_webhook_url: 'https://localhost' })
  t.is(status, 400)
  t.false(text.includes('whsec_'))
  t.like((await tenant.rest(`GET /rewards/${id}`)).body.data.reward, STATIC)
})

test('the graph shows the secret once too, also where it is asked for twice', async (t) => {
  const { graph } = await createTenant(app)
  const input = {
    name: 'Coupon',
    pointsCost: 1,
    deliveryMode: 'digital',
    digitalAssetType: 'code',
    digitalAssetSource: 'external',
    digitalWebhookUrl: URL_ONE,
  }
  const created = await graph(
    `mutation ($input: CreateRewardInput!) {
      createReward(input: $input) { id digitalWebhookSecret again: digitalWebhookSecret tierOverrides { tierId } }
    }`,
    { input },
  )
  const { id, digitalWebhookSecret, again } = created.data.createReward
  t.regex(digitalWebhookSecret, SECRET)
  t.is(again, digitalWebhookSecret)
  const read = await graph(`{
    reward(id: "${id}") { digitalWebhookSecret }
    rewards { nodes { digitalWebhookSecret } }
  }`)
  t.is(read.data.reward.digitalWebhookSecret, null)
  t.is(read.data.rewards.nodes[0].digitalWebhookSecret, null)
})

test('a retry with the same Idempotency-Key gets the same secret, which is not stored in the clear', async (t) => {
  const tenant = await createTenant(app)
  const body = { name: 'Coupon', points_cost: 1, ...EXTERNAL }
  const create = () => tenant.rest('POST /rewards', body, { 'Idempotency-Key': 'once' })
  const [first, second] = [await create(), await create()]
  t.is(second.headers.get('idempotency-replayed'), 'true')
  t.is(second.text, first.text)
  const { digital_webhook_secret } = first.body.data.reward
  const kept = await app.database.db.idempotencyKey.findFirstOrThrow({
    where: { businessId: tenant.businessId },
  })
  t.false(Buffer.from(kept.body!).includes(digital_webhook_secret))
})
