/** A stored response as the platform's cache has it: a plain 200 whose body is the body, with the rest in one field. */
import { toAsciiJson } from "../../../shared/http/head-fields.ts";
import {
  type Answer,
  freshnessLifetime,
  type StoredResponse,
  sharedView,
  staleGrace,
} from "../../../shared/http-cache/cache-rules.ts";
import { hasNullBody } from "../../../shared/web/origin.ts";
import { hopByHopFilter } from "../send/hop-by-hop.ts";
import type { ShareableRequest } from "./shareable-request.ts";
import { SITE_FIELD } from "./site-entries.ts";

/** Bodies are in it as fetch handed them out. Releases of before had undone their coding, and called it otherwise. */
const RECORD = "ropeway-record-2";

/** Characters: Cloudflare lets a response have 32 KB of fields. What has a longer head is not stored. */
const MOST_RECORD = 16 * 1024;

/** Seconds that a response is kept beyond its lifetime, to be validated; and at most. */
const KEPT_STALE = 24 * 60 * 60;
const KEPT = 30 * KEPT_STALE;

export interface Found {
  readonly stored: StoredResponse;
  readonly body: ReadableStream<Uint8Array> | null;
}

/** @returns null where the head is too long. */
export function toRecord(
  stored: StoredResponse,
  { selector, site }: Pick<ShareableRequest, "selector" | "site">,
  body: Uint8Array<ArrayBuffer>,
): Response | null {
  const record = toAsciiJson({ ...stored, headers: endToEnd(stored), selector });
  if (record.length > MOST_RECORD) return null;
  const view = sharedView(stored);
  const lifetime = freshnessLifetime(view) + staleGrace(view, "stale-while-revalidate") + KEPT_STALE;
  return new Response(body, {
    headers: {
      "cache-control": `public, max-age=${Math.ceil(Math.min(lifetime, KEPT))}`,
      "content-length": String(body.length),
      "content-type": "application/octet-stream",
      [RECORD]: record,
      [SITE_FIELD]: site,
    },
  });
}

/** @returns null where the record is of other requests, or none. Its body is the caller's in any case. */
export function fromRecord(response: Response, selector: string): Found | null {
  const record = response.headers.get(RECORD);
  if (record === null) return null;
  const { selector: itsSelector, ...stored } = JSON.parse(record) as StoredResponse & { readonly selector: string };
  // If several requests share one slot, only the last one's response is there.
  return itsSelector === selector ? { stored, body: response.body } : null;
}

/** What an exchange gets, as though its origin had sent it: with a body as the platform hands it out. */
export function toResponse({ status, headers }: Answer, body: ReadableStream<Uint8Array> | null): Response {
  return new Response(hasNullBody("GET", status) ? null : body, {
    status,
    headers: headers.map(([name, value]): [string, string] => [name, value]),
  });
}

function endToEnd({ headers }: StoredResponse): StoredResponse["headers"] {
  const isHopByHop = hopByHopFilter(headers.find(([name]) => name === "connection")?.[1] ?? null);
  return headers.filter(([name]) => !isHopByHop(name));
}
