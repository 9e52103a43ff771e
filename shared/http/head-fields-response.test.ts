import { describe, expect, test } from "vitest";
import { malformed, onTheWire } from "../testing/http/wire-fields.ts";
import { thrownBy } from "../testing/thrown-by.ts";
import { fieldsToResponse, headerValue, reasonOf, responseToFields, statusTextOf } from "./head-fields.ts";
import type { HeaderField, ResponseHead } from "./heads.ts";

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

describe("a response", () => {
  test("says its reason phrase before its fields", () => {
    const head: ResponseHead = {
      status: 404,
      reason: "Nothing \xfcber that",
      headers: [["x-a", "1"]],
      url: "https://a.example/x",
      redirected: false,
      coding: "identity",
      scriptCookies: [],
    };
    expect(fieldsToResponse(onTheWire(responseToFields(head)), head.url)).toEqual(head);
    expect(responseToFields(head)[1]).toEqual([":reason", head.reason]);
  });

  test.each<[string, HeaderField[]]>([
    [
      "a reason phrase that no status line has",
      [
        [":status", "200"],
        [":reason", "\x01"],
      ],
    ],
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
        [":coding", "lzw"],
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

test.each([
  [200, "OK", {}],
  [200, "Fine", { reason: "Fine" }],
  [200, "", { reason: "" }],
  [304, "Not Modified", {}],
  [404, "Not Found", { reason: "Not Found" }],
  [404, "", {}],
  [500, "tab\there, gr\xfc\xdfe", { reason: "tab\there, gr\xfc\xdfe" }],
])("says of a %i %j what does not go without saying, and reads it back", (status, text, said) => {
  expect(reasonOf({ status, statusText: text })).toEqual(said);
  expect(statusTextOf({ status, ...said })).toBe(text);
});

test.each(["two\nlines", "\0", "\x7f", "\u2713", "x".repeat(257)])("takes %j for no reason phrase", (text) => {
  expect(statusTextOf({ status: 404, ...reasonOf({ status: 404, statusText: text }) })).toBe("");
});
