/**
 * Conditions by which the phone's store asks whether it has what another origin would send (PROTOCOL.md section 5.7). They
 * are no page's, so no preflight asks about them, and no page hears of them.
 */
import type { HeaderField, HeaderList, RequestHead } from "../../../shared/http/heads.ts";
import { HIDDEN_ETAG, HIDDEN_LAST_MODIFIED } from "../../../shared/http/phone-fields.ts";
import type { Tainting } from "./cors.ts";

/** What makes a request one for something else than the whole representation as it is now. */
const OWN_CONDITIONS = ["if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "range"];

/**
 * @param headers to an origin; the condition is added.
 * @param isFirst no redirect led there: the condition is about the URL that was asked for.
 * @returns whether a 304 in answer is the store's.
 */
export function addStoreCondition(headers: Headers, head: RequestHead, tainting: Tainting, isFirst: boolean): boolean {
  const validator = head.stored?.validator;
  const isOfUse = validator !== undefined && isFirst && tainting !== "basic" && head.method === "GET";
  if (!isOfUse || OWN_CONDITIONS.some((name) => headers.has(name))) return false;
  headers.set(/^(?:W\/)?"/.test(validator) ? "if-none-match" : "if-modified-since", validator);
  return true;
}

/** What a 304 says nothing of is as it was when the whole response was let in. */
export function leavesCorsOut({ headers }: Response): boolean {
  return !headers.has("access-control-allow-origin");
}

/** The validator of a whole response that its page is not shown, for the store. */
export function hiddenValidator(status: number, headers: HeaderList, shown: HeaderList): HeaderField[] {
  const find = (name: string) => headers.find((field) => field[0] === name)?.[1];
  const [etag, modified] = [find("etag"), find("last-modified")];
  if (status !== 200 || shown.some(([name]) => name === "etag")) return [];
  if (etag !== undefined) return [[HIDDEN_ETAG, etag]];
  const isShown = shown.some(([name]) => name === "last-modified");
  return modified === undefined || isShown ? [] : [[HIDDEN_LAST_MODIFIED, modified]];
}
