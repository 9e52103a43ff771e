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
  return (name) => HOP_BY_HOP.has(name) || named.has(name) || name.startsWith("cf-") || name.startsWith("proxy-");
}
