/** Which of several responses stored for a URL answers a request: `Vary`, RFC 9111 section 4.1. */
import type { HeaderList } from "../http/heads.ts";
import { fieldValue, listMembers } from "./fields.ts";
import { originTime } from "./freshness.ts";
import type { CacheRequest, SelectingFields, StoredResponse } from "./stored-response.ts";

/** The jar is at the edge: here nobody knows whether a response that varies by cookies still fits. */
const UNKNOWN = "cookie";

/** @returns null for `*`, which no request matches. */
export function selectingFields(request: CacheRequest, headers: HeaderList): SelectingFields | null {
  const names = listMembers(fieldValue(headers, "vary") ?? "").map((name) => name.toLowerCase());
  if (names.includes("*")) return null;
  return [...new Set(names)].filter((name) => name !== UNKNOWN).map((name) => [name, selectingValue(request, name)]);
}

/** The newest that fits, or null. */
export function selectVariant<S extends StoredResponse>(request: CacheRequest, variants: readonly S[]): S | null {
  const fitting = variants.filter(({ selecting }) =>
    selecting.every(([name, value]) => selectingValue(request, name) === value),
  );
  const newest = fitting.sort((a, b) => originTime(b) - originTime(a) || b.responseTime - a.responseTime);
  return newest[0] ?? null;
}

/** Whether only the origin can tell if a response fits the request. */
export function variesUnknowably({ headers }: Pick<StoredResponse, "headers">): boolean {
  return listMembers(fieldValue(headers, "vary") ?? "").some((name) => name.toLowerCase() === UNKNOWN);
}

/** Whether any request that fits one fits the other: of these a store keeps the newer. */
export function isSameVariant(a: StoredResponse, b: StoredResponse): boolean {
  return JSON.stringify(a.selecting) === JSON.stringify(b.selecting);
}

/** As the origin gets it, in a form that does not tell lines and spaces apart; null where it gets none. */
function selectingValue(request: CacheRequest, name: string): string | null {
  const ofFetch = fetchMetadata(request, name);
  const value = ofFetch === undefined ? fieldValue(request.headers, name) : ofFetch;
  if (value === null) return null;
  const normal = listMembers(value).join(",");
  return name === "accept-language" ? normal.toLowerCase() : normal;
}

/** Fields that the edge makes from others, or from what the session says: a request's head does not have them. */
function fetchMetadata(request: CacheRequest, name: string): string | null | undefined {
  if (name === "origin") return request.mode === "cors" ? request.origin : null;
  if (name === "referer") return request.referrer;
  if (name === "sec-fetch-dest") return request.destination;
  if (name === "sec-fetch-mode") return request.mode;
  if (name === "sec-fetch-site") return request.origin;
  if (name === "save-data" && request.savesData === true) return "on";
  return undefined;
}
