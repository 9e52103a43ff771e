/** Any head there and back, and any list of fields. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { RopewayError } from "../errors.ts";
import { malformed, onTheWire } from "../testing/http/wire-fields.ts";
import { fieldsToRequest, fieldsToResponse, requestToFields, responseToFields } from "./head-fields.ts";
import type { HeaderField, HeaderList, RequestHead, ResponseHead } from "./heads.ts";

/** Destinations whose usual accept is known to both ends. */
const ACCEPTING: ReadonlySet<string> = new Set(["font", "image", "script", "style"]);

const tokenCharacter = fc.constantFrom(..."abcxyz0189!#$%&'*+-.^_`|~");
const fieldName = fc.string({ unit: tokenCharacter, minLength: 1, maxLength: 20 });
const valueCharacter = fc
  .oneof(fc.integer({ min: 0x20, max: 0x7e }), fc.integer({ min: 0x80, max: 0xff }), fc.constant(0x09))
  .map((code) => String.fromCharCode(code));
const fieldValue = fc.string({ unit: valueCharacter, maxLength: 40 });
const headers = fc.array(fc.tuple(fieldName, fieldValue), { maxLength: 10 });
const origin = fc.webUrl().map((url) => new URL(url).origin);
const url = fc.webUrl({ withQueryParameters: true, validSchemes: ["http", "https"] }).map((url) => new URL(url).href);

const anyRequestHead: fc.Arbitrary<RequestHead> = fc.record({
  method: fc.constantFrom("GET", "POST", "HEAD", "PUT", "PATCH", "M-SEARCH"),
  url,
  headers,
  destination: fc.constantFrom("", "document", "image", "script", "style", "font", "iframe"),
  mode: fc.constantFrom("navigate", "same-origin", "no-cors", "cors"),
  credentials: fc.constantFrom("omit", "same-origin", "include"),
  redirect: fc.constantFrom("follow", "error", "manual"),
  referrer: fc.oneof(fc.constant(""), url),
  origin: fc.oneof(fc.constant(null), fc.constant("null"), origin),
  topLevelOrigin: origin,
});

const scriptCookie = fc.record({
  name: fc.string({ unit: "grapheme", maxLength: 10 }),
  value: fc.string({ unit: "binary", maxLength: 20 }),
  domain: fc.domain(),
  hostOnly: fc.boolean(),
  path: fc.constantFrom("/", "/a/b"),
  secure: fc.boolean(),
  expires: fc.oneof(fc.constant(null), fc.maxSafeInteger()),
});

const fragment = fc.option(
  fc.webFragments().map((text) => `#${text}`),
  { nil: undefined },
);

const anyResponseHead: fc.Arbitrary<ResponseHead> = fc
  .record({
    status: fc.integer({ min: 200, max: 599 }),
    reason: fc.option(fieldValue, { nil: undefined }),
    headers,
    url,
    redirected: fc.boolean(),
    coding: fc.constantFrom("identity", "deflate-raw"),
    scriptCookies: fc.array(scriptCookie, { maxLength: 4 }),
  })
  .map(({ reason, ...head }): ResponseHead => (reason === undefined ? head : { ...head, reason }))
  .chain((head) => (head.redirected ? fragment.map((text) => withFragment(head, text)) : fc.constant(head)));

function withFragment(head: ResponseHead, text: string | undefined): ResponseHead {
  return text === undefined ? head : { ...head, fragment: text };
}

test("any request head comes back, with an accept where its destination has one", () => {
  const accept = fc.constantFrom("*/*", "text/css,*/*;q=0.1", "image/*").map((value): HeaderField => ["accept", value]);
  fc.assert(
    fc.property(anyRequestHead, fc.array(accept, { maxLength: 2 }), fc.boolean(), (head, lines, isSameOrigin) => {
      const own = isSameOrigin ? { ...head, origin: new URL(head.url).origin } : head;
      const sent = { ...own, headers: [...own.headers, ...lines] };
      const got = fieldsToRequest(onTheWire(requestToFields(sent)));
      expect({ ...got, headers: [] }).toEqual({ ...sent, headers: [] });
      const added = lines.length === 0 && ACCEPTING.has(head.destination) ? 1 : 0;
      expect(got.headers.slice(0, got.headers.length - added)).toEqual(sent.headers);
      expect(got.headers.slice(got.headers.length - added).map(([name]) => name)).toEqual(Array(added).fill("accept"));
    }),
  );
});

test("any response head comes back, its URL unsaid unless redirected", () => {
  fc.assert(
    fc.property(anyResponseHead, url, (head, requestUrl) => {
      const expected = head.redirected ? head : { ...head, url: requestUrl };
      expect(fieldsToResponse(onTheWire(responseToFields(head)), requestUrl)).toEqual(expected);
    }),
  );
});

test("any field list is a head or a typed error of its stream", () => {
  const hostile: fc.Arbitrary<HeaderList> = fc.array(
    fc.tuple(
      fc.oneof(
        fc.constantFrom(":method", ":scheme", ":authority", ":path", ":context", ":referrer", ":status", ":url"),
        fc.constantFrom(":coding", ":script-cookies", ":", "", "cookie"),
        fc.string({ unit: "binary", maxLength: 10 }),
      ),
      fc.oneof(
        fc.constantFrom("GET", "https", "a.example", "/", "200", "- cors omit follow - https://a.example"),
        fc.constantFrom("[]", "[{}]", "[null]", '[{"__proto__":1}]', "[".repeat(5000), "http://", "javascript:1"),
        fc.string({ unit: "binary", maxLength: 20 }),
      ),
    ),
    { maxLength: 10 },
  );
  fc.assert(
    fc.property(hostile, (fields) => {
      for (const read of [() => fieldsToRequest(fields), () => fieldsToResponse(fields, "https://a.example/")]) {
        try {
          read();
        } catch (error) {
          expect(error).toBeInstanceOf(RopewayError);
          expect(error).toMatchObject(malformed);
        }
      }
    }),
    { numRuns: 1000 },
  );
});
