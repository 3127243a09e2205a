/** The graph speaks camelCase, the REST contract snake_case. */

export const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** A dotted path in the body's own spelling: `timeActive.monday.start` → `time_active.monday.start`. */
export const snakePath = (path: string): string => path.split('.').map(snakeCase).join('.')
