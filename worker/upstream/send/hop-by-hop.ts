/** Fields that belong to one connection, or to the edge's own network, and never pass through it. */

/** RFC 9110 section 7.6.1, with the fields of section 11.7 that are consumed by the next proxy. */
const HOP_BY_HOP = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Not about the edge's own network: Cloudflare's challenge scripts send and read the first two, sites' the last. */
const OF_CHALLENGES = /^cf-(?:chl|challenge|mitigated)(?:-|$)/;

/**
 * The names that do not pass, given the Connection field's value.
 * @param connection null where there is none
 */
export function hopByHopFilter(connection: string | null): (name: string) => boolean {
  const named = new Set(
    (connection ?? "")
      .toLowerCase()
      .split(",")
      .map((token) => token.trim()),
  );
  const isCloudflares = (name: string): boolean => name.startsWith("cf-") && !OF_CHALLENGES.test(name);
  return (name) => HOP_BY_HOP.has(name) || named.has(name) || isCloudflares(name) || name.startsWith("proxy-");
}
