import type { LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import { urlToHttpOptions } from 'node:url'
import { invalid } from '../errors.js'
import { isPublicAddress } from './address.rules.js'
import type { Network } from './network.js'
import { Refused } from './refusal.js'
import { MAX_WEBHOOK_URL_LENGTH, webhookUrlProblem } from './webhook-url.rules.js'

/** Where a call goes: the host as the URL names it, and the addresses at which it may be dialled. */
export interface Destination {
  url: URL
  /** Without the brackets of an IPv6 address. */
  host: string
  addresses: readonly LookupAddress[]
}

/**
 * Checks a URL and every address its host has now; what is dialled afterwards must be these. Throws Refused:
 * `url_not_allowed`, `dns_failed` (also when `signal` ends the search) or `address_not_public`.
 */
export async function checkedDestination(
  network: Network,
  url: string,
  signal: AbortSignal,
): Promise<Destination> {
  if (url.length > MAX_WEBHOOK_URL_LENGTH || webhookUrlProblem(url) !== undefined)
    throw new Refused('url_not_allowed')
  const parsed = new URL(url)
  const host = urlToHttpOptions(parsed).hostname!
  const addresses = isIP(host) === 0 ? await resolve(network, host, signal) : [host]
  if (addresses.length === 0) throw new Refused('dns_failed')
  if (!addresses.every(isPublicAddress)) throw new Refused('address_not_public')
  return { url: parsed, host, addresses: addresses.map((address) => ({ address, family: isIP(address) })) }
}

/** All IPv4 and IPv6 addresses of a name; none where it has none, or nobody says so in time. */
async function resolve(network: Network, name: string, signal: AbortSignal): Promise<string[]> {
  const resolver = network.newResolver()
  const cancel = () => resolver.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  // A name server that answers for one family only is common; what it does answer is all that will be dialled.
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  signal.removeEventListener('abort', cancel)
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
}

/** How long saving a URL may wait for its name. */
const SAVE_DEADLINE_MS = 5_000

/**
 * Refuses a URL at save time, by the rules that hold again at every call: throws InvalidInput naming `path`.
 * Asks name servers, so it must run outside any transaction.
 */
export async function assertPublicHttpsUrl(network: Network, path: string, url: string): Promise<void> {
  try {
    await checkedDestination(network, url, AbortSignal.timeout(SAVE_DEADLINE_MS))
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    throw invalid(
      path,
      error.reason === 'dns_failed'
        ? 'host name does not resolve'
        : (webhookUrlProblem(url) ?? 'must lead to a public host'),
    )
  }
}
