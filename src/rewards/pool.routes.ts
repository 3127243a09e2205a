import type { Route } from '../rest/route.js'

/** Spec §2, Code pool stats. */
const codePool = /* GraphQL */ `fragment CodePool on CodePool {
  reward_id: rewardId total available consumed capacity
}`

const pool = { path: '/rewards/:id/pool', notFound: 'REWARD_NOT_FOUND', data: 'unwrap', status: 200 } as const

export const poolRoutes: Route[] = [
  {
    ...pool,
    method: 'get',
    operation: `query ($rewardId: UUID!) { codePool(rewardId: $rewardId) { ...CodePool } } ${codePool}`,
    params: { id: 'rewardId' },
    message: 'Code pool retrieved successfully',
  },
  {
    ...pool,
    method: 'post',
    operation: `mutation ($input: AddPoolValuesInput!) {
      addPoolValues(input: $input) { added skipped pool { ...CodePool } }
    } ${codePool}`,
    params: { id: 'input.rewardId' },
    csv: { column: 'value', fills: 'values' },
    message: 'Values added to the code pool successfully',
    addition: true,
  },
  {
    ...pool,
    method: 'delete',
    operation: `mutation ($input: RemovePoolValuesInput!) {
      removePoolValues(input: $input) { removed pool { ...CodePool } }
    } ${codePool}`,
    params: { id: 'input.rewardId' },
    message: 'Values removed from the code pool successfully',
    addition: true,
  },
  {
    method: 'get',
    path: '/rewards/:id/pool/export',
    operation: /* GraphQL */ `query ($rewardId: UUID!, $after: String) {
      poolValues(rewardId: $rewardId, first: 1000, after: $after) {
        nodes { value status consumed_at: consumedAt redemption_id: redemptionId }
        pageInfo { hasNextPage endCursor }
      }
    }`,
    params: { id: 'rewardId' },
    notFound: 'REWARD_NOT_FOUND',
    file: 'code-pool',
    status: 200,
    message: 'Code pool exported successfully',
  },
]
