import type { HeaderField } from "./field.ts";

/** RFC 7541 appendix A; index 1 is the first. */
export const STATIC_TABLE: readonly HeaderField[] = [
  [":authority", ""],
  [":method", "GET"],
  [":method", "POST"],
  [":path", "/"],
  [":path", "/index.html"],
  [":scheme", "http"],
  [":scheme", "https"],
  [":status", "200"],
  [":status", "204"],
  [":status", "206"],
  [":status", "304"],
  [":status", "400"],
  [":status", "404"],
  [":status", "500"],
  ["accept-charset", ""],
  ["accept-encoding", "gzip, deflate"],
  ["accept-language", ""],
  ["accept-ranges", ""],
  ["accept", ""],
  ["access-control-allow-origin", ""],
  ["age", ""],
  ["allow", ""],
  ["authorization", ""],
  ["cache-control", ""],
  ["content-disposition", ""],
  ["content-encoding", ""],
  ["content-language", ""],
  ["content-length", ""],
  ["content-location", ""],
  ["content-range", ""],
  ["content-type", ""],
  ["cookie", ""],
  ["date", ""],
  ["etag", ""],
  ["expect", ""],
  ["expires", ""],
  ["from", ""],
  ["host", ""],
  ["if-match", ""],
  ["if-modified-since", ""],
  ["if-none-match", ""],
  ["if-range", ""],
  ["if-unmodified-since", ""],
  ["last-modified", ""],
  ["link", ""],
  ["location", ""],
  ["max-forwards", ""],
  ["proxy-authenticate", ""],
  ["proxy-authorization", ""],
  ["range", ""],
  ["referer", ""],
  ["refresh", ""],
  ["retry-after", ""],
  ["server", ""],
  ["set-cookie", ""],
  ["strict-transport-security", ""],
  ["transfer-encoding", ""],
  ["user-agent", ""],
  ["vary", ""],
  ["via", ""],
  ["www-authenticate", ""],
];

/** One name of the static table. */
export interface StaticName {
  /** Lowest index with this name. */
  readonly index: number;
  /** Index of each value that stands with this name. */
  readonly values: ReadonlyMap<string, number>;
}

/** The static table by name. */
export const STATIC_NAMES: ReadonlyMap<string, StaticName> = byName();

function byName(): Map<string, StaticName> {
  const names = new Map<string, { index: number; values: Map<string, number> }>();
  STATIC_TABLE.forEach(([name, value], position) => {
    const index = position + 1;
    const known = names.get(name);
    if (known === undefined) names.set(name, { index, values: new Map([[value, index]]) });
    else known.values.set(value, index);
  });
  return names;
}
