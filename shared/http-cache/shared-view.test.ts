import { describe, expect, it } from "vitest";
import type { HeaderList } from "../http/heads.ts";
import { cacheRequest, dateIn, NOW, storedResponse } from "../testing/http/cache-rig.ts";
import { decide, sharedView, toShared } from "./cache-rules.ts";

const control = (value: string): HeaderList => [["cache-control", value]];
const times = { requestTime: NOW, responseTime: NOW };

const toStore = (headers: HeaderList, status = 200, request = {}) =>
  toShared(cacheRequest(request), { status, headers: [["date", dateIn(0)], ...headers] }, times);

describe("what a shared cache stores", () => {
  it.each<[string, HeaderList, number?]>([
    ["a lifetime for all", control("max-age=60")],
    ["one for shared caches alone", control("s-maxage=60, max-age=0")],
    ["one that is guessed", [["last-modified", dateIn(-86_400)]]],
    ["what may be used stale", control("max-age=0, stale-while-revalidate=60")],
    ["what varies by a field", [...control("max-age=60"), ["vary", "accept-language, x-other"]]],
    ["no such page", control("public, max-age=60"), 404],
  ])("%s", (_name, headers, status) => {
    expect(toStore(headers, status)?.headers.slice(1)).toEqual(headers);
  });

  it.each<[string, HeaderList, number?]>([
    ["private", control("private, max-age=60")],
    ["a private field", control('max-age=60, private="x-name"')],
    ["no-store", control("no-store, s-maxage=60")],
    ["private, though it is to be understood", control("must-understand, private, max-age=60")],
    ["a cookie", [...control("public, max-age=60"), ["set-cookie", "a=1"]]],
    ["what clears cookies", [...control("public, max-age=60"), ["clear-site-data", '"cookies"']]],
    ["any variant", [...control("max-age=60"), ["vary", "*"]]],
    ["what varies by cookies", [...control("max-age=60"), ["vary", "Cookie"]]],
    ["part of a body", control("max-age=60"), 206],
    ["a server's failure", control("public, max-age=60"), 503],
    ["what has to be asked for each time", [...control("no-cache"), ["etag", '"1"']]],
    ["what is stale for shared caches", control("max-age=60, s-maxage=0")],
    ["a lifetime that is no number", control("max-age=60, s-maxage=soon")],
    ["nothing said", []],
  ])("not: %s", (_name, headers, status) => {
    expect(toStore(headers, status)).toBeNull();
  });

  it("not for a request that says so", () => {
    expect(toStore(control("max-age=60"), 200, { headers: control("no-store") })).toBeNull();
  });
});

describe("how long it is used", () => {
  const kindOf = (value: string, later: number) =>
    decide(cacheRequest(), [sharedView(storedResponse([["date", dateIn(0)], ...control(value)]))], NOW + later * 1000)
      .kind;

  it("s-maxage goes before max-age, and nothing is used stale after it (RFC 9111 section 5.2.2.10)", () => {
    expect(kindOf("max-age=10, s-maxage=60", 50)).toBe("answer");
    expect(kindOf("max-age=60, s-maxage=10", 50)).toBe("validate");
    expect(kindOf("s-maxage=10, stale-while-revalidate=60", 50)).toBe("validate");
  });

  it("proxy-revalidate forbids what is stale, too", () => {
    expect(kindOf("max-age=10, stale-while-revalidate=60", 50)).toBe("answer-and-validate");
    expect(kindOf("max-age=10, stale-while-revalidate=60, proxy-revalidate", 50)).toBe("validate");
  });
});
