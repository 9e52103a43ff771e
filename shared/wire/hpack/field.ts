/** How a field line that is not in a table yet is represented (RFC 7541 sections 6.2.1 to 6.2.3). */
export type Indexing = "incremental" | "without" | "never";

/**
 * One decoded field line. Name and value are byte strings: each character is one octet, U+0000 to U+00FF, as in the
 * Fetch standard's Headers. So every octet sequence has exactly one decoded form, and none is invalid.
 * Tuples may be shared with the dynamic table: never write to them.
 */
export type HeaderField = readonly [name: string, value: string];

/**
 * One field line to encode; `indexing` overrides the policy for this line. Names are sent as given: lower case is the
 * caller's duty (RFC 9113 section 8.2). A string with a character above U+00FF is sent as its UTF-8 octets and arrives
 * as the byte string of those.
 */
export type EncodableField = readonly [name: string, value: string, indexing?: Indexing];

/** What an entry costs beyond its octets, in bytes (RFC 7541 section 4.1). */
const ENTRY_OVERHEAD = 32;

/** Size of a field line in bytes, in tables (RFC 7541 section 4.1) and in lists (RFC 9113 section 6.5.2). */
export function fieldBytes(name: string, value: string): number {
  return name.length + value.length + ENTRY_OVERHEAD;
}
