import { describe, expect, it } from "vitest";
import { chooseLinkCoding } from "./code.ts";

describe("chooseLinkCoding", () => {
  it.each([
    "text/html; charset=utf-8",
    "TEXT/CSS",
    "text/event-stream",
    "application/json",
    "application/problem+json",
    "text/javascript",
    "application/javascript",
    "image/svg+xml",
    "application/wasm",
    "font/ttf",
    "application/x-ndjson",
    "application/manifest+json",
  ])("compresses %s", (type) => {
    for (const mayUseBrotli of [true, false]) {
      const coding = mayUseBrotli && type !== "text/event-stream" ? "br" : "deflate-raw";
      expect(chooseLinkCoding(type, null, mayUseBrotli)).toBe(coding);
      expect(chooseLinkCoding(type, 200, mayUseBrotli)).toBe(coding);
      expect(chooseLinkCoding(type, 199, mayUseBrotli)).toBe("identity");
    }
  });

  it.each([
    "image/png",
    "image/webp",
    "font/woff2",
    "font/woff",
    "video/mp4",
    "application/zip",
    "application/pdf",
    "",
  ])("leaves %s as it is", (type) => {
    expect(chooseLinkCoding(type, null, true)).toBe("identity");
  });

  it("leaves a body without a type as it is", () => {
    expect(chooseLinkCoding(null, 5000, true)).toBe("identity");
  });
});
