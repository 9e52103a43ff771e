import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";
import { describe, expect, it } from "vitest";
import { Random } from "../testing/random.ts";
import { hasLargeWindow, linkWindow } from "./link-coding.ts";

const random = new Random(7);
const words = (count: number) => Array.from({ length: count }, () => `word${random.below(900)}`).join(" ");

function coded(body: Uint8Array | string, bits: number, quality = 5): Buffer {
  const { BROTLI_PARAM_LGWIN: window, BROTLI_PARAM_QUALITY: level } = constants;
  return brotliCompressSync(body, { params: { [window]: bits, [level]: quality } });
}

describe("the window that the link takes", () => {
  it("is what any body of no more than its reach can do with, coded whole", () => {
    for (const text of ["", "a", words(10), words(300), words(100_000), random.bytes(70_000)]) {
      for (let bits = 10; bits <= 24; bits++) {
        for (const quality of [2, 5, 9, 11].slice(0, text.length > 50_000 ? 2 : 4)) {
          const bytes = coded(text, bits, quality);
          const first = linkWindow(bytes);
          if (first === null) continue;
          expect(hasLargeWindow(first)).toBe(false);
          bytes[0] = first;
          expect(brotliDecompressSync(bytes).equals(Buffer.from(text))).toBe(true);
        }
      }
    }
    expect(linkWindow(coded(words(300), 22))).not.toBeNull();
    expect(linkWindow(coded(words(100_000), 24, 11))).not.toBeNull();
  });

  it("is none for what may reach back further, or does not say how long it is", () => {
    expect(linkWindow(coded(words(200_000), 22))).toBeNull();
    expect(linkWindow(coded(words(300), 22).subarray(0, 3))).toBeNull();
    expect(linkWindow(new Uint8Array())).toBeNull();
    // Of an empty last meta-block, and of one more than the RFC has.
    expect(linkWindow(Uint8Array.of(0b0011_1011, 0, 0, 0))).toBeNull();
    expect(linkWindow(Uint8Array.of(0b0001_0001, 0, 0, 0))).toBeNull();
  });
});
