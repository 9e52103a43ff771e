import { describe, expect, it } from "vitest";
import type { HeaderList } from "../http/heads.ts";
import { asWhole } from "./partial.ts";

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
