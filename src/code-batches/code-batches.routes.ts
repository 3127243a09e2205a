import { pointsResult } from '../points/points.routes.js'
import { pageQuery, type Route } from '../rest/route.js'

/** Spec §2, Code batch. */
const codeBatch = /* GraphQL */ `fragment CodeBatch on CodeBatch {
  id business_id: businessId batch_ref: batchRef name prefix points quantity expires_at: expiresAt active
  created_via: createdVia created_at: createdAt failed_attempts: failedAttempts
}`

const byPath = { params: { id: 'id' }, notFound: 'CODE_BATCH_NOT_FOUND' } as const

export const codeBatchRoutes: Route[] = [
  {
    method: 'get',
    path: '/code-batches',
    operation: /* GraphQL */ `query ($first: Int, $offset: Int) {
      batches: codeBatches(first: $first, offset: $offset) { nodes { ...CodeBatch } totalCount }
    } ${codeBatch}`,
    query: pageQuery,
    data: 'page',
    status: 200,
    message: 'Code batches retrieved successfully',
  },
  {
    method: 'post',
    path: '/code-batches',
    operation: /* GraphQL */ `mutation ($input: CreateCodeBatchInput!) {
      batch: createCodeBatch(input: $input) { ...CodeBatch }
    } ${codeBatch}`,
    status: 201,
    message: 'Code batch created successfully',
    addition: true,
  },
  {
    ...byPath,
    method: 'get',
    path: '/code-batches/:id',
    operation: /* GraphQL */ `query ($id: UUID!) {
      batch: codeBatch(id: $id) { ...CodeBatch claimed remaining points_issued: pointsIssued }
    } ${codeBatch}`,
    status: 200,
    message: 'Code batch retrieved successfully',
  },
  {
    ...byPath,
    method: 'post',
    path: '/code-batches/:id/deactivate',
    operation: /* GraphQL */ `mutation ($input: DeactivateCodeBatchInput!) {
      batch: deactivateCodeBatch(input: $input) { ...CodeBatch }
    } ${codeBatch}`,
    params: { id: 'input.id' },
    status: 200,
    message: 'Code batch deactivated successfully',
  },
  {
    method: 'get',
    path: '/code-batches/:id/export',
    operation: /* GraphQL */ `query ($batchId: UUID!, $after: String) {
      batchCodes(batchId: $batchId, first: 1000, after: $after) {
        nodes { code status claimed_at: claimedAt user_id: userId }
        pageInfo { hasNextPage endCursor }
      }
    }`,
    params: { id: 'batchId' },
    notFound: 'CODE_BATCH_NOT_FOUND',
    file: 'code-batch',
    status: 200,
    message: 'Code batch exported successfully',
    addition: true,
  },
  {
    method: 'post',
    path: '/codes/claim',
    operation: `mutation ($input: ClaimCodeInput!) { claimCode(input: $input) ${pointsResult}`,
    data: 'unwrap',
    status: 200,
    message: 'Code claimed successfully',
    addition: true,
  },
]
