import test from 'ava'
import { v7 as uuidv7 } from 'uuid'
import { audit } from '../../src/audit/audit.js'
import {
  createTenant,
  graphClient,
  restClient,
  startApp,
  type Tenant,
  type TestApp,
  testClock,
} from '../helpers/app.js'
import { createCustomer } from '../helpers/factories.js'

/** A question of the dashboard; its id. */
async function ask({ graph }: Pick<Tenant, 'graph'>, text = 'The staff?'): Promise<string> {
  const create =
    'mutation ($text: String!) { createReviewQuestion(input: { text: $text }) { id text active } }'
  const { data, errors } = await graph(create, { text })
  if (errors) throw new Error(JSON.stringify(errors))
  return data.createReviewQuestion.id
}

const change = ({ graph }: Pick<Tenant, 'graph'>, input: object) =>
  graph(
    'mutation ($input: UpdateReviewQuestionInput!) { updateReviewQuestion(input: $input) { text active } }',
    { input },
  )

const summaryOf = async ({ rest }: Pick<Tenant, 'rest'>) => (await rest('GET /reviews/summary')).body.data

async function brokenChecks({ database }: TestApp) {
  const { checks } = await audit(database)
  return checks.filter(({ broken }) => broken > 0)
}

const ALREADY = '{"success":false,"error":{"message":"REVIEW_ALREADY_SUBMITTED"}}'

test('a review is answered as it was sent, and a retry with its key is the same one', async (t) => {
  const clock = testClock()
  const app = await startApp(t, { clock })
  const tenant = await createTenant(app)
  const question_id = await ask(tenant)
  const { user_id } = await createCustomer(tenant, { identifiers: [{ value: 'card-1' }] })
  const answers = [{ question_id, rating: 2 }]
  const review = { identifier: 'card-1', rating: 4, answers, comment: 'Good cake 🍰' }
  const key = { 'idempotency-key': 'review' }
  const sent = await tenant.rest('POST /reviews', review, key)
  t.is(sent.status, 201)
  const { id, ...rest } = sent.body.data.review
  t.deepEqual(rest, {
    user_id,
    rating: 4,
    comment: review.comment,
    answers,
    created_at: clock.now().toISOString(),
  })
  t.is((await tenant.rest('POST /reviews', review, key)).text, sent.text)
  t.is((await summaryOf(tenant)).total_reviews, 1)
  const least = await createCustomer(tenant)
  const bare = await tenant.rest('POST /reviews', { user_id: least.user_id, rating: 1 })
  t.like(bare.body.data.review, { rating: 1, comment: null, answers: [] })
})

const days: [zone: string, first: string, last: string, next: string][] = [
  // 23 hours, 25 hours, 24.5 hours, 23.5 hours, and a day whose midnight the clock skips.
  ['Europe/Berlin', '2026-03-28T23:00:00.000Z', '2026-03-29T21:59:59.999Z', '2026-03-29T22:00:00.000Z'],
  ['Europe/Berlin', '2026-10-24T22:00:00.000Z', '2026-10-25T22:59:59.999Z', '2026-10-25T23:00:00.000Z'],
  ['Australia/Lord_Howe', '2026-04-04T13:00:00.000Z', '2026-04-05T13:29:59.999Z', '2026-04-05T13:30:00.000Z'],
  ['Australia/Lord_Howe', '2026-10-03T13:30:00.000Z', '2026-10-04T12:59:59.999Z', '2026-10-04T13:00:00.000Z'],
  ['Africa/Cairo', '2026-04-23T22:00:00.000Z', '2026-04-24T20:59:59.999Z', '2026-04-24T21:00:00.000Z'],
]

test('a customer reviews once in a local day, however long the clock makes it', async (t) => {
  const clock = testClock()
  const app = await startApp(t, { clock })
  for (const [timezone, first, last, next] of days) {
    const tenant = await createTenant(app, { timezone })
    const { user_id } = await createCustomer(tenant)
    const at = async (moment: string | number) => {
      clock.set(new Date(moment))
      return tenant.rest('POST /reviews', { user_id, rating: 3 })
    }
    t.is((await at(Date.parse(first) - 1)).status, 201, timezone)
    t.is((await at(first)).status, 201, timezone)
    t.is((await at(last)).text, ALREADY, timezone)
    t.is((await at(next)).status, 201, timezone)
    t.is((await summaryOf(tenant)).total_reviews, 3)
  }
})

test('of many reviews of one customer at once on two instances one is taken and counted', async (t) => {
  const one = await startApp(t)
  const two = await startApp(t, { beside: one })
  const tenant = await createTenant(one)
  const { user_id } = await createCustomer(tenant)
  const clients = [tenant.rest, restClient(two.url, tenant.key)]
  const answers = await Promise.all(
    Array.from({ length: 16 }, (_, n) => clients[n % 2]!('POST /reviews', { user_id, rating: (n % 5) + 1 })),
  )
  t.is(answers.filter(({ status }) => status === 201).length, 1)
  t.true(answers.every(({ status, text }) => status === 201 || text === ALREADY))
  t.is((await summaryOf(tenant)).total_reviews, 1)
  t.deepEqual(await brokenChecks(one), [])
})

