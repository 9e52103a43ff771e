import { describe, expect, test } from "vitest";
import { navigation, requestHead } from "../testing/http/request-heads.ts";
import { malformed, onTheWire } from "../testing/http/wire-fields.ts";
import { thrownBy } from "../testing/thrown-by.ts";
import { fieldsToRequest, LEARNED_REQUESTS, requestToFields } from "./head-fields.ts";
import type { HeaderField, RequestHead } from "./heads.ts";
import { KNOWN_URLS, knownUrls, MARK_READS, STORED_BODY } from "./phone-fields.ts";

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

test("the cache mode goes with a request for another origin, and what a page says in its place does not", () => {
  const other: RequestHead = { ...requestHead, url: "https://b.example/x", headers: [] };
  for (const cache of ["no-cache", "no-store", "reload"] as const) {
    expect(fieldsToRequest(onTheWire(requestToFields({ ...other, cache })))).toEqual({ ...other, cache });
    const said: RequestHead = { ...other, headers: [["sec-ropeway-cache", cache]] };
    expect(fieldsToRequest(onTheWire(requestToFields(said)))).toEqual(other);
    const own = { ...other, url: "https://a.example/x" };
    // Of the own origin, fields of the page's request say the others.
    const isSaid = cache === "no-store";
    expect(fieldsToRequest(onTheWire(requestToFields({ ...own, cache })))).toEqual({
      ...own,
      ...(isSaid && { cache }),
    });
  }
  for (const cache of ["default", "force-cache"] as const)
    expect(fieldsToRequest(onTheWire(requestToFields({ ...other, cache })))).toEqual(other);
});

test("the name of a stored body goes with a request, and what a page says in its place does not", () => {
  const head: RequestHead = {
    ...requestHead,
    url: "https://a.example/x",
    headers: [[STORED_BODY, `${"a".repeat(22)} 1000`]],
    credentials: "include",
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

test("a navigation says what its page is likely to ask for, and no page can say so", () => {
  const head = navigation("https://a.example/");
  const learned = '[["","cors","omit","*/*","/api"]]';
  expect(fieldsToRequest(onTheWire(requestToFields({ ...head, learned })))).toEqual({ ...head, learned });
  expect(fieldsToRequest(onTheWire(requestToFields({ ...head, pushes: 8 })))).toEqual({ ...head, pushes: 8 });
  const scriptless = { ...head, isScriptless: true } as const;
  expect(fieldsToRequest(onTheWire(requestToFields(scriptless)))).toEqual(scriptless);
  const cutting = { ...head, referrer: "https://a.example/", referrerPolicy: "origin" } as const;
  expect(fieldsToRequest(onTheWire(requestToFields(cutting)))).toEqual(cutting);
  expect(requestToFields({ ...cutting, referrer: "" })).toEqual(requestToFields(head));
  const unasked = { ...head, isUnasked: true } as const;
  expect(fieldsToRequest(onTheWire(requestToFields(unasked)))).toEqual(unasked);
  const nonsense = [...onTheWire(requestToFields(head)), ["sec-ropeway-referrer-policy", "x"]] as const;
  expect(fieldsToRequest(nonsense)).toEqual(head);
  const marking = { ...head, marksReads: true } as const;
  expect(fieldsToRequest(onTheWire(requestToFields(marking)))).toEqual(marking);
  expect(fieldsToRequest(onTheWire(requestToFields({ ...head, headers: [MARK_READS] })))).toEqual(head);
  const wrong = [...onTheWire(requestToFields(head)), ["sec-ropeway-pushes", "-1"]] as const;
  expect(fieldsToRequest(wrong)).toEqual(head);
  const said = requestToFields({ ...head, headers: [[LEARNED_REQUESTS, learned]] });
  expect(fieldsToRequest(onTheWire(said))).toEqual(head);
});

test("a navigation says what the phone has of its page, and no page can say so", () => {
  const head = navigation("https://a.example/");
  const known = knownUrls(["https://a.example/style.css", "https://b.example/picture.png"]);
  expect(fieldsToRequest(onTheWire(requestToFields({ ...head, known })))).toEqual({ ...head, known });
  const headers = [[KNOWN_URLS, "AAAA"]] as const;
  expect(fieldsToRequest(onTheWire(requestToFields({ ...head, headers })))).toEqual(head);
});

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
