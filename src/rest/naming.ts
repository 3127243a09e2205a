/** The graph speaks camelCase, the REST contract snake_case. */

/** A name, or a path of names, in the body's own spelling: `timeActive.monday.start` → `time_active.monday.start`. */
export const snakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const camelWord = /\b[a-z][a-z0-9]*(?:[A-Z][a-z0-9]*)+\b/g

/** Messages may name other fields; the graph's spelling of them becomes the body's. */
export const snakeMessage = (message: string): string => message.replace(camelWord, snakeCase)