test('the summary of reviews sent at once is what adding them up gives, and the counters pass the audit', async (t) => {
  const app = await startApp(t)
  const tenant = await createTenant(app)
  const elsewhere = await createTenant(app)
  const questions = [
    await ask(tenant, 'The staff?'),
    await ask(tenant, 'The cake?'),
    await ask(tenant, 'Why?'),
  ]
  const { user_id } = await createCustomer(elsewhere)
  await elsewhere.rest('POST /reviews', { user_id, rating: 1 })
  // Each customer answers in another order, which must not make two of them wait for each other.
  const reviews = Array.from({ length: 40 }, (_, n) => ({
    rating: ((n * 7) % 5) + 1,
    answers: (n % 2 ? [0, 1] : [1, 0]).map((q) => ({
      question_id: questions[q]!,
      rating: ((n * 3 + q) % 4) + 2,
    })),
  }))
  const statuses = await Promise.all(
    reviews.map(async (review) => {
      const customer = await createCustomer(tenant)
      return (await tenant.rest('POST /reviews', { user_id: customer.user_id, ...review })).status
    }),
  )
  t.deepEqual([...new Set(statuses)], [201])

  const added = (ratings: number[]) => {
    const distribution = Object.fromEntries(
      [1, 2, 3, 4, 5].map((stars) => [stars, ratings.filter((each) => each === stars).length]),
    )
    const mean = ratings.reduce((sum, each) => sum + each, 0) / ratings.length
    return { distribution, count: ratings.length, mean: ratings.length ? Number(mean.toFixed(2)) : null }
  }
  const all = added(reviews.map(({ rating }) => rating))
  const summary = await summaryOf(tenant)
  t.deepEqual(summary, {
    average_rating: all.mean,
    total_reviews: all.count,
    rating_distribution: all.distribution,
    questions: ['The staff?', 'The cake?', 'Why?'].map((text, index) => {
      const id = questions[index]!
      const given = reviews.flatMap(({ answers }) => answers.filter(({ question_id }) => question_id === id))
      const { mean, count, distribution } = added(given.map(({ rating }) => rating))
      return { id, text, average: mean, responses: count, distribution }
    }),
  })
  t.deepEqual(await brokenChecks(app), [])
})

test('without reviews the summary says nothing but noughts', async (t) => {
  const tenant = await createTenant(await startApp(t))
  const none = { '1': 0, '2': 0, '3': 0, '4': 0, '5': 0 }
  const empty = { average_rating: null, total_reviews: 0, rating_distribution: none, questions: [] }
  t.deepEqual(await summaryOf(tenant), empty)
  const id = await ask(tenant)
  const question = { id, text: 'The staff?', average: null, responses: 0, distribution: none }
  t.deepEqual(await summaryOf(tenant), { ...empty, questions: [question] })
})

test('only what is asked is answered, once; a question that is withdrawn keeps its answers', async (t) => {
  const app = await startApp(t)
  const tenant = await createTenant(app)
  const [asked, withdrawn] = [await ask(tenant), await ask(tenant, 'The music?')]
  const foreign = await ask(await createTenant(app))
  const send = async (...answers: string[]) => {
    const { user_id } = await createCustomer(tenant)
    const given = answers.map((question_id) => ({ question_id, rating: 5 }))
    return tenant.rest('POST /reviews', { user_id, rating: 5, answers: given })
  }
  t.is((await send(asked, withdrawn)).status, 201)
  const changed = await change(tenant, { id: withdrawn, active: false, text: 'The band?' })
  t.deepEqual(changed.data.updateReviewQuestion, { text: 'The band?', active: false })
  const refused = await send(withdrawn, asked, foreign, uuidv7(), asked)
  t.is(refused.status, 400)
  const not = 'is not a question that is asked'
  t.is(
    refused.body.error.message,
    `answers.0.question_id: ${not}; answers.2.question_id: ${not}; answers.3.question_id: ${not}; answers.4.question_id: is answered twice`,
  )
  const summary = await summaryOf(tenant)
  t.is(summary.total_reviews, 1)
  t.deepEqual(
    summary.questions.map(({ text, responses }: { text: string; responses: number }) => [text, responses]),
    [
      ['The staff?', 1],
      ['The band?', 1],
    ],
  )
  await change(tenant, { id: withdrawn, active: true })
  t.is((await send(withdrawn)).status, 201)
  for (const id of [foreign, uuidv7()])
    t.is((await change(tenant, { id, active: false })).errors![0].message, 'Question not found')
  t.is((await change(tenant, { id: asked })).errors![0].extensions.code, 'EMPTY_UPDATE')
  const { data } = await tenant.graph('{ reviewQuestions { id active } }')
  t.deepEqual(data.reviewQuestions, [
    { id: asked, active: true },
    { id: withdrawn, active: true },
  ])
})

