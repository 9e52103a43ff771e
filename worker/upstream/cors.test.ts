import { describe, expect, it } from "vitest";
import { ErrorCode } from "../../shared/errors.ts";
import type { HeaderField, HeaderList, RequestMode } from "../../shared/http/heads.ts";
import {
  allowedFields,
  checkCors,
  exposedFields,
  redirectedFields,
  responseTainting,
  unsafeFieldNames,
} from "./cors.ts";

const denied = expect.objectContaining({ code: ErrorCode.CORS_DENIED });
const A = "https://a.example";
const at = (url: string) => new URL(url);

describe("responseTainting", () => {
  const taint = (mode: RequestMode, url: string, method = "GET", before: "basic" | "cors" = "basic") =>
    responseTainting({ mode, origin: A, redirect: "follow" }, method, at(url), before);

  it("goes by mode and origin, and does not go back", () => {
    expect(taint("cors", `${A}/x`)).toBe("basic");
    expect(taint("cors", "https://b.example/")).toBe("cors");
    expect(taint("cors", `${A}/x`, "GET", "cors")).toBe("cors");
    expect(taint("no-cors", "https://b.example/")).toBe("opaque");
    expect(taint("navigate", "https://b.example/")).toBe("basic");
    expect(taint("same-origin", `${A}/x`, "DELETE")).toBe("basic");
  });

  it("denies what the mode does not allow", () => {
    expect(() => taint("same-origin", "https://b.example/")).toThrow(denied);
    expect(() => taint("no-cors", "https://b.example/", "PUT")).toThrow(denied);
    expect(() => taint("navigate", "https://b.example/", "DELETE")).toThrow(denied);
    for (const method of ["CONNECT", "TRACE", "TRACK", "trace", "Track", "cONNECT"])
      expect(() => taint("cors", `${A}/`, method)).toThrow(denied);
  });
});

describe("request fields", () => {
  const fields: HeaderField[] = [
    ["accept", "image/*"],
    ["content-type", "application/json"],
    ["x-custom", "1"],
    ["range", "bytes=0-"],
    ["authorization", "Bearer x"],
  ];

  it("are restricted outside cors", () => {
    const asked = { origin: "https://a.example", url: "https://b.example/" };
    expect(allowedFields({ ...asked, mode: "cors" }, fields)).toEqual(fields);
    for (const mode of ["no-cors", "navigate"] as const) {
      const head = { ...asked, mode };
      const byPhone = mode === "navigate" ? ["authorization"] : [];
      expect(allowedFields(head, fields).map(([name]) => name)).toEqual(["accept", "range", ...byPhone]);
      expect(allowedFields(head, [["content-type", "multipart/form-data; boundary=x"]])).toHaveLength(1);
    }
  });

  it("tell an own server what the person has told it, with pictures, too", () => {
    const signIn: HeaderList = [["authorization", "Basic YTpi"]];
    const own = { origin: "https://a.example", url: "https://a.example/x", mode: "no-cors" } as const;
    expect(allowedFields(own, signIn)).toEqual(signIn);
    expect(allowedFields({ ...own, url: "https://b.example/" }, signIn)).toEqual([]);
  });

  it("let the phone's store ask whether what it has holds, where no other origin is asked, and no redirect met", () => {
    const conditions: HeaderList = [
      ["if-none-match", '"1"'],
      ["if-modified-since", "Thu, 01 Jan 2026 00:00:00 GMT"],
    ];
    const own = { origin: "https://a.example", url: "https://a.example/x", mode: "no-cors" } as const;
    const other = { ...own, url: "https://b.example/" };
    expect(allowedFields(own, conditions)).toEqual(conditions);
    expect(allowedFields({ ...other, mode: "navigate" }, conditions)).toEqual(conditions);
    expect(allowedFields(other, conditions)).toEqual([]);
    expect(redirectedFields(own, conditions, false)).toEqual([]);
    expect(redirectedFields({ mode: "cors" }, conditions, false)).toEqual(conditions);
    expect(redirectedFields({ mode: "cors" }, conditions, true)).toEqual([]);
  });

  it("leave what a store says of a cache mode where a redirect leads out of the page's origin", () => {
    const fields: HeaderList = [
      ["cache-control", "no-cache"],
      ["pragma", "no-cache"],
      ["x-own", "1"],
    ];
    expect(redirectedFields({ mode: "cors" }, fields, true)).toEqual([["x-own", "1"]]);
    expect(redirectedFields({ mode: "cors" }, fields, false)).toEqual(fields);
    expect(redirectedFields({ mode: "no-cors" }, fields, true)).toEqual(fields);
  });

  it.each<[HeaderField, boolean]>([
    [["accept", "text/html"], false],
    [["accept", 'text/html;q="1"'], true],
    [["accept", "x".repeat(129)], true],
    [["content-language", "de, en;q=0.5"], false],
    [["content-language", "de_DE"], true],
    [["content-type", "text/plain;charset=utf-8"], false],
    [["content-type", "application/json"], true],
    [["content-type", "text/plain; x={}"], true],
    [["range", "bytes=5-"], false],
    [["range", "bytes=-5"], true],
    [["range", "bytes=0-1,3-4"], true],
    [["x-custom", ""], true],
    [["save-data", "on"], false],
  ])("%o needs the origin's consent: %s", (field, isUnsafe) => {
    expect(unsafeFieldNames([field])).toEqual(isUnsafe ? [field[0]] : []);
  });

  it("are named once, sorted, and all of them when they are long together", () => {
    expect(
      unsafeFieldNames([
        ["x-b", "1"],
        ["x-a", "1"],
        ["x-b", "2"],
      ]),
    ).toEqual(["x-a", "x-b"]);
    const source = [
      ["accept", "text/event-stream"],
      ["last-event-id", "7"],
      ["x-a", "1"],
    ] as const;
    expect(unsafeFieldNames(source)).toEqual(["x-a"]);
    expect(unsafeFieldNames(source.slice(1))).toEqual(["last-event-id", "x-a"]);
    expect(unsafeFieldNames(Array.from({ length: 9 }, () => ["accept", "x".repeat(128)] as const))).toEqual(["accept"]);
  });
});

