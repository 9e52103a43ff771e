import { describe, expect, it } from "vitest";
import type { HeaderList } from "../http/heads.ts";
import { joined, type Part, partOf } from "./partial.ts";

const etag = ["etag", '"a"'] as const;

function part(first: number, last: number, more: HeaderList = []): Part {
  return { first, last, total: 10, headers: [etag, ["content-range", `bytes ${first}-${last}/10`], ...more] };
}

describe("a part", () => {
  const parsed = (contentRange: string, status = 206, tag = '"a"') =>
    partOf({
      status,
      headers: [
        ["etag", tag],
        ["content-range", contentRange],
      ],
    });

  it("is one range of a known length, with a strong validator", () => {
    expect(parsed("bytes 0-4/10")).toMatchObject({ first: 0, last: 4, total: 10 });
    expect(
      ["bytes 0-4/*", "bytes */10", "bytes 5-4/10", "bytes 0-10/10", "lines 0-4/10", ""].map((range) => parsed(range)),
    ).toEqual(Array(6).fill(null));
    expect([parsed("bytes 0-4/10", 200), parsed("bytes 0-4/10", 206, 'W/"a"')]).toEqual([null, null]);
  });
});

describe("two parts", () => {
  it("make the whole, with the fields of the newer", () => {
    const older = part(0, 4, [
      ["x-both", "1"],
      ["x-old", "1"],
      ["content-length", "5"],
    ]);
    expect(
      joined(
        older,
        part(5, 9, [
          ["x-both", "2"],
          ["content-length", "5"],
        ]),
      ),
    ).toEqual([["x-old", "1"], etag, ["x-both", "2"], ["content-length", "10"]]);
  });

  it("may overlap", () => {
    expect(joined(part(0, 4), part(3, 9))).not.toBe(null);
  });

  it.each<[string, Part, Part]>([
    ["a gap", part(0, 4), part(6, 9)],
    ["no start", part(1, 4), part(5, 9)],
    ["no end", part(0, 4), part(5, 8)],
    ["another length", part(0, 4), { ...part(5, 9), total: 11, last: 10 }],
    ["another validator", part(0, 4), { ...part(5, 9), headers: [["etag", '"b"']] }],
  ])("with %s make nothing", (_, older, newer) => {
    expect(joined(older, newer)).toBe(null);
  });
});
