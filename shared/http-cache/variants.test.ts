import { describe, expect, it } from "vitest";
import type { HeaderList } from "../http/heads.ts";
import { cacheRequest, dateIn, NOW, storedResponse } from "../testing/http/cache-rig.ts";
import {
  type CacheRequest,
  isSameVariant,
  type StoredResponse,
  selectingFields,
  selectVariant,
  variesUnknowably,
} from "./cache-rules.ts";

function stored(request: CacheRequest, headers: HeaderList): StoredResponse {
  const selecting = selectingFields(request, headers);
  if (selecting === null) throw new Error("Cannot store it: no request matches");
  return storedResponse(headers, { selecting });
}

const withFields = (...headers: HeaderList) => cacheRequest({ headers });

describe("a stored response", () => {
  it("fits by Save-Data only what its session says it with", () => {
    const saving = cacheRequest({ savesData: true });
    const [plain, small] = [cacheRequest(), saving].map((request) => stored(request, [["vary", "Save-Data"]]));
    const variants = [plain, small].flatMap((each) => each ?? []);
    expect(selectVariant(cacheRequest(), variants)).toBe(plain);
    expect(selectVariant(saving, variants)).toBe(small);
    expect(selectVariant(withFields(["save-data", "on"]), variants)).toBe(small);
  });

  it("fits by Accept-Language only what its session, or the request itself, says it with", () => {
    const [english, french] = ["en,de", "fr"].map((acceptLanguage) => cacheRequest({ acceptLanguage }));
    const variants = [english, french].map((request) =>
      stored(request ?? cacheRequest(), [["vary", "Accept-Language"]]),
    );
    const found = (...requests: CacheRequest[]) =>
      requests.map((request) => variants.indexOf(selectVariant(request, variants) as StoredResponse));
    const own = { acceptLanguage: "en,de", headers: [["accept-language", "FR"]] } as const;
    expect(
      found(cacheRequest({ acceptLanguage: "EN, de" }), cacheRequest({ acceptLanguage: "fr" }), cacheRequest(own)),
    ).toEqual([0, 1, 1]);
    expect(found(cacheRequest({ acceptLanguage: "it" }), cacheRequest({ acceptLanguage: "" }))).toEqual([-1, -1]);
  });

  it.each<[string, string, HeaderList, HeaderList, boolean]>([
    ["the same", "Foo", [["foo", "1"]], [["foo", "1"]], true],
    ["another", "Foo", [["foo", "1"]], [["foo", "2"]], false],
    ["none", "Foo", [["foo", "1"]], [], false],
    ["one that was missing", "Foo", [], [["foo", "1"]], false],
    ["none, as before", "Foo, Bar", [["foo", "1"]], [["foo", "1"]], true],
    [
      "another in a field that does not matter",
      "Foo",
      [
        ["foo", "1"],
        ["x", "2"],
      ],
      [
        ["x", "3"],
        ["foo", "1"],
      ],
      true,
    ],
    [
      "one of two",
      "Foo, Bar",
      [
        ["foo", "1"],
        ["bar", "a"],
      ],
      [
        ["foo", "1"],
        ["bar", "b"],
      ],
      false,
    ],
    [
      "the same on several lines",
      "Foo",
      [["foo", "1, 2"]],
      [
        ["foo", "1"],
        ["foo", "2"],
      ],
      true,
    ],
    ["the same with other spaces", "Foo", [["foo", "1,2"]], [["foo", " 1, 2 "]], true],
    ["other spaces in quotes", "Foo", [["foo", '"1,2"']], [["foo", '"1, 2"']], false],
    [
      "the case of languages",
      "Accept-Language",
      [["accept-language", "en, de"]],
      [["accept-language", "eN, De"]],
      true,
    ],
    ["another order", "Accept-Language", [["accept-language", "en, de"]], [["accept-language", "de, en"]], false],
    ["names on several lines", ", Foo", [["foo", "1"]], [["foo", "2"]], false],
    ["the case of other values", "Foo", [["foo", "a"]], [["foo", "A"]], false],
  ])("and a request with %s in a field that decides", (_, vary, before, now, expected) => {
    const response = stored(withFields(...before), [["vary", vary]]);
    expect(selectVariant(withFields(...now), [response])).toBe(expected ? response : null);
  });

  it.each(["*", ", *", "Foo, *", "*, *"])("with Vary: %s matches nothing", (vary) => {
    expect(selectingFields(cacheRequest(), [["vary", vary]])).toBe(null);
  });

  it("is told apart by what the edge makes fields of", () => {
    const response = stored(cacheRequest({ origin: "https://b.example" }), [["vary", "Origin, Sec-Fetch-Dest"]]);
    expect(selectVariant(cacheRequest({ origin: "https://b.example" }), [response])).toBe(response);
    expect(selectVariant(cacheRequest({ origin: "https://c.example" }), [response])).toBe(null);
    expect(selectVariant(cacheRequest({ origin: "https://b.example", destination: "image" }), [response])).toBe(null);
  });

  it("that varies by cookies matches, but nobody here knows whether it fits", () => {
    const response = stored(cacheRequest(), [["vary", "accept-encoding, cOOkie"]]);
    expect(selectVariant(cacheRequest(), [response])).toBe(response);
    expect(variesUnknowably(response)).toBe(true);
    expect(variesUnknowably(stored(cacheRequest(), [["vary", "accept-encoding"]]))).toBe(false);
  });
});

it("the newest by its date wins, then that which came last", () => {
  const older = storedResponse([["date", dateIn(-10)]], { responseTime: NOW });
  const newer = storedResponse([["date", dateIn(-5)]], { responseTime: NOW - 1000 });
  const newest = storedResponse([["date", dateIn(-5)]], { responseTime: NOW - 500 });
  expect(selectVariant(cacheRequest(), [older, newer, newest])).toBe(newest);
  expect(selectVariant(cacheRequest(), [])).toBe(null);
});

it("several variants live beside each other", () => {
  const vary: HeaderList = [["vary", "Foo"]];
  const [one, two, again] = [["foo", "1"] as const, ["foo", "2"] as const, ["foo", "1"] as const].map((field) =>
    stored(withFields(field), vary),
  ) as [StoredResponse, StoredResponse, StoredResponse];
  expect(selectVariant(withFields(["foo", "2"]), [one, two])).toBe(two);
  expect([isSameVariant(one, two), isSameVariant(one, again)]).toEqual([false, true]);
});
