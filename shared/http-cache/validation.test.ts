import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { HeaderList } from "../http/heads.ts";
import { anyHeaders, anyStored, cacheRequest, dateIn, NOW, storedResponse } from "../testing/http/cache-rig.ts";
import { currentAge, decide, freshenByHead, judgeValidation } from "./cache-rules.ts";

const LATER = NOW + 100_000;
const times = { requestTime: LATER - 50, responseTime: LATER };
const headers: HeaderList = [
  ["date", dateIn(0)],
  ["age", "5"],
  ["cache-control", "max-age=60"],
  ["etag", '"a"'],
  ["content-type", "text/css"],
  ["content-length", "7"],
  ["x-old", "1"],
  ["x-both", "1"],
];
const stored = storedResponse(headers);

const validated = (status: number, answer: HeaderList, before = stored) =>
  judgeValidation(before, cacheRequest(), { status, headers: answer }, times);

describe("a 304", () => {
  it("takes the place of the stored fields, but of none that say what the bytes are", () => {
    const update: HeaderList = [
      ["date", dateIn(100)],
      ["x-both", "2"],
      ["x-new", "3"],
      ["etag", '"a-gzip"'],
      ["content-type", "text/html"],
      ["content-length", "0"],
      ["content-encoding", "gzip"],
    ];
    expect(validated(304, update)).toEqual({
      kind: "not-modified",
      stored: {
        ...stored,
        ...times,
        headers: [
          ["cache-control", "max-age=60"],
          ["etag", '"a"'],
          ["content-type", "text/css"],
          ["content-length", "7"],
          ["x-old", "1"],
          ["date", dateIn(100)],
          ["x-both", "2"],
          ["x-new", "3"],
        ],
      },
    });
  });

  it("makes it fresh again", () => {
    const validation = validated(304, [["date", dateIn(100)]]);
    if (validation.kind !== "not-modified") throw new Error("Cannot go on: not validated");
    expect(decide(cacheRequest(), [validation.stored], LATER + 59_000).kind).toBe("answer");
    expect(decide(cacheRequest(), [stored], LATER).kind).toBe("validate");
  });

  it("keeps a store's own fields", () => {
    const own = { ...stored, hash: "x" };
    expect(validated(304, [], own)).toMatchObject({ stored: { hash: "x" } });
  });

  it("never changes what the bytes are, and never makes older, whatever it says", () => {
    fc.assert(
      fc.property(anyStored, anyHeaders, (before, update) => {
        const validation = validated(304, update, before);
        if (validation.kind !== "not-modified") throw new Error("Cannot go on: not validated");
        const ofBytes = (list: HeaderList) => list.filter(([name]) => /^(content-|etag)/.test(name));
        expect(ofBytes(validation.stored.headers)).toEqual(ofBytes(before.headers));
        expect(currentAge(validation.stored, LATER)).toBe(
          currentAge(
            storedResponse(
              update.filter(([name]) => name === "date" || name === "age"),
              times,
            ),
            LATER,
          ),
        );
      }),
    );
  });
});

it("a whole answer takes its place", () => {
  expect([200, 404, 410, 206].map((status) => validated(status, []).kind)).toEqual(Array(4).fill("replaced"));
});

describe("a server's failure", () => {
  it.each<[string, number, string]>([
    ["max-age=60", 503, "replaced"],
    ["max-age=60, stale-if-error=100", 503, "stale-if-error"],
    ["max-age=60, stale-if-error=100", 500, "stale-if-error"],
    ["max-age=60, stale-if-error=100", 404, "replaced"],
    ["max-age=60, stale-if-error=40", 503, "replaced"],
    ["max-age=60, stale-if-error=100, must-revalidate", 503, "replaced"],
  ])("under %s: %i is %s", (value, status, expected) => {
    const before = storedResponse([
      ["date", dateIn(0)],
      ["cache-control", value],
    ]);
    expect(validated(status, [], before).kind).toBe(expected);
  });
});

describe("the answer to HEAD", () => {
  const head = (status: number, answer: HeaderList) =>
    freshenByHead(stored, cacheRequest({ method: "HEAD" }), { status, headers: answer }, times);

  it("makes fresh what it still describes", () => {
    expect(
      head(200, [
        ["etag", 'W/"a"'],
        ["x-both", "2"],
      ]),
    ).toMatchObject({ responseTime: LATER });
    expect(head(200, [])).toMatchObject({ responseTime: LATER });
  });

  it.each<[string, HeaderList]>([
    ["entity tag", [["etag", '"b"']]],
    ["length", [["content-length", "8"]]],
    ["date of change", [["last-modified", dateIn(0)]]],
  ])("with another %s says that it is outdated", (_, answer) => {
    expect(head(200, answer)).toBe("outdated");
  });

  it("may tell the length where the stored body came without", () => {
    const known = storedResponse(headers.filter(([name]) => name !== "content-length"));
    const answer = { status: 200, headers: [["content-length", "8"]] } as const;
    expect(freshenByHead(known, cacheRequest({ method: "HEAD" }), answer, times)).not.toBe("outdated");
  });

  it("says nothing with another status", () => {
    expect([304, 404, 503].map((status) => head(status, []))).toEqual([null, null, null]);
  });
});
