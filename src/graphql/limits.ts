/** What one request to /graphql may ask for (docs: README, Configuration; the facade's own operations are exempt). */
export const graphLimits = {
  /** Levels of selection. */
  depth: 10,
  /** Objects that may be returned, list sizes multiplied; scalars are free. */
  complexity: 10_000,
  tokens: 1000,
  /** The standard introspection query has more tokens than a client's query should. */
  introspectionTokens: 2000,
  aliases: 15,
} as const
