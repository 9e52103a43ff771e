/** The fields of an origin's response that reach the phone. */
import { isFieldName } from "../../../shared/http/head-fields.ts";
import type { HeaderField } from "../../../shared/http/heads.ts";
import { isStoreNote } from "../../../shared/http/phone-fields.ts";
import { toByteString } from "../../../shared/wire/hpack/primitives.ts";
import { codingsOf } from "../body/origin-coding.ts";
import { hopByHopFilter } from "./hop-by-hop.ts";

/** About the connection to the origin or reports past the tunnel, and cookies, which stay in the edge's jar. */
const DROPPED = new Set(["alt-svc", "nel", "report-to", "reporting-endpoints", "set-cookie", "set-cookie2"]);

function isDecoded(headers: Headers): boolean {
  return codingsOf(headers).length > 0;
}

/** Length of the body with its coding undone, in bytes; null where that is not known. */
export function decodedLength(headers: Headers): number | null {
  const field = headers.get("content-length");
  if (field === null || !/^\d{1,15}$/.test(field) || isDecoded(headers)) return null;
  return Number(field);
}

/** RFC 9110 section 15: what is above 599 counts as 500. Sites say 999 to whom they take for a robot, with a page. */
export function knownStatus(status: number): number {
  return status > 599 ? 500 : status;
}

export function endToEndFields(headers: Headers): HeaderField[] {
  const isHopByHop = hopByHopFilter(headers.get("connection"));
  const decoded = isDecoded(headers);
  const fields: HeaderField[] = [];
  for (const [name, value] of headers) {
    if (isHopByHop(name) || DROPPED.has(name) || isStoreNote([name, value])) continue;
    // workerd also hands out names that are none, which browsers skip.
    if (!isFieldName(name)) continue;
    if (decoded && (name === "content-encoding" || name === "content-length")) continue;
    fields.push([name, toByteString(value)]);
  }
  return fields;
}
