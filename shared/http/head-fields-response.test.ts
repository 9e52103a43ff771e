import { describe, expect, test } from "vitest";
import { malformed, onTheWire } from "../testing/http/wire-fields.ts";
import { thrownBy } from "../testing/thrown-by.ts";
import { fieldsToResponse, headerValue, responseToFields } from "./head-fields.ts";
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
