import * as z from 'zod'
import { addressFields } from '../customers/address.js'
import { boolean, int, text, uuid } from '../graphql/bounds.js'
import { builder } from '../graphql/builder.js'
import { connectionType, nodePaths, pageArgs, pageComplexity } from '../graphql/connection.js'
import { mutation, query, selection } from '../graphql/fields.js'
import { inputType } from '../graphql/input.js'
import { createQuestion, listQuestions, updateQuestion } from './questions.js'
import { listReviews, type ReviewSummary, submitReview, summarizeReviews } from './reviews.js'
import { averageOf, distributionOf, totalOf } from './reviews.rules.js'

const stars = () => int(1, 5).describe('1 to 5 stars.')

const QuestionType = builder.prismaObject('ReviewQuestion', {
  description: 'What customers are asked to rate, beside the visit as a whole.',
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID' }),
    text: t.exposeString('text'),
    active: t.exposeBoolean('active', { description: 'Whether it is still asked; its answers stay.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
})

builder.prismaObject('ReviewAnswer', {
  fields: (t) => ({
    questionId: t.expose('questionId', { type: 'UUID' }),
    rating: t.exposeInt('rating'),
    question: t.relation('question'),
  }),
})

const ReviewType = builder.prismaObject('Review', {
  description: 'How a customer rates a visit (spec §1).',
  select: { id: true, createdAt: true },
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID' }),
    userId: t.expose('customerId', { type: 'UUID' }),
    rating: t.exposeInt('rating'),
    comment: t.exposeString('comment', {
      nullable: true,
      description: 'Null also where the customer was erased.',
    }),
    answers: t.relation('answers', { query: { orderBy: { questionId: 'asc' } } }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    customer: t.relation('customer'),
  }),
})

const QuestionSummary = builder
  .objectRef<ReviewSummary['questions'][number]>('ReviewQuestionSummary')
  .implement({
    fields: (t) => ({
      id: t.expose('id', { type: 'UUID' }),
      text: t.exposeString('text'),
      average: t.float({
        nullable: true,
        description: 'Null without an answer.',
        resolve: ({ answers }) => averageOf(distributionOf(answers)),
      }),
      responses: t.field({ type: 'SafeInt', resolve: ({ answers }) => totalOf(distributionOf(answers)) }),
      distribution: t.field({
        type: 'RatingDistribution',
        resolve: ({ answers }) => distributionOf(answers),
      }),
    }),
  })

const SummaryType = builder.objectRef<ReviewSummary>('ReviewSummary').implement({
  description: 'All reviews of the business in numbers (spec §4).',
  fields: (t) => ({
    averageRating: t.float({
      nullable: true,
      description: 'To two decimals; null without a review.',
      resolve: ({ reviews }) => averageOf(distributionOf(reviews)),
    }),
    totalReviews: t.field({ type: 'SafeInt', resolve: ({ reviews }) => totalOf(distributionOf(reviews)) }),
    ratingDistribution: t.field({
      type: 'RatingDistribution',
      resolve: ({ reviews }) => distributionOf(reviews),
    }),
    questions: t.field({ type: [QuestionSummary], resolve: ({ questions }) => questions }),
  }),
})

query('reviewSummary', {
  description: 'Averages and distributions over all reviews and for each question.',
  type: SummaryType,
  args: z.strictObject({}),
  scope: 'reviews:read',
  resolve: summarizeReviews,
})

query('reviews', {
  description: 'Reviews, newest first.',
  type: connectionType('Review', ReviewType as never),
  args: z.strictObject({ ...pageArgs, rating: stars().nullish() }),
  scope: 'reviews:read',
  complexity: pageComplexity,
  resolve: (ctx, args, info) => listReviews(ctx, args, selection(ctx, info, 'Review', nodePaths)),
})

/** More than a customer would answer at a counter. */
const MAX_ANSWERS = 50

mutation('submitReview', {
  description: "A customer's review, one for each day of the business.",
  type: ReviewType,
  input: inputType(
    'SubmitReviewInput',
    z.strictObject({
      ...addressFields,
      rating: stars(),
      answers: z
        .array(
          inputType(
            'ReviewAnswerInput',
            z.strictObject({ questionId: uuid(), rating: stars() }, 'must be an object'),
          ),
          'must be an array',
        )
        .max(MAX_ANSWERS, `must have at most ${MAX_ANSWERS} elements`)
        .nullish(),
      comment: text(0, 5000).nullish(),
    }),
  ),
  scope: 'reviews:write',
  errors: ['CUSTOMER_ADDRESS', 'CUSTOMER_NOT_FOUND', 'REVIEW_ALREADY_SUBMITTED'],
  resolve: (ctx, input, info) => submitReview(ctx, input, selection(ctx, info)),
})

query('reviewQuestions', {
  description: 'What is asked and what was asked earlier, oldest first.',
  type: [QuestionType],
  args: z.strictObject({}),
  scope: 'reviews:read',
  resolve: (ctx, _args, info) => listQuestions(ctx, selection(ctx, info)),
})

mutation('createReviewQuestion', {
  description: 'Adds a question.',
  type: QuestionType,
  input: inputType('CreateReviewQuestionInput', z.strictObject({ text: text(1, 500) })),
  scope: 'reviews:write',
  resolve: (ctx, input, info) => createQuestion(ctx, input, selection(ctx, info)),
})

mutation('updateReviewQuestion', {
  description: 'Rewords a question, or asks it no more, or again; its answers stay.',
  type: QuestionType,
  input: inputType(
    'UpdateReviewQuestionInput',
    z.strictObject({ id: uuid(), text: text(1, 500).optional(), active: boolean().optional() }),
  ),
  scope: 'reviews:write',
  errors: ['EMPTY_UPDATE', 'REVIEW_QUESTION_NOT_FOUND'],
  resolve: (ctx, input, info) => updateQuestion(ctx, input, selection(ctx, info)),
})
