import { v7 as uuidv7 } from 'uuid'
import { type Context, transaction } from '../context.js'
import { AppError } from '../errors.js'
import type { selection } from '../graphql/fields.js'
import { givenFields } from '../patch.js'

type Selection = ReturnType<typeof selection>

/** All questions of the business, oldest first, those among them that are not asked any more. */
export const listQuestions = (ctx: Context, selected: Selection) =>
  ctx.db.reviewQuestion.findMany({
    ...selected,
    where: { businessId: ctx.business.id },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  })

/** Adds a question that reviews may answer from now on. */
export const createQuestion = (ctx: Context, { text }: { text: string }, selected: Selection) =>
  ctx.db.reviewQuestion.create({
    ...selected,
    data: { businessId: ctx.business.id, id: uuidv7(), text, createdAt: ctx.now },
  })

/** Rewords a question, or asks it no more, or again. Throws EMPTY_UPDATE or REVIEW_QUESTION_NOT_FOUND. */
export function updateQuestion(
  ctx: Context,
  { id, ...change }: { id: string; text?: string | undefined; active?: boolean | undefined },
  selected: Selection,
) {
  const data = givenFields(change)
  return transaction(ctx, async ({ db, business }) => {
    const key = { businessId: business.id, id }
    const { count } = await db.reviewQuestion.updateMany({ where: key, data })
    if (count === 0) throw new AppError('REVIEW_QUESTION_NOT_FOUND')
    return db.reviewQuestion.findUniqueOrThrow({ ...selected, where: { businessId_id: key } })
  })
}
