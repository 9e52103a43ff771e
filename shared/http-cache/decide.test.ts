import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CacheMode, HeaderList } from "../http/heads.ts";
import { anyStored, cacheRequest, dateIn, NOW, storedResponse } from "../testing/http/cache-rig.ts";
import { type CacheRequest, currentAge, decide, freshnessLifetime } from "./cache-rules.ts";

const control = (value: string): HeaderList => [["cache-control", value]];
const fresh = storedResponse([["date", dateIn(0)], ...control("max-age=60"), ["etag", '"a"']]);
const stale = storedResponse([["date", dateIn(0)], ...control("max-age=0"), ["etag", '"a"']]);

const kindOf = (request: Partial<CacheRequest>, stored = fresh, later = 10) =>
  decide(cacheRequest(request), [stored], NOW + later * 1000).kind;

describe("the cache mode", () => {
  it.each<[CacheMode, string, string, string]>([
    ["default", "answer", "validate", "fetch"],
    ["no-store", "fetch", "fetch", "fetch"],
    ["reload", "fetch", "fetch", "fetch"],
    ["no-cache", "validate", "validate", "fetch"],
    ["force-cache", "answer", "answer", "fetch"],
    ["only-if-cached", "answer", "answer", "unavailable"],
  ])("%s: %s when fresh, %s when stale, %s with nothing", (cacheMode, whenFresh, whenStale, withNothing) => {
    expect(kindOf({ cacheMode })).toBe(whenFresh);
    expect(kindOf({ cacheMode }, stale)).toBe(whenStale);
    expect(decide(cacheRequest({ cacheMode }), [], NOW).kind).toBe(withNothing);
  });

  it("no-cache does not ask for what is immutable and fresh", () => {
    const immutable = storedResponse(control("max-age=60, immutable"));
    expect(kindOf({ cacheMode: "no-cache" }, immutable)).toBe("answer");
    expect(kindOf({ cacheMode: "no-cache" }, immutable, 61)).toBe("validate");
    expect(kindOf({ cacheMode: "reload" }, immutable)).toBe("fetch");
  });
});

describe("the request's own directives", () => {
  it.each<[string, number, string]>([
    ["no-cache", 10, "validate"],
    ["max-age=0", 10, "validate"],
    ["max-age=10", 10, "answer"],
    ["max-age=9", 10, "validate"],
    ["min-fresh=50", 10, "answer"],
    ["min-fresh=51", 10, "validate"],
    ["max-stale=5", 64, "answer"],
    ["max-stale=5", 66, "validate"],
    ["max-stale", 6000, "answer"],
    ["x", 10, "answer"],
  ])("%s after %i of 60 seconds: %s", (value, later, expected) => {
    expect(kindOf({ headers: control(value) }, fresh, later)).toBe(expected);
  });

  it("of old are heard where there are no newer ones", () => {
    const pragma: HeaderList = [["pragma", "no-cache"]];
    expect(kindOf({ headers: pragma })).toBe("validate");
    expect(kindOf({ headers: [...pragma, ...control("x")] })).toBe("answer");
  });

  it("do not make stale what must be validated", () => {
    const strict = storedResponse(control("max-age=60, must-revalidate"));
    expect(kindOf({ headers: control("max-stale") }, strict, 61)).toBe("validate");
  });
});

it("a page's own condition goes out as it is", () => {
  expect(kindOf({ headers: [["if-none-match", '"a"']] })).toBe("fetch");
});

it("HEAD is answered while fresh, else asked", () => {
  expect([kindOf({ method: "HEAD" }), kindOf({ method: "HEAD" }, stale)]).toEqual(["answer", "fetch"]);
});

it.each(["POST", "PUT", "DELETE", "OPTIONS"])("%s goes out", (method) => {
  expect(kindOf({ method })).toBe("fetch");
});

it("what varies by cookies is always validated, but for the history", () => {
  const personal = storedResponse([...control("max-age=60"), ["vary", "Cookie"]]);
  expect([kindOf({}, personal), kindOf({ cacheMode: "force-cache" }, personal)]).toEqual(["validate", "answer"]);
});

describe("stale-while-revalidate", () => {
  const lenient = storedResponse([...control("max-age=60, stale-while-revalidate=30"), ["etag", '"a"']]);

  it("shows what is stored and asks, for its time", () => {
    expect([59, 61, 89, 90].map((later) => kindOf({}, lenient, later))).toEqual([
      "answer",
      "answer-and-validate",
      "answer-and-validate",
      "validate",
    ]);
  });

  it("is not for a reload, nor against must-revalidate", () => {
    expect(kindOf({ cacheMode: "no-cache" }, lenient, 61)).toBe("validate");
    const strict = storedResponse(control("max-age=60, stale-while-revalidate=30, must-revalidate"));
    expect(kindOf({}, strict, 61)).toBe("validate");
  });
});

describe("validation", () => {
  const fieldsFor = (headers: HeaderList, request: Partial<CacheRequest> = {}) => {
    const decision = decide(cacheRequest(request), [storedResponse([...control("max-age=0"), ...headers])], NOW);
    return decision.kind === "validate" ? decision.fields : null;
  };

  it("asks by all that the origin gave", () => {
    const modified = dateIn(-1000);
    expect(fieldsFor([["etag", 'W/"a"']])).toEqual([["if-none-match", 'W/"a"']]);
    expect(fieldsFor([["last-modified", modified]])).toEqual([["if-modified-since", modified]]);
    expect(
      fieldsFor([
        ["etag", '"a"'],
        ["last-modified", modified],
      ]),
    ).toEqual([
      ["if-none-match", '"a"'],
      ["if-modified-since", modified],
    ]);
    expect(fieldsFor([])).toEqual([]);
  });

  it("says what the mode says", () => {
    expect(fieldsFor([["etag", '"a"']], { cacheMode: "no-cache" })).toEqual([
      ["if-none-match", '"a"'],
      ["cache-control", "max-age=0"],
    ]);
  });
});

it("a clock that was set back a year makes nothing fresh", () => {
  expect(kindOf({}, fresh, -365 * 86_400)).toBe("validate");
});

it("never answers with what is older than allowed, whatever was stored and the clock does", () => {
  fc.assert(
    fc.property(anyStored, fc.integer({ min: -4e10, max: 4e10 }), (stored, later) => {
      const now = NOW + later;
      const { kind } = decide(cacheRequest(), [stored], now);
      if (kind === "answer") expect(currentAge(stored, now)).toBeLessThan(freshnessLifetime(stored));
      if (kind === "answer") expect(now).toBeGreaterThanOrEqual(stored.responseTime);
    }),
  );
});
