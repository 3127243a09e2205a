import type { Route } from '../rest/route.js'
import { transactionBrief } from '../transactions/transactions.routes.js'

/** The balance object of spec §2. */
export const balance = /* GraphQL */ `fragment Balance on CustomerBalance {
  user_id: userId balance points_expire_at: pointsExpireAt last_visit_at: lastVisitAt
}`

/** What follows a root field of the type PointsResult, to the end of the document. */
export const pointsResult = `{ transaction { ...TransactionBrief } balance { ...Balance } } } ${transactionBrief} ${balance}`

export const pointsRoutes: Route[] = [
  {
    method: 'get',
    path: '/customers/:userId/balance',
    operation: `query ($customer: String!) { customerBalance(customer: $customer) { ...Balance } } ${balance}`,
    params: { userId: 'customer' },
    data: 'unwrap',
    status: 200,
    message: 'Balance retrieved successfully',
  },
  {
    method: 'post',
    path: '/points/issue',
    operation: `mutation ($input: IssuePointsInput!) { issuePoints(input: $input) ${pointsResult}`,
    data: 'unwrap',
    status: 200,
    message: 'Points issued successfully',
    addition: true,
  },
  {
    method: 'post',
    path: '/points/redeem',
    operation: `mutation ($input: RedeemPointsInput!) { redeemPoints(input: $input) ${pointsResult}`,
    data: 'unwrap',
    status: 200,
    message: 'Points redeemed successfully',
    addition: true,
  },
  {
    method: 'post',
    path: '/transactions/:id/reverse',
    operation: `mutation ($input: ReverseTransactionInput!) { reverseTransaction(input: $input) ${pointsResult}`,
    params: { id: 'input.id' },
    notFound: 'TRANSACTION_NOT_FOUND',
    data: 'unwrap',
    status: 200,
    message: 'Transaction reversed successfully',
    addition: true,
  },
]
