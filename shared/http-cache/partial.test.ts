import { describe, expect, it } from "vitest";
import type { HeaderList } from "../http/heads.ts";
import { asWhole, partOf } from "./cache-rules.ts";

const type = ["content-type", "video/mp4"] as const;

function part(contentRange: string, status = 206): { readonly status: number; readonly headers: HeaderList } {
  return { status, headers: [type, ["content-range", contentRange], ["content-length", "10"]] };
}

describe("a part of a body", () => {
  it.each(["bytes 0-9/10", "BYTES  0-9/10"])("is the whole where it has all of it: %s", (range) => {
    expect(asWhole(part(range))).toEqual({ status: 200, headers: [type, ["content-length", "10"]] });
  });

  it.each(["bytes 0-8/10", "bytes 1-9/10", "bytes 0-9/*", "bytes 0-10/10", "bytes */10", "lines 0-9/10", ""])(
    "is a part where it has less, or does not say so: %j",
    (range) => {
      expect(asWhole(part(range))).toEqual(part(range));
    },
  );

  it("is what a 206 has, and no other status", () => {
    expect(asWhole(part("bytes 0-9/10", 200))).toEqual(part("bytes 0-9/10", 200));
  });
});

describe("a part that may be joined with others", () => {
  const head = (range: string, length: string, fields: HeaderList = [["etag", '"1"']], status = 206) => ({
    status,
    headers: [type, ["content-range", range], ["content-length", length], ...fields] as HeaderList,
  });

  it("says where it is, and what it is of", () => {
    const part = head("bytes 2-4/10", "3");
    expect(partOf(part)).toEqual({ first: 2, last: 4, total: 10, tag: '"1"' });
    expect(asWhole(part, partOf(part))).toEqual({
      status: 200,
      headers: [type, ["etag", '"1"'], ["content-length", "10"]],
    });
  });

  it.each([
    ["is the whole", head("bytes 0-9/10", "10")],
    ["is longer than announced", head("bytes 2-4/10", "4")],
    ["ends before it begins", head("bytes 4-2/10", "-1")],
    ["ends beyond the body", head("bytes 2-10/10", "9")],
    ["is of a body of unknown length", head("bytes 2-4/*", "3")],
    ["has a weak tag", head("bytes 2-4/10", "3", [["etag", 'W/"1"']])],
    ["has no tag", head("bytes 2-4/10", "3", [])],
    [
      "is coded",
      head("bytes 2-4/10", "3", [
        ["etag", '"1"'],
        ["content-encoding", "gzip"],
      ]),
    ],
    ["is no part", head("bytes 2-4/10", "3", [["etag", '"1"']], 200)],
  ])("is none where it %s", (_, response) => {
    expect(partOf(response)).toBeNull();
  });
});
