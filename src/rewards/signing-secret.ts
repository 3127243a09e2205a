import { randomBytes } from 'node:crypto'
import type { Context } from '../context.js'

/** What signs the calls to a reward's webhook (spec §5). */
export interface SigningSecret {
  /** As it is stored; null where the reward has no webhook. */
  sealed: Uint8Array<ArrayBuffer> | null
  /** Only where it was made now: it is shown this once. */
  revealed?: string
}

export function newSigningSecret(ctx: Context): Required<SigningSecret> {
  const revealed = `whsec_${randomBytes(32).toString('base64url')}`
  return { sealed: new Uint8Array(ctx.secrets.seal(revealed)), revealed }
}
