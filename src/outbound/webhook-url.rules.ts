import { isIP } from 'node:net'
import { isPublicAddress } from './address.rules.js'

/** Where the service may send its calls, as far as an address says so itself (docs: reliability, Outbound HTTPS). */

export const MAX_WEBHOOK_URL_LENGTH = 500

/** The authority as written: what `new URL` would repair on the way is refused. */
const HTTPS_AUTHORITY = /^https:\/\/([^/?#\\\s\p{Cc}]+)(?:[/?#][^\\\s\p{Cc}]*)?$/iu

/** Names that only a private network resolves. */
const PRIVATE_SUFFIXES = ['localhost', 'local', 'internal', 'home.arpa']

/**
 * Why `url` must not be called, or undefined. Judges the text alone: what a name resolves to is checked when it
 * is dialled.
 */
export function webhookUrlProblem(url: string): string | undefined {
  const authority = HTTPS_AUTHORITY.exec(url)?.[1]
  if (authority === undefined || !URL.canParse(url)) return 'must be an https URL'
  if (authority.includes('@')) return 'must not contain credentials'
  return isPublicHost(new URL(url).hostname) ? undefined : 'must lead to a public host'
}

/** `hostname` as `URL` writes it: lower case, IPv4 in four decimals however it was spelled, IPv6 in brackets. */
function isPublicHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$|\.$/g, '')
  if (isIP(host) !== 0) return isPublicAddress(host)
  const labels = host.split('.')
  if (labels.length === 1 || labels.includes('')) return false
  return !PRIVATE_SUFFIXES.some((suffix) => `.${host}`.endsWith(`.${suffix}`))
}