describe("checkCors", () => {
  const check = (fields: Record<string, string>, withCredentials: boolean) => () =>
    checkCors(new Headers(fields), at("https://b.example/"), A, withCredentials);

  it.each([
    [{}, false, false],
    [{ "access-control-allow-origin": "*" }, false, true],
    [{ "access-control-allow-origin": "*" }, true, false],
    [{ "access-control-allow-origin": "*", "access-control-allow-credentials": "true" }, true, false],
    [{ "access-control-allow-origin": A }, false, true],
    [{ "access-control-allow-origin": A }, true, false],
    [{ "access-control-allow-origin": A, "access-control-allow-credentials": "true" }, true, true],
    [{ "access-control-allow-origin": A, "access-control-allow-credentials": "True" }, true, false],
    [{ "access-control-allow-origin": `${A}/` }, false, false],
    [{ "access-control-allow-origin": `${A}, *` }, false, false],
    [{ "access-control-allow-origin": "null" }, false, false],
  ])("%o with credentials %s", (fields, withCredentials, passes) => {
    if (passes) expect(check(fields, withCredentials)).not.toThrow();
    else expect(check(fields, withCredentials)).toThrow(denied);
  });
});

describe("exposedFields", () => {
  const fields: HeaderField[] = [
    ["content-type", "x"],
    ["etag", "x"],
    ["x-a", "x"],
    ["content-range", "x"],
  ];
  const names = (expose: string | null, credentials: "include" | "omit" = "omit", destination: "" | "video" = "") =>
    exposedFields(fields, expose, { destination, credentials }).map(([name]) => name);

  it("shows scripts what is safelisted or exposed", () => {
    expect(names(null)).toEqual(["content-type"]);
    expect(names("ETag, x-a")).toEqual(["content-type", "etag", "x-a"]);
    expect(names("*")).toEqual(["content-type", "etag", "x-a", "content-range"]);
    expect(names("*", "include")).toEqual(["content-type"]);
  });

  it("leaves elements what the browser itself needs", () => {
    expect(names(null, "omit", "video")).toEqual(["content-type", "content-range"]);
  });
});
