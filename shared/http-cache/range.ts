/** Parts of a whole stored body: RFC 9110 section 14. */
import type { HeaderList, RequestHead } from "../http/heads.ts";
import { dateField, fieldValue } from "./fields.ts";
import type { StoredResponse } from "./stored-response.ts";

export type RangedAnswer =
  /** No part is asked for, or not one that has to be given. */
  | { readonly kind: "whole" }
  /** 206 with these bytes, `last` inclusive. */
  | { readonly kind: "part"; readonly headers: HeaderList; readonly first: number; readonly last: number }
  /** 416, without a body. */
  | { readonly kind: "unsatisfiable"; readonly headers: HeaderList };

/** @param length of the stored body in bytes, as the page gets it. */
export function answerRange(
  request: Pick<RequestHead, "method" | "headers">,
  stored: Pick<StoredResponse, "status" | "headers">,
  length: number,
): RangedAnswer {
  const asked = askedRange(fieldValue(request.headers, "range"), length);
  if (asked === null || request.method !== "GET" || stored.status !== 200) return { kind: "whole" };
  if (!holdsIfRange(fieldValue(request.headers, "if-range"), stored.headers)) return { kind: "whole" };
  if (asked === "unsatisfiable") return { kind: asked, headers: withRange(stored.headers, `bytes */${length}`, 0) };
  const { first, last } = asked;
  const headers = withRange(stored.headers, `bytes ${first}-${last}/${length}`, last - first + 1);
  return { kind: "part", headers, first, last };
}

/** @returns null for what may be ignored: other units, several ranges, what is no range. */
function askedRange(
  range: string | null,
  length: number,
): { readonly first: number; readonly last: number } | "unsatisfiable" | null {
  const [, from, to] = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(range ?? "") ?? [];
  if (from === undefined || to === undefined || from + to === "") return null;
  if (from === "") {
    const count = Math.min(Number(to), length);
    return count === 0 ? "unsatisfiable" : { first: length - count, last: length - 1 };
  }
  if (to !== "" && Number(to) < Number(from)) return null;
  if (Number(from) >= length) return "unsatisfiable";
  return { first: Number(from), last: to === "" ? length - 1 : Math.min(Number(to), length - 1) };
}

/** RFC 9110 section 13.1.5: a strong entity tag, or the very date. */
function holdsIfRange(ifRange: string | null, headers: HeaderList): boolean {
  if (ifRange === null) return true;
  const value = ifRange.trim();
  if (value.startsWith('"')) return value === fieldValue(headers, "etag");
  return (
    !value.startsWith("W/") && dateField([["if-range", value]], "if-range") === dateField(headers, "last-modified")
  );
}

function withRange(headers: HeaderList, contentRange: string, length: number): HeaderList {
  const others = headers.filter(([name]) => name !== "content-range" && name !== "content-length");
  return [...others, ["content-range", contentRange], ["content-length", String(length)]];
}
