import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ErrorCode, RopewayError } from "../errors.ts";
import { thrownBy } from "../testing/thrown-by.ts";
import type { EncodableField } from "../wire/hpack/field.ts";
import { fieldsToRequest, fieldsToResponse, headerValue, requestToFields, responseToFields } from "./head-fields.ts";
import type { HeaderField, HeaderList, RequestHead, ResponseHead } from "./heads.ts";
import { KNOWN_URLS, knownUrls } from "./known-urls.ts";
import { STORED_BODY } from "./stored-body.ts";

const NAVIGATION: RequestHead = {
  method: "GET",
  url: "https://a.example/",
  headers: [],
  destination: "document",
  mode: "navigate",
  credentials: "include",
  redirect: "follow",
  referrer: "",
  origin: null,
  topLevelOrigin: "https://a.example",
};

const malformed = { code: ErrorCode.PROTOCOL_ERROR, scope: "stream", initiator: "peer" };

/** Destinations whose usual accept is known to both ends. */
const ACCEPTING: ReadonlySet<string> = new Set(["font", "image", "script", "style"]);

/** As they come out of HPACK: without the sender's wishes on indexing. */
function onTheWire(fields: readonly EncodableField[]): HeaderField[] {
  return fields.map(([name, value]) => [name, value]);
}

const tokenCharacter = fc.constantFrom(..."abcxyz0189!#$%&'*+-.^_`|~");
const fieldName = fc.string({ unit: tokenCharacter, minLength: 1, maxLength: 20 });
const valueCharacter = fc
  .oneof(fc.integer({ min: 0x20, max: 0x7e }), fc.integer({ min: 0x80, max: 0xff }), fc.constant(0x09))
  .map((code) => String.fromCharCode(code));
const fieldValue = fc.string({ unit: valueCharacter, maxLength: 40 });
const headers = fc.array(fc.tuple(fieldName, fieldValue), { maxLength: 10 });
const origin = fc.webUrl().map((url) => new URL(url).origin);
const url = fc.webUrl({ withQueryParameters: true, validSchemes: ["http", "https"] }).map((url) => new URL(url).href);

