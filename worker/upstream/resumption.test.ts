import { describe, expect, it } from "vitest";
import { isContinuation, resumptionOf, withContinuation } from "./upstream.ts";

const response = (status: number, fields: Record<string, string>) => ({ status, headers: new Headers(fields) });
const LENGTH = { "content-length": "100000" };
const TAG = { etag: '"v1"' };
const WHOLE = { first: 0, last: 99_999, total: 100_000 };
const MODIFIED = "Sat, 21 Nov 2026 03:00:00 GMT";

describe("how a body goes on", () => {
  it.each([
    ["by range, with a strong tag and a length", 200, { ...LENGTH, ...TAG }, { range: WHOLE, validator: '"v1"' }],
    [
      "by range of a range",
      206,
      { ...TAG, "content-length": "50000", "content-range": "bytes 10-50009/70000" },
      { range: { first: 10, last: 50_009, total: 70_000 }, validator: '"v1"' },
    ],
    [
      "by range, with a date that is a minute old",
      200,
      { ...LENGTH, "last-modified": MODIFIED, date: "Sat, 21 Nov 2026 03:01:00 GMT" },
      { range: WHOLE, validator: MODIFIED },
    ],
    ["as a whole, where the origin coded it", 200, { ...LENGTH, ...TAG, "content-encoding": "gzip" }, "whole"],
    ["as a whole, in a coding that stays", 200, { ...LENGTH, ...TAG, "content-encoding": "zstd" }, "whole"],
    ["as a whole, without a length", 200, TAG, "whole"],
    ["not with a weak tag", 200, { ...LENGTH, etag: 'W/"v1"' }, null],
    ["not with a weak tag, whatever its date", 200, { ...LENGTH, etag: 'W/"1"', "last-modified": MODIFIED }, null],
    ["not with what is no tag", 200, { ...LENGTH, etag: "v1" }, null],
    [
      "not with a date that is fresh",
      200,
      { ...LENGTH, "last-modified": MODIFIED, date: "Sat, 21 Nov 2026 03:00:59 GMT" },
      null,
    ],
    ["not with a date alone where it was coded", 200, { "last-modified": MODIFIED, date: MODIFIED }, null],
    ["not if it is short", 200, { ...TAG, "content-length": "1000" }, null],
  ])("%s", (_, status, fields, expected) => {
    const resumption = expected === "whole" ? { range: null, validator: '"v1"' } : expected;
    expect(resumptionOf(response(status, fields))).toEqual(resumption);
  });
});

describe("the rest of a body", () => {
  const asked = { first: 40_000, last: 99_999, total: 100_000, validator: '"v1"' };

  it("is asked for by range and validator, whatever the page asked", () => {
    const fields = withContinuation(
      [
        ["range", "bytes=0-"],
        ["if-range", '"v0"'],
        ["accept", "*/*"],
      ],
      asked,
    );
    expect(fields).toEqual([
      ["accept", "*/*"],
      ["range", "bytes=40000-99999"],
      ["if-range", '"v1"'],
    ]);
  });

  it.each([
    ["is that", 206, { ...TAG, "content-range": "bytes 40000-99999/100000" }, true],
    ["is not all of it anew", 200, { ...TAG, ...LENGTH }, false],
    ["is not another part", 206, { ...TAG, "content-range": "bytes 39999-99999/100000" }, false],
    ["is not less", 206, { ...TAG, "content-range": "bytes 40000-99998/100000" }, false],
    ["is not of another length", 206, { ...TAG, "content-range": "bytes 40000-99999/100001" }, false],
    ["is not of another version", 206, { etag: '"v2"', "content-range": "bytes 40000-99999/100000" }, false],
    ["is not of an unknown version", 206, { "content-range": "bytes 40000-99999/100000" }, false],
    ["is not of no part", 206, TAG, false],
    ["is not coded", 206, { ...TAG, "content-range": "bytes 40000-99999/100000", "content-encoding": "gzip" }, false],
  ])("%s", (_, status, fields, expected) => {
    expect(isContinuation(asked, response(status, fields))).toBe(expected);
  });

  it("may be of a date", () => {
    const dated = { ...asked, validator: MODIFIED };
    const range = { "content-range": "bytes 40000-99999/100000" };
    expect(isContinuation(dated, response(206, { ...range, "last-modified": MODIFIED }))).toBe(true);
    expect(isContinuation(dated, response(206, range))).toBe(false);
  });
});
