import fc from "fast-check";
import { expect, test } from "vitest";
import { fromBase64, fromBase64Url, toBase64, toBase64Url, toHex } from "./base-encodings.ts";

test("all bytes are written as Node writes them, and base64url is read back", () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      const expected = Buffer.from(bytes);
      expect(toHex(bytes)).toBe(expected.toString("hex"));
      expect(toBase64(bytes)).toBe(expected.toString("base64"));
      expect(fromBase64(toBase64(bytes))).toEqual(bytes);
      expect(toBase64Url(bytes)).toBe(expected.toString("base64url"));
      expect(fromBase64Url(toBase64Url(bytes))).toEqual(bytes);
    }),
  );
});

test.each(["A", "AAAAA", "AA==", "A+", "A/", "A A", "ä"])("%j is no base64url", (text) => {
  expect(fromBase64Url(text)).toBeNull();
});
