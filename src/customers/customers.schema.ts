import * as z from 'zod'
import { instant, text, uuid } from '../graphql/bounds.js'
import { builder } from '../graphql/builder.js'
import { connectionType, nodePaths, pageArgs, pageComplexity } from '../graphql/connection.js'
import { mutation, query, selection } from '../graphql/fields.js'
import { inputType } from '../graphql/input.js'
import { usableBalance } from '../ledger/expiry.rules.js'
import { addressFields, addressOf, customerKey } from './address.js'
import { createCustomer, listCustomers, readCustomer, updateCustomer } from './customers.js'
import {
  isBirthday,
  isEmail,
  isLanguageTag,
  isPhone,
  MAX_EMAIL_CHARACTERS,
  MAX_LANGUAGE_CHARACTERS,
  MAX_PHONE_CHARACTERS,
} from './customers.rules.js'
import { eraseCustomer } from './erasure.js'
import { NewIdentifier } from './identifiers.schema.js'

const CustomerType = builder.prismaObject('Customer', {
  description: 'A member of the program (docs: decisions, Customers).',
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID' }),
    displayName: t.exposeString('displayName', { nullable: true }),
    email: t.exposeString('email', { nullable: true }),
    phone: t.exposeString('phone', { nullable: true }),
    birthday: t.exposeString('birthday', {
      nullable: true,
      description: '`YYYY-MM-DD`, or `--MM-DD` where the year is not known.',
    }),
    language: t.exposeString('language', { nullable: true, description: 'BCP 47.' }),
    referredBy: t.expose('referredBy', { type: 'UUID', nullable: true }),
    tierId: t.expose('tierId', { type: 'UUID', nullable: true }),
    tier: t.relation('tier', { nullable: true }),
    balance: t.int({
      description: 'Points that can be used; expired ones are gone, swept or not.',
      // The business of all rows is one: Prisma asks for it once, however many customers there are.
      select: {
        balance: true,
        held: true,
        lastVisitAt: true,
        createdAt: true,
        business: { select: { timezone: true, pointsExpireAfterDays: true, pointsExpireSince: true } },
      },
      resolve: (customer, _args, ctx) => usableBalance(customer, customer.business, ctx.now),
    }),
    visitCount: t.exposeInt('visitCount', { description: 'Local days with a visit.' }),
    redemptionCount: t.exposeInt('redemptionCount', { description: 'Completed redemptions.' }),
    lastVisitAt: t.expose('lastVisitAt', { type: 'DateTime', nullable: true }),
    identifiers: t.relation('identifiers', {
      query: { orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] },
    }),
    joinedAt: t.expose('joinedAt', { type: 'DateTime' }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
})

query('customer', {
  description: 'A customer by user id or attached identifier.',
  type: CustomerType,
  args: z.strictObject({ customer: customerKey() }),
  scope: 'customers:read',
  errors: ['CUSTOMER_NOT_FOUND'],
  resolve: (ctx, { customer }, info) => readCustomer(ctx, addressOf(customer), selection(ctx, info)),
})

query('customerLookup', {
  description: 'A customer by exactly one of user id and identifier.',
  type: CustomerType,
  args: z.strictObject(addressFields),
  scope: 'customers:read',
  errors: ['CUSTOMER_ADDRESS', 'CUSTOMER_NOT_FOUND'],
  resolve: (ctx, address, info) => readCustomer(ctx, address, selection(ctx, info)),
})

query('customers', {
  description: 'The customers of the business, newest first.',
  type: connectionType('Customer', CustomerType as never),
  args: z.strictObject({
    ...pageArgs,
    search: text(1, MAX_EMAIL_CHARACTERS)
      .nullish()
      .describe('A part of name, e-mail, phone or identifier, in any case.'),
  }),
  scope: 'customers:read',
  complexity: pageComplexity,
  resolve: (ctx, args, info) => listCustomers(ctx, args, selection(ctx, info, 'Customer', nodePaths)),
})

const profileFields = {
  displayName: text(1, 200).nullish(),
  email: text(1, MAX_EMAIL_CHARACTERS).refine(isEmail, 'must be an e-mail address').nullish(),
  phone: text(1, MAX_PHONE_CHARACTERS).refine(isPhone, 'must be a phone number').nullish(),
  birthday: text(1, 10)
    .refine(isBirthday, 'must be a date (YYYY-MM-DD or --MM-DD)')
    .nullish()
    .describe('`YYYY-MM-DD`, or `--MM-DD` without a year; not in the future.'),
  language: text(1, MAX_LANGUAGE_CHARACTERS)
    .refine(isLanguageTag, 'must be a BCP 47 language tag in canonical form, like de or pt-BR')
    .nullish(),
  referredBy: uuid().nullish().describe('The user id of the customer who brought this one.'),
}

const MAX_NEW_IDENTIFIERS = 20

const CreateCustomer = inputType(
  'CreateCustomerInput',
  z.strictObject({
    ...profileFields,
    joinedAt: instant().nullish().describe('When the customer joined, if earlier than now.'),
    identifiers: z
      .array(NewIdentifier, 'must be an array')
      .max(MAX_NEW_IDENTIFIERS, `must have at most ${MAX_NEW_IDENTIFIERS} entries`)
      .superRefine((identifiers, ctx) => {
        const seen = new Set<string>()
        identifiers.forEach(({ value }, index) => {
          if (seen.has(value))
            ctx.addIssue({ code: 'custom', path: [index, 'value'], message: 'given twice' })
          seen.add(value)
        })
      })
      .nullish(),
  }),
)

mutation('createCustomer', {
  description: 'Adds a customer; nothing is required.',
  type: CustomerType,
  input: CreateCustomer,
  scope: 'customers:write',
  errors: ['IDENTIFIER_TAKEN'],
  resolve: (ctx, input, info) => createCustomer(ctx, input, selection(ctx, info)),
})

const UpdateCustomer = inputType(
  'UpdateCustomerInput',
  z.strictObject({
    customer: customerKey(),
    ...profileFields,
    joinedAt: instant().optional().describe('Not in the future.'),
  }),
)

mutation('updateCustomer', {
  description: 'Changes what is known of a customer; an absent field stays as it is, null clears it.',
  type: CustomerType,
  input: UpdateCustomer,
  scope: 'customers:write',
  errors: ['EMPTY_UPDATE', 'CUSTOMER_NOT_FOUND'],
  resolve: (ctx, input, info) => updateCustomer(ctx, input, selection(ctx, info)),
})

const ErasedCustomer = builder.objectRef<{ id: string }>('ErasedCustomer').implement({
  fields: (t) => ({ id: t.expose('id', { type: 'UUID' }) }),
})

const EraseCustomer = inputType('EraseCustomerInput', z.strictObject({ customer: customerKey() }))

mutation('eraseCustomer', {
  description: 'Erases a person; the anonymous ledger stays. Cannot be undone.',
  type: ErasedCustomer,
  input: EraseCustomer,
  scope: 'customers:write',
  errors: ['CUSTOMER_NOT_FOUND'],
  resolve: eraseCustomer,
})
