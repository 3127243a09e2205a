import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Which addresses belong to the public internet (docs: reliability, Outbound HTTPS). */

/** Refused beside what ipaddr.js keeps apart from unicast; some it knows too, but no release of it decides on these. */
const REFUSED_IPV4 = [
  // Metadata and control services of clouds that use addresses of the public kind for them.
  '168.63.129.16/32',
  '100.100.100.200/32',
  // Anycast relays of 6to4: the address says nothing about where a packet ends.
  '192.88.99.0/24',
].map((range) => ipaddr.IPv4.parseCIDR(range))

/** The one block from which public IPv6 addresses are given. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3')

const REFUSED_IPV6 = [
  // Translated to an IPv4 address by a gateway (NAT64), which may be a private one.
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  // Special assignments, Teredo among them, and documentation.
  '2001::/23',
  '2001:db8::/32',
  '3fff::/20',
  // 6to4, which holds an IPv4 address.
  '2002::/16',
  // AS112, a sink.
  '2620:4f:8000::/48',
].map((range) => ipaddr.IPv6.parseCIDR(range))

/** Whether `address`, as name servers and URLs write addresses, is one of the public internet. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return isPublicIpv4(ipaddr.IPv4.parse(address))
  if (isIP(address) !== 6 || address.includes('%')) return false
  const parsed = ipaddr.process(inHexadecimal(address))
  return parsed instanceof ipaddr.IPv4 ? isPublicIpv4(parsed) : isPublicIpv6(parsed)
}

/** `::8.8.8.8`, which ipaddr.js takes for `::ffff:8.8.8.8`, becomes `::808:808`. */
const inHexadecimal = (ipv6: string): string => new URL(`https://[${ipv6}]`).hostname.slice(1, -1)

const isPublicIpv4 = (address: ipaddr.IPv4): boolean =>
  address.range() === 'unicast' && !REFUSED_IPV4.some((range) => address.match(range))

const isPublicIpv6 = (address: ipaddr.IPv6): boolean =>
  address.match(GLOBAL_IPV6) &&
  address.range() === 'unicast' &&
  !REFUSED_IPV6.some((range) => address.match(range)) &&
  !isIsatap(address)

/** ISATAP (RFC 5214): an interface id made of an IPv4 address, `…:0:5efe:a.b.c.d` or `…:200:5efe:a.b.c.d`. */
const isIsatap = ({ parts }: ipaddr.IPv6): boolean =>
  (parts[4] === 0 || parts[4] === 0x0200) && parts[5] === 0x5efe
