import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { HeaderList } from "../http/heads.ts";
import { dateIn, storedResponse } from "../testing/http/cache-rig.ts";
import { answerRange } from "./cache-rules.ts";

const etag = ["etag", '"a"'] as const;
const modified = ["last-modified", dateIn(-1000)] as const;
const stored = storedResponse([etag, modified, ["content-length", "10"]]);

const answered = (range: string, more: HeaderList = [], method = "GET") =>
  answerRange({ method, headers: [["range", range], ...more] }, stored, 10);

describe("a part of a whole body", () => {
  it.each<[string, number, number]>([
    ["bytes=0-1", 0, 1],
    ["bytes=1-", 1, 9],
    ["bytes=9-", 9, 9],
    ["bytes=-1", 9, 9],
    ["bytes=-100", 0, 9],
    ["bytes=5-100", 5, 9],
    ["BYTES= 0-0 ", 0, 0],
  ])("for %s is %i to %i", (range, first, last) => {
    expect(answered(range)).toEqual({
      kind: "part",
      first,
      last,
      headers: [
        etag,
        modified,
        ["content-range", `bytes ${first}-${last}/10`],
        ["content-length", String(last - first + 1)],
      ],
    });
  });

  it.each(["bytes=10-", "bytes=10-20", "bytes=-0"])("for %s is none", (range) => {
    expect(answered(range)).toMatchObject({
      kind: "unsatisfiable",
      headers: expect.arrayContaining([["content-range", "bytes */10"]]),
    });
  });

  it.each(["bytes=0-1,3-4", "bytes=5-2", "bytes=-", "bytes=a-b", "lines=0-1", "0-1", ""])(
    "for %j is the whole",
    (range) => {
      expect(answered(range)).toEqual({ kind: "whole" });
    },
  );

  it("is not asked for without a range, by HEAD, or of what is no success", () => {
    expect(answerRange({ method: "GET", headers: [] }, stored, 10)).toEqual({ kind: "whole" });
    expect(answered("bytes=0-1", [], "HEAD")).toEqual({ kind: "whole" });
    expect(answerRange({ method: "GET", headers: [["range", "bytes=0-1"]] }, { ...stored, status: 404 }, 10)).toEqual({
      kind: "whole",
    });
  });

  it.each<[string, string]>([
    ['"a"', "part"],
    ['"b"', "whole"],
    ['W/"a"', "whole"],
    [dateIn(-1000), "part"],
    [dateIn(-999), "whole"],
    ["never", "whole"],
  ])("with If-Range: %s is a %s", (value, expected) => {
    expect(answered("bytes=0-1", [["if-range", value]]).kind).toBe(expected);
  });

  it.each(["never", "abc", 'W/"a"'])("with If-Range: %s is whole where the response has no date", (value) => {
    const dateless = { ...stored, headers: stored.headers.filter(([name]) => name !== "last-modified") };
    const asked: HeaderList = [
      ["range", "bytes=0-1"],
      ["if-range", value],
    ];
    expect(answerRange({ method: "GET", headers: asked }, dateless, 10)).toEqual({ kind: "whole" });
  });

  it("lies within the body, whatever is asked", () => {
    const number = fc.option(fc.nat(30), { nil: "" });
    fc.assert(
      fc.property(number, number, fc.nat(20), (from, to, length) => {
        const answer = answerRange({ method: "GET", headers: [["range", `bytes=${from}-${to}`]] }, stored, length);
        if (answer.kind !== "part") return;
        expect(0 <= answer.first && answer.first <= answer.last && answer.last < length).toBe(true);
      }),
    );
  });
});
