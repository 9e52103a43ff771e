const AGE = "RFC 9111 section 5.1: a cache ignores an invalid Age, and takes the first of several";
const CLOSED = "the suite wants a response where the connection broke: there is none but a network error";
const PARTS = "parts are not stored by themselves";

/** Why a test of the public HTTP cache tests fails by the rules themselves, on their own and in a slot. */
export const RULE_REASONS: Readonly<Record<string, string>> = {
  "304-etag-update-response-Content-Type": "a 304 often names its server's default type; browsers keep theirs",
  "age-parse-dup-0": AGE,
  "age-parse-dup-0-twoline": AGE,
  "age-parse-dup-old": AGE,
  "age-parse-float": AGE,
  "age-parse-negative": AGE,
  "age-parse-nonnumeric": AGE,
  "age-parse-numeric-parameter": AGE,
  "age-parse-parameter": AGE,
  "age-parse-prefix-twoline": AGE,
  "partial-store-partial-complete": PARTS,
  "partial-store-partial-reuse-partial": PARTS,
  "partial-store-partial-reuse-partial-absent": PARTS,
  "partial-store-partial-reuse-partial-byterange": PARTS,
  "partial-store-partial-reuse-partial-suffix": PARTS,
  "stale-close-must-revalidate": CLOSED,
  "stale-close-no-cache": CLOSED,
  "stale-close-proxy-revalidate": CLOSED,
  "stale-close-s-maxage=2": CLOSED,
  "vary-normalise-lang-order": "servers prefer the language that comes first",
  "vary-normalise-lang-select": "which language the origin would choose, it knows alone",
};
