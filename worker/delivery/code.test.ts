import { describe, expect, it } from "vitest";
import { type BodyFacts, chooseLinkCoding } from "./coding.ts";

const bodyOf = (contentType: string | null, contentLength: number | null = null): BodyFacts => ({
  contentType,
  contentLength,
  cameCoded: false,
});

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
      expect(chooseLinkCoding(bodyOf(type), mayUseBrotli)).toBe(coding);
      expect(chooseLinkCoding(bodyOf(type, 200), mayUseBrotli)).toBe(coding);
      expect(chooseLinkCoding(bodyOf(type, 199), mayUseBrotli)).toBe("identity");
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
    expect(chooseLinkCoding(bodyOf(type), true)).toBe("identity");
  });

  it("leaves a body without a type as it is", () => {
    expect(chooseLinkCoding(bodyOf(null, 5000), true)).toBe("identity");
  });

  it.each([null, "", "application/octet-stream", "application/pdf", "audio/x-wav", "image/x-portable-pixmap"])(
    "compresses %s where its origin did",
    (type) => {
      expect(chooseLinkCoding({ ...bodyOf(type), cameCoded: true }, true)).toBe("br");
      expect(chooseLinkCoding({ ...bodyOf(type), cameCoded: true }, false)).toBe("deflate-raw");
    },
  );

  it.each(["image/png", "IMAGE/JPEG; q=1", "font/woff2", "video/mp4", "audio/mpeg", "application/zip"])(
    "leaves %s as it is though its origin coded it",
    (type) => expect(chooseLinkCoding({ ...bodyOf(type), cameCoded: true }, true)).toBe("identity"),
  );
});
