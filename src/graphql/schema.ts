import type { GraphQLSchema } from 'graphql'
import { builder } from './builder.js'
import './scalars.js'
import '../businesses/businesses.schema.js'
import '../points/points.schema.js'
import '../transactions/transactions.schema.js'

/** The graph, assembled of what the modules declare. */
export const schema: GraphQLSchema = builder.toSchema()
