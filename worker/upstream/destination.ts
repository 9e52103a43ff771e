/**
 * Destinations that the edge reaches for a phone: public web servers, and private ones only where that is allowed.
 */

import ipaddr from "ipaddr.js";
import { ErrorCode, later, RopewayError } from "../../shared/errors.ts";

/**
 * Every address of a name, as text, best first. Rejects or resolves to none when the name does not resolve, or with the
 * RopewayError that says better why not. Once `signal` is aborted nobody wants to know.
 */
export type ResolveName = (host: string, signal?: AbortSignal) => Promise<readonly string[]>;

export interface DestinationPolicy {
  readonly allowPrivate: boolean;
  /** True for an origin that may be reached even though it is private. */
  readonly isExempt?: (url: URL) => boolean;
}

/** Bad ports (Fetch section 2.9): of protocols that would take a page's request for their own, such as SMTP and IRC. */
const BAD_PORTS: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
  6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

const PRIVATE_NAMES = ["localhost", "local", "internal", "home.arpa"];

const LOOPBACK = ["127.0.0.1", "::1"];

/**
 * Checks what the URL itself says. Where its host is a name, what that leads to is for the runtime's fetch to check.
 *
 * @throws RopewayError UNSUPPORTED_SCHEME, UPSTREAM_FAILED for a port that browsers do not use, DESTINATION_FORBIDDEN,
 * of scope "stream".
 */
export function checkDestination(url: URL, policy: DestinationPolicy): void {
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw failure(ErrorCode.UNSUPPORTED_SCHEME, `Cannot load ${url.protocol} address: only http: and https: are`);
  }
  if (url.port !== "" && BAD_PORTS.has(Number(url.port))) {
    throw failure(
      ErrorCode.UPSTREAM_FAILED,
      `Cannot load ${url.hostname}: ${later("browsers do not use port {number}").replace("{number}", url.port)}`,
    );
  }
  if (policy.allowPrivate || policy.isExempt?.(url) === true) return;
  const host = hostOf(url);
  const literal = parseAddress(host);
  const isForbidden = literal === null ? isNameOf(host, PRIVATE_NAMES) : !isPublic(literal);
  if (isForbidden) throw forbidden(host);
}

/**
 * For a runtime whose fetch can reach private networks and has no allow list of its own (Deno): it is to connect to
 * these addresses and to no others.
 *
 * @param url that passed `checkDestination`.
 * @returns addresses of its name, all of which may be reached; null where its host is an address.
 * @throws RopewayError DESTINATION_FORBIDDEN, NAME_NOT_RESOLVED, CANCEL, or what the lookup says, of scope "stream".
 */
export async function resolveDestination(
  url: URL,
  policy: DestinationPolicy,
  resolveName: ResolveName,
  signal: AbortSignal,
): Promise<readonly string[] | null> {
  const host = hostOf(url);
  if (parseAddress(host) !== null) return null;
  const mayBePrivate = policy.allowPrivate || policy.isExempt?.(url) === true;
  // They lead to this machine (RFC 6761 section 6.3), but few resolvers say so.
  if (mayBePrivate && isNameOf(host, ["localhost"])) return LOOPBACK;

  const addresses = await resolveName(host, signal).catch((cause: unknown) => {
    if (cause instanceof RopewayError) throw cause;
    if (signal.aborted) throw failure(ErrorCode.CANCEL, `Cannot find ${host}: the phone cancelled the request`);
    throw failure(ErrorCode.NAME_NOT_RESOLVED, `Cannot find ${host}: the name does not resolve`, { cause });
  });
  if (addresses.length === 0) {
    throw failure(ErrorCode.NAME_NOT_RESOLVED, `Cannot find ${host}: ${later("the name has no address")}`);
  }
  if (!mayBePrivate && !addresses.every(isPublicAddress)) throw forbidden(host);
  return addresses;
}

/** The URL parser has already turned decimal, hex and octal addresses into dotted ones. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
}

function isNameOf(host: string, domains: readonly string[]): boolean {
  return domains.some((domain) => host === domain || host.endsWith(`.${domain}`));
}

/** False for everything that no public web server has, and for text that is no address. */
export function isPublicAddress(text: string): boolean {
  const address = parseAddress(text);
  return address !== null && isPublic(address);
}

function forbidden(host: string): RopewayError {
  return failure(
    ErrorCode.DESTINATION_FORBIDDEN,
    `Cannot load ${host}: ${later("it is on a private network; set ROPEWAY_ALLOW_PRIVATE=1 at the edge to allow that")}`,
  );
}

function failure(code: ErrorCode, message: string, options?: ErrorOptions): RopewayError {
  return new RopewayError(code, "stream", "user", message, options);
}

// Addresses of public web servers. One table for both runtimes, for literals and for what names lead to:
// workerd's network service is configured with it (`scripts/local-edge`).

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
