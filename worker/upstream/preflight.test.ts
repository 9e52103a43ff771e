import { describe, expect, it } from "vitest";
import { ErrorCode } from "../../shared/errors.ts";
import {
  needsPreflight,
  PREFLIGHT_AGE,
  PREFLIGHT_ENTRIES,
  PreflightCache,
  type PreflightRequest,
  preflightFields,
} from "./cors.ts";

const A = "https://a.example";
const denied = expect.objectContaining({ code: ErrorCode.CORS_DENIED });

function question(change: Partial<PreflightRequest> = {}): PreflightRequest {
  return {
    partition: A,
    url: new URL("https://api.example/items"),
    origin: A,
    method: "PUT",
    unsafeNames: ["content-type", "x-a"],
    withCredentials: false,
    ...change,
  };
}

function answer(fields: Record<string, string>, status = 204): Response {
  return new Response(null, {
    status,
    headers: {
      "access-control-allow-origin": A,
      "access-control-allow-methods": "GET, PUT",
      "access-control-allow-headers": "Content-Type, X-A",
      ...fields,
    },
  });
}

describe("preflightFields", () => {
  it("asks for the method and the names", () => {
    expect(needsPreflight("PUT", [])).toBe(true);
    expect(needsPreflight("GET", ["x-a"])).toBe(true);
    expect(needsPreflight("POST", [])).toBe(false);
    expect(preflightFields(question())).toEqual({
      accept: "*/*",
      "access-control-request-method": "PUT",
      "access-control-request-headers": "content-type,x-a",
    });
    expect(preflightFields(question({ unsafeNames: [] }))).not.toHaveProperty("access-control-request-headers");
  });
});

describe("PreflightCache", () => {
  it.each<[string, Partial<PreflightRequest>, Record<string, string>, boolean]>([
    ["a list", {}, {}, true],
    ["another origin", {}, { "access-control-allow-origin": "https://b.example" }, false],
    ["no such method", { method: "DELETE" }, {}, false],
    ["a method in lower case", { method: "put" }, {}, false],
    ["a safelisted method not listed", { method: "POST" }, { "access-control-allow-methods": "" }, true],
    ["no such name", { unsafeNames: ["x-b"] }, {}, false],
    [
      "wildcards",
      { method: "DELETE", unsafeNames: ["x-b"] },
      { "access-control-allow-methods": "*", "access-control-allow-headers": "*" },
      true,
    ],
    [
      "a wildcard for authorization",
      { unsafeNames: ["authorization"] },
      { "access-control-allow-headers": "*" },
      false,
    ],
    [
      "authorization by name",
      { unsafeNames: ["authorization"] },
      { "access-control-allow-headers": "*, Authorization" },
      true,
    ],
    [
      "wildcards with credentials",
      { withCredentials: true, method: "DELETE", unsafeNames: [] },
      { "access-control-allow-credentials": "true", "access-control-allow-methods": "*" },
      false,
    ],
    [
      "empty members",
      { unsafeNames: ["x-a"] },
      { "access-control-allow-methods": ",PUT,,", "access-control-allow-headers": " , x-a," },
      true,
    ],
    ["a name with a space", { unsafeNames: ["x-a"] }, { "access-control-allow-headers": "x-a, x b" }, false],
    ["a quoted name", { unsafeNames: ["x-a"] }, { "access-control-allow-headers": '"x-a", x-a' }, false],
    ["a method with a slash", { unsafeNames: ["x-a"] }, { "access-control-allow-methods": "PUT, a/b" }, false],
    [
      "a list of spaces",
      { method: "GET", unsafeNames: ["x-a"] },
      { "access-control-allow-methods": "PUT DELETE" },
      false,
    ],
  ])("judges %s", (_name, change, fields, passes) => {
    const cache = new PreflightCache(() => 0);
    const accept = () => cache.accept(question(change), answer(fields));
    if (passes) expect(accept).not.toThrow();
    else expect(accept).toThrow(denied);
    expect(cache.allows(question(change))).toBe(passes);
  });

  it("wants a status that says ok", () => {
    for (const status of [301, 404, 500]) {
      expect(() => new PreflightCache(() => 0).accept(question(), answer({}, status))).toThrow(denied);
    }
  });

  it("remembers for the age given, five seconds by default, two hours at most", () => {
    for (const [field, age] of [
      [undefined, 5_000],
      ["60", 60_000],
      ["0", 0],
      ["-1", 5_000],
      ["999999", PREFLIGHT_AGE],
    ] as const) {
      let now = 0;
      const cache = new PreflightCache(() => now);
      cache.accept(question(), answer(field === undefined ? {} : { "access-control-max-age": field }));
      now = Math.max(0, age - 1);
      expect(cache.allows(question())).toBe(age > 0);
      now = age;
      expect(cache.allows(question())).toBe(false);
    }
  });

  it("answers for nothing that was not asked", () => {
    const cache = new PreflightCache(() => 0);
    cache.accept(question(), answer({ "access-control-max-age": "60" }));
    for (const change of [
      { partition: "https://other.example" },
      { origin: "https://b.example" },
      { url: new URL("https://api.example/others") },
      { withCredentials: true },
      { method: "DELETE" },
      { unsafeNames: ["x-b"] },
    ]) {
      expect(cache.allows(question(change))).toBe(false);
    }
  });

  it("drops the oldest when it is full", () => {
    const cache = new PreflightCache(() => 0);
    const nth = (n: number) => question({ url: new URL(`https://api.example/${n}`) });
    for (let n = 0; n <= PREFLIGHT_ENTRIES; n++) cache.accept(nth(n), answer({}));
    expect(cache.allows(nth(0))).toBe(false);
    expect(cache.allows(nth(1))).toBe(true);
    expect(cache.allows(nth(PREFLIGHT_ENTRIES))).toBe(true);
  });
});
