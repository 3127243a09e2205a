import * as z from 'zod'
import { text, uuid } from '../graphql/bounds.js'
import { builder } from '../graphql/builder.js'
import { mutation } from '../graphql/fields.js'
import { inputType } from '../graphql/input.js'
import { customerKey } from './address.js'
import { isIdentifierValue, MAX_IDENTIFIER_CHARACTERS } from './customers.rules.js'
import { addIdentifier, deleteIdentifier, updateIdentifier } from './identifiers.js'

export const IdentifierType = builder.prismaObject('Identifier', {
  description: "A customer's id in the business's own systems (spec §2, External identifier).",
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID' }),
    value: t.exposeString('value', { description: 'Unique within the business, compared byte for byte.' }),
    label: t.exposeString('label', { nullable: true }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
})

const value = () =>
  text(1, MAX_IDENTIFIER_CHARACTERS).refine(isIdentifierValue, 'must not be a UUID, "lookup", "." or ".."')
const label = () => text(0, 100).nullish().describe('What kind of id it is.')

/** An identifier that is sent along with something else. */
export const NewIdentifier = inputType(
  'NewIdentifierInput',
  z.strictObject({ value: value(), label: label() }, 'must be an object'),
)

const AddIdentifier = inputType(
  'AddIdentifierInput',
  z.strictObject({ customer: customerKey(), value: value(), label: label() }),
)

mutation('addIdentifier', {
  description: 'Attaches an identifier to a customer, who can be addressed by its value from then on.',
  type: IdentifierType,
  input: AddIdentifier,
  scope: 'customers:write',
  errors: ['CUSTOMER_NOT_FOUND', 'IDENTIFIER_TAKEN'],
  resolve: addIdentifier,
})

const UpdateIdentifier = inputType(
  'UpdateIdentifierInput',
  z.strictObject({ customer: customerKey(), id: uuid(), value: value().optional(), label: label() }),
)

mutation('updateIdentifier', {
  description: 'Changes an identifier; an absent field stays as it is.',
  type: IdentifierType,
  input: UpdateIdentifier,
  scope: 'customers:write',
  errors: ['EMPTY_UPDATE', 'CUSTOMER_NOT_FOUND', 'IDENTIFIER_NOT_FOUND', 'IDENTIFIER_TAKEN'],
  resolve: updateIdentifier,
})

const DeletedIdentifier = builder.objectRef<{ id: string }>('DeletedIdentifier').implement({
  fields: (t) => ({ id: t.expose('id', { type: 'UUID' }) }),
})

const DeleteIdentifier = inputType(
  'DeleteIdentifierInput',
  z.strictObject({ customer: customerKey(), id: uuid() }),
)

mutation('deleteIdentifier', {
  description: 'Detaches an identifier; its value may be attached again.',
  type: DeletedIdentifier,
  input: DeleteIdentifier,
  scope: 'customers:write',
  errors: ['CUSTOMER_NOT_FOUND', 'IDENTIFIER_NOT_FOUND'],
  resolve: deleteIdentifier,
})
