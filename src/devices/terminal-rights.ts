/**
 * The types of the graph whose fields a terminal may read. Which root fields it may use they say themselves
 * (`alsoFor: 'terminals'`); without this list a redemption would lead it on to the reward with its digital value and to
 * all that is known of the person.
 */
const READABLE: ReadonlySet<string> = new Set([
  'Query',
  'Mutation',
  'CustomerBalance',
  'PointsResult',
  'Transaction',
  'Redemption',
  'RedemptionCompletion',
  'RedemptionValidation',
  'ValidatedCustomer',
])

/** Whether a terminal may read the fields of a type. */
export const mayTerminalRead = (typeName: string): boolean => READABLE.has(typeName)
