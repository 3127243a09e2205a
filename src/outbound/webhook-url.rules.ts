import { BlockList, isIP } from 'node:net'

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
  if (isIP(host) === 4) return !privateIpv4.check(host)
  if (isIP(host) === 6) return !privateIpv6.check(host, 'ipv6')
  const labels = host.split('.')
  if (labels.length === 1 || labels.includes('')) return false
  return !PRIVATE_SUFFIXES.some((suffix) => `.${host}`.endsWith(`.${suffix}`))
}

const privateIpv4 = new BlockList()
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const)
  privateIpv4.addSubnet(network, prefix)
// The metadata service of a cloud that uses a public address for it.
privateIpv4.addAddress('168.63.129.16')

/** Everything outside 2000::/3, the only block from which public addresses are given. */
const privateIpv6 = new BlockList()
for (const [network, prefix] of [
  ['::', 3],
  ['4000::', 2],
  ['8000::', 1],
] as const)
  privateIpv6.addSubnet(network, prefix, 'ipv6')
