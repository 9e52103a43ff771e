import { fieldBytes, type Indexing } from "./field.ts";

/**
 * Decides how a field line that no table holds is represented. Pure: same arguments, same answer. `tableBytes` is the
 * current maximum of the dynamic table.
 */
export type IndexingPolicy = (name: string, value: string, tableBytes: number) => Indexing;

/** Secrets: in a table their octets could be guessed one field at a time (RFC 7541 section 7.1.3). */
const SECRET: ReadonlySet<string> = new Set(["authorization", "cookie", "proxy-authorization", "set-cookie"]);

/** Values that are new each time: in the table they would only push out what recurs. */
const SINGULAR: ReadonlySet<string> = new Set([
  ":path",
  "age",
  "cf-ray",
  "content-digest",
  "content-disposition",
  "content-length",
  "content-location",
  "content-md5",
  "content-range",
  "digest",
  "etag",
  "if-match",
  "if-modified-since",
  "if-none-match",
  "if-range",
  "if-unmodified-since",
  "location",
  "range",
  "repr-digest",
  "server-timing",
  "traceparent",
  "x-amz-cf-id",
  "x-amz-id-2",
  "x-amz-request-id",
  "x-request-id",
  "x-trace-id",
]);

/**
 * The default policy: "never" for secrets; "without" for values that do not recur and for lines over half the table,
 * which would evict most of it; "incremental" for the rest. `date`, `expires` and `last-modified` are among the rest:
 * the responses of one page share them.
 */
export const defaultIndexing: IndexingPolicy = (name, value, tableBytes) => {
  const key = name.toLowerCase();
  if (SECRET.has(key)) return "never";
  if (SINGULAR.has(key) || fieldBytes(name, value) > tableBytes / 2) return "without";
  return "incremental";
};
