/**
 * Which addresses belong to public web servers. One table for both runtimes, for literals and for what names lead to:
 * workerd's network service is configured with it (`scripts/local-edge`).
 */
import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = [Address, number];

/**
 * IANA's IPv4 Special-Purpose Address Registry, whole: the few blocks in it that are globally reachable (AS112, AMT)
 * have no web servers. And multicast, which has a registry of its own.
 */
const SPECIAL_IPV4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.31.196.0/24",
  "192.52.193.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "192.175.48.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
];

/** The only block of global unicast that IANA has handed out (RFC 4291 section 2.4). */
const GLOBAL_IPV6 = "2000::/3";

/** Of the IPv6 registry, what is inside that block; Teredo, benchmarking and ORCHID are in the first. */
const SPECIAL_IPV6 = ["2001::/23", "2001:db8::/32", "2620:4f:8000::/48", "3fff::/20"];

/** Packets to these end at the IPv4 address that follows the prefix: NAT64 (RFC 6052; DNS64 makes them) and 6to4. */
const NAT64 = "64:ff9b::/96";
const EMBEDDING_IPV6 = [NAT64, "2002::/16"];

/** CIDR notation. Public is what is in one of these and in none of REFUSED_RANGES, IPv4-mapped addresses as IPv4. */
export const ALLOWED_RANGES: readonly string[] = ["0.0.0.0/0", GLOBAL_IPV6, NAT64];

export const REFUSED_RANGES: readonly string[] = [
  ...SPECIAL_IPV4,
  ...SPECIAL_IPV6,
  ...EMBEDDING_IPV6.flatMap((prefix) => SPECIAL_IPV4.map((range) => embed(prefix, range))),
];

const allowed = ALLOWED_RANGES.map(parseRange);
const refused = REFUSED_RANGES.map(parseRange);

/** @returns null for text that is no address. */
export function parseAddress(text: string): Address | null {
  // The library takes "::1.2.3.4", as resolvers may write ::102:304, for an IPv4-mapped address.
  const canonical = text.includes(":") ? (URL.parse(`http://[${text}]`)?.hostname.slice(1, -1) ?? "") : text;
  return ipaddr.isValid(canonical) ? ipaddr.process(canonical) : null;
}

export function isPublic(address: Address): boolean {
  const isIn = ([start, bits]: Range) => address.kind() === start.kind() && address.match(start, bits);
  return allowed.some(isIn) && !refused.some(isIn);
}

/** The IPv6 range of all addresses that embed one of `range`. */
function embed(prefix: string, range: string): string {
  const [start, prefixBits] = parseRange(prefix);
  const [embedded, bits] = parseRange(range);
  const bytes = start.toByteArray();
  bytes.splice(prefixBits / 8, 4, ...embedded.toByteArray());
  return `${new ipaddr.IPv6(bytes)}/${prefixBits + bits}`;
}

function parseRange(text: string): Range {
  return ipaddr.parseCIDR(text);
}
