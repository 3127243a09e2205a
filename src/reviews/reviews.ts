import { v7 as uuidv7 } from 'uuid'
import { type Context, type TransactionContext, transaction } from '../context.js'
import type { CustomerAddress } from '../customers/address.js'
import type { Prisma, Review } from '../database/generated/prisma/client.js'
import { statement } from '../database/sql.js'
import { AppError, InvalidInput } from '../errors.js'
import { type Page, type PageArgs, pageOf, pageRequest, prismaPage } from '../graphql/connection.js'
import type { selection } from '../graphql/fields.js'
import { lockAccount } from '../ledger/customer.js'
import { localDate } from '../time.js'
import type { RatingCount } from './reviews.rules.js'

type Selection = ReturnType<typeof selection>

export interface Answer {
  questionId: string
  /** 1 to 5 stars. */
  rating: number
}

export interface NewReview extends CustomerAddress {
  /** 1 to 5 stars for the visit as a whole. */
  rating: number
  answers?: readonly Answer[] | null | undefined
  comment?: string | null | undefined
}

const insertReview = statement<{ id: string }>(
  'insert_review',
  `WITH review AS (
     INSERT INTO reviews (business_id, id, customer_id, date, rating, comment, created_at)
     VALUES ($1, $2, $3, $4::date, $5, $6, $7)
     ON CONFLICT (business_id, customer_id, date) DO NOTHING RETURNING id
   ), answered AS (
     INSERT INTO review_answers (business_id, review_id, question_id, rating)
     SELECT $1, review.id, answer.question_id, answer.rating
       FROM review, unnest($8::uuid[], $9::smallint[]) AS answer (question_id, rating)
   )
   SELECT id FROM review`,
)
/** In one order, so that two reviews at once cannot wait for each other. */
const countAnswers = statement<never>(
  'count_review_answers',
  `INSERT INTO review_answer_counts AS n (business_id, question_id, rating, count)
   SELECT $1, question_id, rating, 1 FROM unnest($2::uuid[], $3::smallint[]) AS answer (question_id, rating)
    ORDER BY question_id
   ON CONFLICT (business_id, question_id, rating) DO UPDATE SET count = n.count + 1`,
)
const countReview = statement<never>(
  'count_review',
  `INSERT INTO review_counts AS n (business_id, rating, count) VALUES ($1, $2, 1)
   ON CONFLICT (business_id, rating) DO UPDATE SET count = n.count + 1`,
)

/**
 * A customer's review of a visit, one for each local day. Throws CUSTOMER_ADDRESS, CUSTOMER_NOT_FOUND,
 * REVIEW_ALREADY_SUBMITTED, or InvalidInput naming answers to what is not asked.
 */
export function submitReview(ctx: Context, review: NewReview, selected: Selection) {
  return transaction(ctx, async (tx) => {
    const { id: customerId, timezone } = await lockAccount(tx, review)
    const answers = review.answers ?? []
    await requireAsked(tx, answers)
    const key = { businessId: tx.business.id, id: uuidv7() }
    const questions = answers.map(({ questionId }) => questionId)
    const ratings = answers.map(({ rating }) => rating)
    const inserted = await tx.sql.row(insertReview, [
      key.businessId,
      key.id,
      customerId,
      localDate(tx.now, timezone),
      review.rating,
      review.comment ?? null,
      tx.now,
      questions,
      ratings,
    ])
    if (!inserted) throw new AppError('REVIEW_ALREADY_SUBMITTED')
    // The counters last: others wait for these rows.
    if (answers.length > 0) await tx.sql.run(countAnswers, [key.businessId, questions, ratings])
    await tx.sql.run(countReview, [key.businessId, review.rating])
    return tx.db.review.findUniqueOrThrow({ ...selected, where: { businessId_id: key } })
  })
}

/** Throws InvalidInput that names each answer to no question, to one that is not asked any more, or a second one. */
async function requireAsked({ db, business }: TransactionContext, answers: readonly Answer[]): Promise<void> {
  if (answers.length === 0) return
  const answered = answers.map(({ questionId }) => questionId)
  const asked = await db.reviewQuestion.findMany({
    where: { businessId: business.id, id: { in: answered }, active: true },
    select: { id: true },
  })
  const known = new Set(asked.map(({ id }) => id))
  const issues = answered.flatMap((id, index) => {
    const path = `answers.${index}.questionId`
    if (!known.has(id)) return { path, message: 'is not a question that is asked' }
    return answered.indexOf(id) < index ? { path, message: 'is answered twice' } : []
  })
  if (issues.length > 0) throw new InvalidInput(issues)
}

const readSummary = statement<RatingCount & { questionId: string | null; text: string | null }>(
  'read_review_summary',
  `SELECT "questionId", text, rating, count FROM (
     SELECT NULL::uuid AS "questionId", NULL AS text, rating, count, NULL::timestamptz AS created_at
       FROM review_counts WHERE business_id = $1
     UNION ALL
     -- A question that nobody has answered is there too, with a count of 0.
     SELECT q.id, q.text, coalesce(n.rating, 1), coalesce(n.count, 0), q.created_at
       FROM review_questions q
       LEFT JOIN review_answer_counts n ON n.business_id = q.business_id AND n.question_id = q.id
      WHERE q.business_id = $1) AS counts
    ORDER BY created_at, "questionId"`,
)

/** What the kept counters say of one moment (spec §4, GET /reviews/summary). */
export interface ReviewSummary {
  reviews: RatingCount[]
  /** All questions, oldest first, those among them that are not asked any more. */
  questions: { id: string; text: string; answers: RatingCount[] }[]
}

/** The summary of all reviews of the business; it costs the same however many there are. */
export async function summarizeReviews(ctx: Context): Promise<ReviewSummary> {
  const summary: ReviewSummary = { reviews: [], questions: [] }
  for (const { questionId, text, ...count } of await ctx.sql.rows(readSummary, [ctx.business.id])) {
    if (questionId === null) summary.reviews.push(count)
    else if (summary.questions.at(-1)?.id === questionId) summary.questions.at(-1)!.answers.push(count)
    else summary.questions.push({ id: questionId, text: text!, answers: [count] })
  }
  return summary
}

/** Reviews, newest first; how many there are the counters say. */
export async function listReviews(
  ctx: Context,
  { rating, ...page }: PageArgs & { rating?: number | null | undefined },
  selected: Selection,
): Promise<Page<Review>> {
  const listed: Prisma.ReviewWhereInput = { businessId: ctx.business.id, ...(rating != null && { rating }) }
  const request = pageRequest(page)
  const { where, ...order } = prismaPage(request)
  const found = await ctx.db.review.findMany({ ...selected, ...order, where: { ...listed, ...where } })
  return pageOf(request, found, async () => {
    const { reviews } = await summarizeReviews(ctx)
    return reviews.reduce(
      (sum, each) => (rating == null || each.rating === rating ? sum + each.count : sum),
      0,
    )
  })
}
