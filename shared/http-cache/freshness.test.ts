import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { HeaderList } from "../http/heads.ts";
import { anyStored, dateIn, NOW, storedResponse } from "../testing/http/cache-rig.ts";
import { currentAge, freshnessLifetime, headersWithAge, mayAnswerStale, staleGrace } from "./cache-rules.ts";

const date = ["date", dateIn(0)] as const;

describe("the lifetime", () => {
  it.each<[string, number, HeaderList]>([
    ["max-age", 600, [["cache-control", "max-age=600"]]],
    [
      "max-age before Expires",
      600,
      [
        ["cache-control", "max-age=600"],
        ["expires", dateIn(-7200)],
      ],
    ],
    [
      "a max-age of 0 before Expires",
      0,
      [
        ["cache-control", "max-age=0"],
        ["expires", dateIn(3600)],
      ],
    ],
    [
      "an invalid max-age",
      0,
      [
        ["cache-control", "max-age=soon"],
        ["expires", dateIn(3600)],
      ],
    ],
    ["s-maxage, which is not for private caches", 0, [["cache-control", "s-maxage=600"]]],
    ["Expires", 3600, [["expires", dateIn(3600)]]],
    ["Expires in the past", 0, [["expires", dateIn(-1)]]],
    [
      "an invalid Expires",
      0,
      [
        ["expires", "0"],
        ["last-modified", dateIn(-1000)],
      ],
    ],
    ["Expires as of RFC 850", 3600, [["expires", "Friday, 01-May-26 13:00:00 GMT"]]],
    ["Expires as of asctime", 3600, [["expires", "Fri May  1 13:00:00 2026"]]],
    [
      "Expires twice",
      0,
      [
        ["expires", dateIn(3600)],
        ["expires", dateIn(7200)],
      ],
    ],
    ["Last-Modified", 100, [["last-modified", dateIn(-1000)]]],
    ["Last-Modified of tomorrow", 0, [["last-modified", dateIn(86_400)]]],
    [
      "Last-Modified and must-revalidate",
      0,
      [
        ["last-modified", dateIn(-1000)],
        ["cache-control", "must-revalidate"],
      ],
    ],
    ["nothing", 0, []],
    ["no-cache", 0, [["cache-control", "max-age=600, no-cache"]]],
    ["no-cache for some fields", 0, [["cache-control", 'max-age=600, no-cache="x"']]],
    [
      "an old no-cache",
      0,
      [
        ["pragma", "no-cache"],
        ["last-modified", dateIn(-1000)],
      ],
    ],
    [
      "an old no-cache beside a newer field",
      600,
      [
        ["pragma", "no-cache"],
        ["cache-control", "max-age=600"],
      ],
    ],
  ])("with %s is %i seconds", (_, expected, headers) => {
    expect(freshnessLifetime(storedResponse([date, ...headers]))).toBe(expected);
  });

  it("is guessed for statuses that allow it, or with public", () => {
    const guessed = (status: number, more: HeaderList = []) =>
      freshnessLifetime(storedResponse([date, ["last-modified", dateIn(-1000)], ...more], { status }));
    expect([200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].map((status) => guessed(status))).toEqual(
      Array(11).fill(100),
    );
    expect([201, 202, 302, 307, 403, 500, 502, 503, 504, 599].map((status) => guessed(status))).toEqual(
      Array(10).fill(0),
    );
    expect(guessed(599, [["cache-control", "public"]])).toBe(100);
  });

  it("of Expires is counted from when the response came where it has no date", () => {
    expect(freshnessLifetime(storedResponse([["expires", dateIn(60)]]))).toBe(60);
  });
});

describe("the age", () => {
  const age = (headers: HeaderList, took = 0, later = 0) =>
    currentAge(storedResponse(headers, { requestTime: NOW - took * 1000 }), NOW + later * 1000);

  it("grows from 0", () => {
    expect([age([date]), age([date], 0, 60)]).toEqual([0, 60]);
  });

  it("counts what the origin's date and earlier caches say, and how long the response took", () => {
    expect(age([["date", dateIn(-100)]])).toBe(100);
    expect(age([date, ["age", "30"]], 5, 10)).toBe(45);
    expect(
      age(
        [
          ["date", dateIn(-100)],
          ["age", "30"],
        ],
        5,
        10,
      ),
    ).toBe(110);
    expect(age([["date", dateIn(100)]], 5)).toBe(5);
  });

  it.each([
    ["abc", 0],
    ["-7200", 0],
    ["7200.0", 0],
    ["7200;foo=bar", 0],
    ["7200, 0", 7200],
    ["0, 7200", 0],
    ["2147483649", 2_147_483_649],
  ])("takes an Age of %j for %i", (value, expected) => {
    expect(age([date, ["age", value]])).toBe(expected);
  });

  it("is beyond all where the clock was set back since", () => {
    expect(age([date], 0, -365 * 86_400)).toBe(Number.POSITIVE_INFINITY);
  });

  it("is never negative, whatever the fields and the clock", () => {
    fc.assert(
      fc.property(anyStored, fc.integer({ min: -4e10, max: 4e10 }), (stored, later) => {
        expect(currentAge(stored, NOW + later)).toBeGreaterThanOrEqual(0);
        expect(freshnessLifetime(stored)).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  it("is told in the answer, in whole seconds, once", () => {
    const stored = storedResponse([date, ["age", "30"], ["x", "y"]]);
    expect(headersWithAge(stored, NOW + 2900)).toEqual([date, ["x", "y"], ["age", "32"]]);
    expect(headersWithAge(stored, NOW - 1)).toBe(stored.headers);
  });
});

describe("stale use", () => {
  it.each([
    ["max-age=1", true],
    ["max-age=1, must-revalidate", false],
    ["no-cache", false],
    ["max-age=1, proxy-revalidate", true],
  ])("under %j is allowed: %j", (value, expected) => {
    expect(mayAnswerStale(storedResponse([["cache-control", value]]))).toBe(expected);
  });

  it("has a time of its own, but not against must-revalidate", () => {
    const grace = (value: string) => staleGrace(storedResponse([["cache-control", value]]), "stale-if-error");
    expect(grace("stale-if-error=60")).toBe(60);
    expect(grace("stale-if-error=60, must-revalidate")).toBe(0);
    expect(grace("stale-while-revalidate=60")).toBe(0);
  });
});

it("is as old as the edge says where CORS hides the age", () => {
  const times = { requestTime: 1_000, responseTime: 1_000 };
  expect(currentAge({ status: 200, headers: [["ropeway-age", "500"]], ...times }, 3_000)).toBe(502);
});
