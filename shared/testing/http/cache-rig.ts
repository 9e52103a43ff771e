/** Requests and stored responses for tests of the cache's rules. */
import fc from "fast-check";
import type { HeaderList } from "../../http/heads.ts";
import type { CacheRequest, StoredResponse } from "../../http-cache/cache-rules.ts";

export const NOW = Date.parse("2026-05-01T12:00:00Z");
export const URL_ASKED = "https://a.example/dir/thing?q=1";

/** A date `seconds` from now, as fields have it. */
export function dateIn(seconds: number): string {
  return new Date(NOW + seconds * 1000).toUTCString();
}

export function cacheRequest(more: Partial<CacheRequest> = {}): CacheRequest {
  return {
    method: "GET",
    url: URL_ASKED,
    headers: [],
    destination: "",
    mode: "cors",
    origin: "https://a.example",
    referrer: "",
    cacheMode: "default",
    ...more,
  };
}

/** Came a moment ago, with status 200, for a request without fields that `Vary` may name. */
export function storedResponse(headers: HeaderList, more: Partial<StoredResponse> = {}): StoredResponse {
  return { status: 200, headers, requestTime: NOW, responseTime: NOW, selecting: [], ...more };
}

const seconds = fc.oneof(fc.integer({ min: -1e5, max: 1e5 }), fc.constantFrom(0, 1, 3600, 31_536_000, 4e12));
const dateValue = fc.oneof(
  fc.integer({ min: -1e8, max: 1e8 }).map(dateIn),
  fc.constantFrom("0", "-1", "", "never", "Thu, 31 Feb 2026 00:00:00 GMT"),
);
const directive = fc.oneof(
  fc.constantFrom(
    "no-cache",
    "must-revalidate",
    "public",
    "private",
    "immutable",
    "no-transform",
    'a="max-age=9"',
    ",",
  ),
  fc
    .tuple(fc.constantFrom("max-age", "s-maxage", "stale-while-revalidate", "stale-if-error"), seconds)
    .map(([name, value]) => `${name}=${value}`),
);

/** Fields of a response that decide about its freshness, sensible and not. */
export const anyHeaders: fc.Arbitrary<HeaderList> = fc.array(
  fc.oneof(
    fc.tuple(fc.constantFrom("date", "expires", "last-modified"), dateValue),
    fc.tuple(fc.constant("age"), fc.oneof(seconds.map(String), fc.constantFrom("abc", "1, 2", "1.5"))),
    fc.tuple(
      fc.constant("cache-control"),
      fc.array(directive, { maxLength: 4 }).map((all) => all.join(", ")),
    ),
    fc.tuple(fc.constant("pragma"), fc.constantFrom("no-cache", "x")),
    fc.tuple(fc.constant("etag"), fc.constantFrom('"a"', 'W/"a"', '"b"')),
    fc.tuple(fc.constantFrom("content-length", "content-encoding", "content-type", "content-range"), fc.string()),
    fc.tuple(fc.constantFrom("x-one", "x-two"), fc.string()),
  ),
  { maxLength: 8 },
);

/** As it may come out of a store on a phone whose clock is set at will. */
export const anyStored: fc.Arbitrary<StoredResponse> = fc
  .record({
    headers: anyHeaders,
    status: fc.constantFrom(200, 203, 301, 302, 404, 410, 500, 599),
    sent: fc.integer({ min: -4e10, max: 4e10 }),
    took: fc.integer({ min: -1e6, max: 1e6 }),
  })
  .map(({ headers, status, sent, took }) =>
    storedResponse(headers, { status, requestTime: NOW + sent, responseTime: NOW + sent + took }),
  );
