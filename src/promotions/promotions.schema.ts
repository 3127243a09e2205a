import * as z from 'zod'
import { addressFields } from '../customers/address.js'
import { boolean, date, decimal, text, uuid } from '../graphql/bounds.js'
import { builder } from '../graphql/builder.js'
import { enumRef } from '../graphql/enums.js'
import { mutation, query, selection } from '../graphql/fields.js'
import { inputType } from '../graphql/input.js'
import { IMAGE_DESCRIPTION, imageFields } from '../images/image-input.js'
import { imageSlot } from '../images/image-slot.js'
import { localDate } from '../time.js'
import {
  createPromotion,
  deletePromotion,
  listPromotions,
  markPromotionInterest,
  readPromotion,
  updatePromotion,
} from './promotions.js'
import { statusOn } from './promotions.rules.js'

/** docs: decisions, Promotions. */
const PromotionType = builder.prismaObject('Promotion', {
  description: 'Days on which something is offered, and by how much they multiply points.',
  select: { id: true, createdAt: true },
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID' }),
    businessId: t.expose('businessId', { type: 'UUID' }),
    name: t.exposeString('name'),
    description: t.exposeString('description', { nullable: true }),
    startDate: t.expose('startDate', { type: 'Date', nullable: true }),
    endDate: t.expose('endDate', { type: 'Date', nullable: true }),
    active: t.exposeBoolean('active', { description: 'The switch by hand.' }),
    status: t.field({
      type: enumRef('PromotionStatus', ['scheduled', 'active', 'ended']),
      description: "What the calendar says, in the business's zone.",
      select: { startDate: true, endDate: true },
      resolve: ({ startDate, endDate }, _args, ctx) =>
        statusOn(
          { startDate: isoDate(startDate), endDate: isoDate(endDate) },
          localDate(ctx.now, ctx.business.timezone),
        ),
    }),
    pointsMultiplier: t.expose('pointsMultiplier', {
      type: 'Decimal',
      nullable: true,
      description: 'Of the points that amounts earn; null = none.',
    }),
    imageUrl: t.string({
      nullable: true,
      select: { imageKey: true },
      resolve: ({ imageKey }, _args, ctx) => (imageKey === null ? null : ctx.images.urlOf(imageKey)),
    }),
    interestedCount: t.exposeInt('interestedCount', { description: 'Customers who have marked interest.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime' }),
  }),
})

const isoDate = (day: Date | null): string | null => day?.toISOString().slice(0, 10) ?? null

query('promotion', {
  description: 'A promotion.',
  type: PromotionType,
  args: z.strictObject({ id: uuid() }),
  scope: 'promotions:read',
  errors: ['PROMOTION_NOT_FOUND'],
  resolve: (ctx, args, info) => readPromotion(ctx, args, selection(ctx, info)),
})

query('promotions', {
  description: 'The promotions of the business, newest first.',
  type: [PromotionType],
  args: z.strictObject({}),
  scope: 'promotions:read',
  resolve: (ctx, _args, info) => listPromotions(ctx, selection(ctx, info)),
})

const name = text(1, 200)
const isMultiplier = (value: string): boolean => Number(value) >= 1.1 && Number(value) <= 10

const optionalFields = {
  description: text(0, 5000).nullish(),
  startDate: date().nullish().describe("First day, in the business's zone; null = from the beginning."),
  endDate: date().nullish().describe('Last day, included; null = without an end.'),
  active: boolean().optional().describe('Default true.'),
  pointsMultiplier: decimal(2, 2).refine(isMultiplier, 'must be from 1.1 to 10').nullish(),
}

const CreatePromotion = inputType('CreatePromotionInput', z.strictObject({ name, ...optionalFields }))

mutation('createPromotion', {
  description: 'Adds a promotion.',
  type: PromotionType,
  input: CreatePromotion,
  scope: 'promotions:write',
  resolve: (ctx, input, info) => createPromotion(ctx, input, selection(ctx, info)),
})

const UpdatePromotion = inputType(
  'UpdatePromotionInput',
  z.strictObject({ id: uuid(), name: name.optional(), ...optionalFields }),
)

mutation('updatePromotion', {
  description: 'Changes a promotion; an absent field stays as it is.',
  type: PromotionType,
  input: UpdatePromotion,
  scope: 'promotions:write',
  errors: ['EMPTY_UPDATE', 'PROMOTION_NOT_FOUND'],
  resolve: (ctx, input, info) => updatePromotion(ctx, input, selection(ctx, info)),
})

const DeletedPromotion = builder.objectRef<{ id: string }>('DeletedPromotion').implement({
  fields: (t) => ({ id: t.expose('id', { type: 'UUID' }) }),
})

mutation('deletePromotion', {
  description: 'Deletes a promotion; the points that it gave stay.',
  type: DeletedPromotion,
  input: inputType('DeletePromotionInput', z.strictObject({ id: uuid() })),
  scope: 'promotions:write',
  errors: ['PROMOTION_NOT_FOUND'],
  resolve: deletePromotion,
})

mutation('markPromotionInterest', {
  description: 'A customer is interested in a promotion; saying so again changes nothing.',
  type: PromotionType,
  input: inputType('MarkPromotionInterestInput', z.strictObject({ id: uuid(), ...addressFields })),
  scope: 'promotions:write',
  errors: ['CUSTOMER_ADDRESS', 'CUSTOMER_NOT_FOUND', 'PROMOTION_NOT_FOUND'],
  resolve: (ctx, input, info) => markPromotionInterest(ctx, input, selection(ctx, info)),
})

const images = imageSlot('promotions', 'PROMOTION_NOT_FOUND')

mutation('setPromotionImage', {
  description: 'Gives a promotion an image; one it has is replaced.',
  type: PromotionType,
  input: inputType(
    'SetPromotionImageInput',
    z.strictObject({ id: uuid(), ...imageFields }),
    IMAGE_DESCRIPTION,
  ),
  scope: 'promotions:write',
  errors: ['PROMOTION_NOT_FOUND'],
  resolve: (ctx, input, info) =>
    images.set(ctx, input, (tx) => readPromotion(tx, input, selection(ctx, info))),
})

mutation('deletePromotionImage', {
  description: 'Takes the image of a promotion away, if it has one.',
  type: PromotionType,
  input: inputType('DeletePromotionImageInput', z.strictObject({ id: uuid() })),
  scope: 'promotions:write',
  errors: ['PROMOTION_NOT_FOUND'],
  resolve: (ctx, input, info) =>
    images.clear(ctx, input.id, (tx) => readPromotion(tx, input, selection(ctx, info))),
})
