import { businessRoutes } from '../businesses/businesses.routes.js'
import { codeBatchRoutes } from '../code-batches/code-batches.routes.js'
import { customerRoutes } from '../customers/customers.routes.js'
import { deviceRoutes } from '../devices/devices.routes.js'
import { pointsRoutes } from '../points/points.routes.js'
import { promotionRoutes } from '../promotions/promotions.routes.js'
import { raffleRoutes } from '../raffles/raffles.routes.js'
import { redemptionRoutes } from '../redemptions/redemptions.routes.js'
import { reviewRoutes } from '../reviews/reviews.routes.js'
import { poolRoutes } from '../rewards/pool.routes.js'
import { rewardImageRoutes } from '../rewards/reward-image.routes.js'
import { rewardRoutes } from '../rewards/rewards.routes.js'
import { webhookRoutes } from '../rewards/webhook.routes.js'
import { segmentRoutes } from '../segments/segments.routes.js'
import { tierRoutes } from '../tiers/tiers.routes.js'
import { transactionRoutes } from '../transactions/transactions.routes.js'
import type { Route } from './route.js'

/** The route table: spec §4 and the additions of docs/decisions.md. */
export const routes: readonly Route[] = [
  ...businessRoutes,
  ...codeBatchRoutes,
  ...customerRoutes,
  ...deviceRoutes,
  ...pointsRoutes,
  ...promotionRoutes,
  ...raffleRoutes,
  ...redemptionRoutes,
  ...reviewRoutes,
  ...rewardRoutes,
  ...rewardImageRoutes,
  ...poolRoutes,
  ...webhookRoutes,
  ...tierRoutes,
  ...segmentRoutes,
  ...transactionRoutes,
]
