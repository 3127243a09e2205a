import { pageQuery, type Route } from '../rest/route.js'

/** A row of the ledger as lists show it. */
const transactionRow = /* GraphQL */ `fragment TransactionRow on Transaction {
  id type status points
  user_id: userId device_id: deviceId location_id: locationId source
  reward_id: rewardId redemption_id: redemptionId reverses_id: reversesId
  amount description occurred_at: occurredAt created_at: createdAt
}`

/** The four fields of spec §2, as issue, redeem and complete answer them. */
export const transactionBrief = /* GraphQL */ `fragment TransactionBrief on Transaction {
  id type points created_at: createdAt
}`

export const transactionRoutes: Route[] = [
  {
    method: 'get',
    path: '/transactions',
    operation: /* GraphQL */ `
      query ($first: Int, $offset: Int, $type: TransactionType, $status: TransactionStatus, $userId: UUID,
             $identifier: String, $deviceId: UUID, $from: DateTime, $to: DateTime) {
        transactions(first: $first, offset: $offset, type: $type, status: $status, userId: $userId,
                     identifier: $identifier, deviceId: $deviceId, from: $from, to: $to) {
          nodes { ...TransactionRow } totalCount
        }
      } ${transactionRow}`,
    query: {
      ...pageQuery,
      type: 'type',
      status: 'status',
      user_id: 'userId',
      identifier: 'identifier',
      device_id: 'deviceId',
      from: 'from',
      to: 'to',
    },
    data: 'page',
    status: 200,
    message: 'Transactions retrieved successfully',
  },
]