test('every bound of a review is refused by name', async (t) => {
  const tenant = await createTenant(await startApp(t))
  const { user_id } = await createCustomer(tenant)
  const question_id = await ask(tenant)
  const fine = { user_id, rating: 5 }
  const refused: [object, string][] = [
    [{ user_id }, 'rating: required'],
    [{ ...fine, rating: 0 }, 'rating: must be at least 1'],
    [{ ...fine, rating: 6 }, 'rating: must be at most 5'],
    [{ ...fine, rating: 4.5 }, 'rating: must be an integer'],
    [{ ...fine, comment: 'x'.repeat(5001) }, 'comment: must have at most 5000 characters'],
    [{ ...fine, comment: 'a\0' }, 'comment: must not contain NUL characters'],
    [{ ...fine, answers: {} }, 'answers: must be an array'],
    [{ ...fine, answers: [{ question_id, rating: 6 }] }, 'answers.0.rating: must be at most 5'],
    [{ ...fine, answers: [{ rating: 5 }] }, 'answers.0.question_id: required'],
    [
      { ...fine, answers: Array.from({ length: 51 }, () => ({ question_id, rating: 5 })) },
      'answers: must have at most 50 elements',
    ],
    [{ rating: 5 }, 'Provide exactly one of user_id or identifier.'],
    [{ ...fine, identifier: 'x' }, 'Provide exactly one of user_id or identifier.'],
  ]
  for (const [body, message] of refused) {
    const answer = await tenant.rest('POST /reviews', body)
    t.deepEqual([answer.status, answer.body.error.message], [400, message])
  }
  const nobody = await tenant.rest('POST /reviews', { user_id: uuidv7(), rating: 5 })
  t.is(nobody.status, 404)
  for (const text of ['', 'x'.repeat(501)])
    await t.throwsAsync(ask(tenant, text), { message: /"path":"text"/ })
  t.is((await tenant.rest('POST /reviews', fine)).status, 201)
})

test('an erased customer leaves stars and no words', async (t) => {
  const app = await startApp(t)
  const tenant = await createTenant(app)
  const question_id = await ask(tenant)
  const { user_id } = await createCustomer(tenant)
  const review = { user_id, rating: 2, comment: 'Ada, table 7', answers: [{ question_id, rating: 1 }] }
  const key = { 'idempotency-key': 'review' }
  await tenant.rest('POST /reviews', review, key)
  const before = await summaryOf(tenant)
  t.is((await tenant.rest(`DELETE /customers/${user_id}`)).status, 200)
  const { data } = await tenant.graph('{ reviews { nodes { rating comment userId answers { rating } } } }')
  t.deepEqual(data.reviews.nodes, [{ rating: 2, comment: null, userId: user_id, answers: [{ rating: 1 }] }])
  t.deepEqual(await summaryOf(tenant), before)
  t.is((await tenant.rest('POST /reviews', review, key)).status, 410)
  t.is((await tenant.rest('POST /reviews', review)).status, 404)
  t.deepEqual(await brokenChecks(app), [])
})

test("the dashboard reads reviews newest first, by stars where it likes, and no other business's", async (t) => {
  const clock = testClock()
  const app = await startApp(t, { clock })
  const tenant = await createTenant(app)
  const other = graphClient(app.url, (await createTenant(app)).key)
  const question_id = await ask(tenant)
  for (const rating of [5, 3, 5]) {
    const { user_id } = await createCustomer(tenant, { display_name: `Gives ${rating}` })
    const answers = [{ question_id, rating }]
    t.is((await tenant.rest('POST /reviews', { user_id, rating, answers })).status, 201)
    clock.advance(1000)
  }
  const read =
    '($rating: Int) { reviews(rating: $rating) { totalCount nodes { rating customer { displayName } answers { question { text } } } } }'
  const node = (rating: number) => ({
    rating,
    customer: { displayName: `Gives ${rating}` },
    answers: [{ question: { text: 'The staff?' } }],
  })
  const list = async (rating?: number) => (await tenant.graph(`query ${read}`, { rating })).data.reviews
  t.deepEqual(await list(), { totalCount: 3, nodes: [node(5), node(3), node(5)] })
  t.deepEqual(await list(5), { totalCount: 2, nodes: [node(5), node(5)] })
  t.deepEqual(await list(1), { totalCount: 0, nodes: [] })
  t.deepEqual((await other(`query ${read}`)).data.reviews, { totalCount: 0, nodes: [] })
  const refused = await tenant.graph(`query ${read}`, { rating: 6 })
  t.is(refused.errors![0].extensions.fields[0].path, 'rating')
})