const requestHead: fc.Arbitrary<RequestHead> = fc.record({
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

const responseHead: fc.Arbitrary<ResponseHead> = fc
  .record({
    status: fc.integer({ min: 200, max: 599 }),
    headers,
    url,
    redirected: fc.boolean(),
    coding: fc.constantFrom("identity", "deflate-raw"),
    scriptCookies: fc.array(scriptCookie, { maxLength: 4 }),
  })
  .chain((head) => (head.redirected ? fragment.map((text) => withFragment(head, text)) : fc.constant(head)));

function withFragment(head: ResponseHead, text: string | undefined): ResponseHead {
  return text === undefined ? head : { ...head, fragment: text };
}

test("the name of a stored body goes with a request, and what a page says in its place does not", () => {
  const head: RequestHead = {
    method: "GET",
    url: "https://a.example/x",
    headers: [[STORED_BODY, `${"a".repeat(22)} 1000`]],
    destination: "",
    mode: "cors",
    credentials: "include",
    redirect: "follow",
    referrer: "",
    origin: "https://a.example",
    topLevelOrigin: "https://a.example",
  };
  expect(fieldsToRequest(onTheWire(requestToFields(head)))).toEqual({ ...head, headers: [] });
  const named = { ...head, headers: [], stored: { hash: "-_0aA".padEnd(22, "z"), size: 1_048_576 } };
  for (const stored of [named.stored, { ...named.stored, validator: 'W/"a b"' }]) {
    expect(fieldsToRequest(onTheWire(requestToFields({ ...named, stored })))).toEqual({ ...named, stored });
  }
  for (const value of ["", "x 1", `${"a".repeat(22)} -1`, `${"a".repeat(22)} 9999999999`]) {
    const fields = onTheWire(requestToFields({ ...head, headers: [] }));
    expect(fieldsToRequest([...fields, [STORED_BODY, value]])).toEqual({ ...head, headers: [] });
  }
});

test("a navigation says what the phone has of its page, and no page can say so", () => {
  const known = knownUrls(["https://a.example/style.css", "https://b.example/picture.png"]);
  expect(fieldsToRequest(onTheWire(requestToFields({ ...NAVIGATION, known })))).toEqual({ ...NAVIGATION, known });
  const headers = [[KNOWN_URLS, "AAAA"]] as const;
  expect(fieldsToRequest(onTheWire(requestToFields({ ...NAVIGATION, headers })))).toEqual(NAVIGATION);
});

test("a response says that its body is the one that was named", () => {
  const head: ResponseHead = {
    status: 200,
    headers: [],
    url: "https://a.example/x",
    redirected: false,
    coding: "identity",
    scriptCookies: [],
    isReference: true,
  };
  expect(fieldsToResponse(onTheWire(responseToFields(head)), head.url)).toEqual(head);
});

test("any request head comes back, with an accept where its destination has one", () => {
  const accept = fc.constantFrom("*/*", "text/css,*/*;q=0.1", "image/*").map((value): HeaderField => ["accept", value]);
  fc.assert(
    fc.property(requestHead, fc.array(accept, { maxLength: 2 }), fc.boolean(), (head, lines, isSameOrigin) => {
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
    fc.property(responseHead, url, (head, requestUrl) => {
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

const good: Record<string, string> = {
  ":method": "GET",
  ":scheme": "https",
  ":authority": "a.example",
  ":path": "/b?c",
  ":context": "image no-cors include follow - https://a.example",
};

const ofPage = "image no-cors include follow https://a.example https://a.example";
const hostless = { ":scheme": undefined, ":authority": undefined };

function request(changes: Record<string, string | undefined>, ...more: HeaderField[]): HeaderField[] {
  const pseudo = Object.entries({ ...good, ...changes }).filter(
    (field): field is [string, string] => field[1] !== undefined,
  );
  return [...pseudo, ...more];
}

describe("a request", () => {
  test("is what its fields say", () => {
    expect(fieldsToRequest(request({ ":referrer": "https://a.example/" }, ["accept", "image/*"]))).toEqual({
      method: "GET",
      url: "https://a.example/b?c",
      headers: [["accept", "image/*"]],
      destination: "image",
      mode: "no-cors",
      credentials: "include",
      redirect: "follow",
      referrer: "https://a.example/",
      origin: null,
      topLevelOrigin: "https://a.example",
    });
  });

  test("does not say what goes without saying", () => {
    const image = "image/jxl,image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8";
    const head: RequestHead = {
      ...fieldsToRequest(request({ ":context": ofPage })),
      headers: [["accept", image]],
    };
    const fields = onTheWire(requestToFields(head));
    expect(fields).toEqual([
      [":path", "/b?c"],
      [":context", ofPage],
    ]);
    expect(fieldsToRequest(fields)).toEqual(head);
    const other: HeaderField = ["accept", "image/avif"];
    expect(onTheWire(requestToFields({ ...head, headers: [other] })).at(-1)).toEqual(other);
    expect(requestToFields({ ...head, headers: [other, ["accept", image]] }).slice(-2)).toHaveLength(2);
    expect(requestToFields({ ...head, method: "POST", url: "https://me@a.example/b" }).map(([name]) => name)).toEqual([
      ":method",
      ":scheme",
      ":authority",
      ":path",
      ":context",
    ]);
  });

  test("may be a message to the edge itself", () => {
    const message = request({ ":scheme": "ropeway", ":authority": "", ":path": "/site-data" });
    expect(fieldsToRequest(message).url).toBe("ropeway:///site-data");
    const head = fieldsToRequest(message);
    expect(fieldsToRequest(onTheWire(requestToFields(head)))).toEqual(head);
  });

  test("keeps a user and password of its URL", () => {
    const head = fieldsToRequest(request({ ":authority": "me:secret@a.example:8443" }));
    expect(head.url).toBe("https://me:secret@a.example:8443/b?c");
    expect(fieldsToRequest(onTheWire(requestToFields(head))).url).toBe(head.url);
  });

  test("leaves a fragment behind", () => {
    const head = { ...fieldsToRequest(request({})), url: "https://a.example/x#y" };
    expect(fieldsToRequest(onTheWire(requestToFields(head))).url).toBe("https://a.example/x");
  });

  test.each<[string, Record<string, string | undefined>]>([
    ["an empty method", { ":method": "" }],
    ["a method that is no token", { ":method": "GET /" }],
    ["no scheme", { ":scheme": undefined }],
    ["an authority with a path", { ":authority": "a.example/b" }],
    ["an authority with a query", { ":authority": "a.example?b" }],
    ["an authority with a backslash", { ":authority": "a.example\\b" }],
    ["no authority", { ":authority": undefined }],
    ["no host, started by the person", { ":scheme": undefined, ":authority": undefined }],
    [
      "no host, of an opaque origin",
      { ...hostless, ":context": "image no-cors include follow null https://a.example" },
    ],
    [
      "no host, of an origin with a path",
      { ...hostless, ":context": "image no-cors include follow https://a.example/ -" },
    ],
    ["a scheme alone", { ":authority": undefined, ":context": ofPage }],
    ["an authority alone", { ":scheme": undefined, ":context": ofPage }],
    ["a path that continues the authority", { ":path": ".evil.example/" }],
    ["a path that is a port", { ":path": ":80/" }],
    ["a path with a fragment", { ":path": "/#" }],
    ["no path", { ":path": "" }],
    ["a context of five parts", { ":context": "image no-cors include follow -" }],
    ["a context of seven parts", { ":context": "image no-cors include follow - https://a.example x" }],
    ["an unknown destination", { ":context": "picture no-cors include follow - https://a.example" }],
    ["an unknown mode", { ":context": "image websocket include follow - https://a.example" }],
    ["an unknown credentials mode", { ":context": "image no-cors all follow - https://a.example" }],
    ["an unknown redirect mode", { ":context": "image no-cors include chase - https://a.example" }],
    ["an unknown pseudo-field", { ":status": "200" }],
    ["a line break in a value", { ":referrer": "https://a.example/\r\nx: y" }],
  ])("with %s is malformed", (_name, changes) => {
    expect(thrownBy(() => fieldsToRequest(request(changes)))).toMatchObject(malformed);
  });

  test.each<[string, HeaderField[]]>([
    ["a repeated pseudo-field", request({}, [":method", "GET"])],
    ["a late pseudo-field", [["accept", "*/*"], ...request({})]],
    ["an upper-case name", request({}, ["Accept", "*/*"])],
    ["a name with a space", request({}, ["a b", "c"])],
    ["an empty name", request({}, ["", "c"])],
    ["a NUL in a value", request({}, ["a", "b\0c"])],
    ["a line feed in a value", request({}, ["a", "b\nc"])],
  ])("with %s is malformed", (_name, fields) => {
    expect(thrownBy(() => fieldsToRequest(fields))).toMatchObject(malformed);
  });
});

describe("a response", () => {
  test.each<[string, HeaderField[]]>([
    ["no status", []],
    ["an informational status", [[":status", "103"]]],
    ["a status that is no number", [[":status", "2e2"]]],
    ["a status of four digits", [[":status", "2000"]]],
    [
      "a URL that cannot be parsed",
      [
        [":status", "200"],
        [":url", "nowhere"],
      ],
    ],
    [
      "an unknown coding",
      [
        [":status", "200"],
        [":coding", "br"],
      ],
    ],
    [
      "cookies that are no list",
      [
        [":status", "200"],
        [":script-cookies", "{}"],
      ],
    ],
    [
      "cookies that are no JSON",
      [
        [":status", "200"],
        [":script-cookies", "["],
      ],
    ],
    [
      "a cookie without a value",
      [
        [":status", "200"],
        [":script-cookies", '[{"name":"a"}]'],
      ],
    ],
    [
      "a pseudo-field of requests",
      [
        [":status", "200"],
        [":method", "GET"],
      ],
    ],
  ])("with %s is malformed", (_name, fields) => {
    expect(thrownBy(() => fieldsToResponse(fields, "https://a.example/"))).toMatchObject(malformed);
  });

  test("keeps repeated fields apart and in order", () => {
    const head = fieldsToResponse(
      [
        [":status", "200"],
        ["link", "a"],
        ["vary", "x"],
        ["link", "b"],
      ],
      "https://a.example/",
    );
    expect(head.headers).toEqual([
      ["link", "a"],
      ["vary", "x"],
      ["link", "b"],
    ]);
    expect(headerValue(head.headers, "link")).toBe("a");
    expect(headerValue(head.headers, "etag")).toBeNull();
  });

  test("never lets cookies into a header table", () => {
    const cookie = {
      name: "a",
      value: "b",
      domain: "a.example",
      hostOnly: true,
      path: "/",
      secure: false,
      expires: null,
    };
    const head: ResponseHead = {
      status: 200,
      headers: [],
      url: "https://a.example/",
      redirected: false,
      coding: "identity",
      scriptCookies: [cookie],
    };
    expect(responseToFields(head).find(([name]) => name === ":script-cookies")?.[2]).toBe("never");
  });
});

test("names a response without user name and password, as slots ask for it", () => {
  for (const url of ["https://user:p%40ss@a.example/x@y", "https://user@a.example/x@y", "https://a.example/x@y"]) {
    expect(fieldsToResponse([[":status", "200"]], url).url).toBe("https://a.example/x@y");
  }
  expect(fieldsToResponse([[":status", "200"]], "https://a.example//b@c/").url).toBe("https://a.example//b@c/");
});
