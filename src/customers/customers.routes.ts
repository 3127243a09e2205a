import { pageQuery, type Route } from '../rest/route.js'

/** Spec §2, External identifier. */
const identifier = /* GraphQL */ `fragment Identifier on Identifier { id value label created_at: createdAt }`

/** docs: decisions, Customers. */
const customer = /* GraphQL */ `fragment Customer on Customer {
  user_id: id display_name: displayName email phone birthday language
  referred_by: referredBy tier_id: tierId balance identifiers { ...Identifier }
  joined_at: joinedAt created_at: createdAt
} ${identifier}`

const byPath = { params: { userId: 'input.customer' } } as const
const identifierByPath = {
  params: { userId: 'input.customer', id: 'input.id' },
  notFound: 'IDENTIFIER_NOT_FOUND',
} as const

/** Answers an empty object: of what is gone there is nothing to show. */
const nothing = '{ id @skip(if: true) }'

export const customerRoutes: Route[] = [
  {
    method: 'get',
    path: '/customers',
    operation: /* GraphQL */ `
      query ($first: Int, $offset: Int, $search: String) {
        customers(first: $first, offset: $offset, search: $search) { nodes { ...Customer } totalCount }
      } ${customer}`,
    query: { ...pageQuery, search: 'search' },
    data: 'page',
    status: 200,
    message: 'Customers retrieved successfully',
    addition: true,
  },
  {
    method: 'post',
    path: '/customers',
    operation: /* GraphQL */ `mutation ($input: CreateCustomerInput!) {
      customer: createCustomer(input: $input) { ...Customer }
    } ${customer}`,
    status: 201,
    message: 'Customer created successfully',
    addition: true,
  },
  {
    method: 'get',
    path: '/customers/lookup',
    operation: /* GraphQL */ `query ($userId: UUID, $identifier: String) {
      customer: customerLookup(userId: $userId, identifier: $identifier) { ...Customer }
    } ${customer}`,
    query: { user_id: 'userId', identifier: 'identifier' },
    status: 200,
    message: 'Customer retrieved successfully',
    addition: true,
  },
  {
    method: 'get',
    path: '/customers/:userId',
    operation: /* GraphQL */ `query ($customer: String!) {
      customer(customer: $customer) { ...Customer }
    } ${customer}`,
    params: { userId: 'customer' },
    status: 200,
    message: 'Customer retrieved successfully',
    addition: true,
  },
  {
    method: 'patch',
    path: '/customers/:userId',
    operation: /* GraphQL */ `mutation ($input: UpdateCustomerInput!) {
      customer: updateCustomer(input: $input) { ...Customer }
    } ${customer}`,
    ...byPath,
    status: 200,
    message: 'Customer updated successfully',
    addition: true,
  },
  {
    method: 'delete',
    path: '/customers/:userId',
    operation: /* GraphQL */ `mutation ($input: EraseCustomerInput!) { eraseCustomer(input: $input) ${nothing} }`,
    ...byPath,
    data: 'unwrap',
    status: 200,
    message: 'Customer erased successfully',
    addition: true,
  },
  {
    method: 'get',
    path: '/customers/:userId/identifiers',
    operation: /* GraphQL */ `query ($customer: String!) {
      customer(customer: $customer) { identifiers { ...Identifier } }
    } ${identifier}`,
    params: { userId: 'customer' },
    data: 'unwrap',
    status: 200,
    message: 'Identifiers retrieved successfully',
    addition: true,
  },
  {
    method: 'post',
    path: '/customers/:userId/identifiers',
    operation: /* GraphQL */ `mutation ($input: AddIdentifierInput!) {
      identifier: addIdentifier(input: $input) { ...Identifier }
    } ${identifier}`,
    ...byPath,
    status: 201,
    message: 'Identifier added successfully',
  },
  {
    method: 'patch',
    path: '/customers/:userId/identifiers/:id',
    operation: /* GraphQL */ `mutation ($input: UpdateIdentifierInput!) {
      identifier: updateIdentifier(input: $input) { ...Identifier }
    } ${identifier}`,
    ...identifierByPath,
    status: 200,
    message: 'Identifier updated successfully',
  },
  {
    method: 'delete',
    path: '/customers/:userId/identifiers/:id',
    operation: /* GraphQL */ `mutation ($input: DeleteIdentifierInput!) {
      deleteIdentifier(input: $input) ${nothing}
    }`,
    ...identifierByPath,
    data: 'unwrap',
    status: 200,
    message: 'Identifier deleted successfully',
    addition: true,
  },
]
