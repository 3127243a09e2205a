import type { GraphQLSchema } from 'graphql'
import { builder } from './builder.js'
import './scalars.js'
import '../audit/audit.schema.js'
import '../businesses/businesses.schema.js'
import '../customers/customers.schema.js'
import '../mail/mail.schema.js'
import '../points/points.schema.js'
import '../promotions/promotions.schema.js'
import '../redemptions/redemptions.schema.js'
import '../rewards/rewards.schema.js'
import '../rewards/pool.schema.js'
import '../rewards/reward-image.schema.js'
import '../rewards/webhook.schema.js'
import '../tiers/tiers.schema.js'
import '../transactions/transactions.schema.js'

/** The graph, assembled of what the modules declare. */
export const schema: GraphQLSchema = builder.toSchema()
