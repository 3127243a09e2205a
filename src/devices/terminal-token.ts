import { tokenForm } from '../secret-token.js'

const form = tokenForm('lby_term_')

/** A new token of a terminal; shown once, the database keeps its digest. */
export const generateTerminalToken = form.generate

/** Whether a text can be a terminal's token at all. */
export const isWellFormedTerminalToken = form.isWellFormed
