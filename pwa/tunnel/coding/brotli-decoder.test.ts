import { brotliCompressSync, constants } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import type { OpenDecoder } from "../../../shared/coding/link-coding.ts";
import { Random } from "../../../shared/testing/random.ts";
import { concat } from "../../../shared/wire/frame.ts";
import { brotliDecoder } from "./brotli-chunk.ts";

const random = new Random(24);
const text = Buffer.from(Array.from({ length: 60_000 }, () => `<li>${random.below(500)}</li>`).join("\n"));

let open: OpenDecoder;
beforeAll(async () => {
  open = await brotliDecoder();
});

function coded(body: Uint8Array, params: Record<number, number> = {}): Buffer {
  return brotliCompressSync(body, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_LGWIN]: 20, ...params },
  });
}

/** What comes of bytes that come in pieces of this size; rejects as the response would fail. */
function decode(bytes: Uint8Array, piece = bytes.length): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  return new Promise((resolve, reject) => {
    const decoder = open({
      deliver: (chunk) => void chunks.push(chunk),
      finished: () => resolve(concat(...chunks)),
      failed: reject,
    });
    for (let start = 0; start < bytes.length; start += piece) void decoder.write(bytes.subarray(start, start + piece));
    decoder.end();
  });
}

describe("undoing br", () => {
  it("gives the body byte for byte, in whatever pieces it comes", async () => {
    const bytes = coded(text);
    for (const piece of [bytes.length, 997, 13]) expect(Buffer.compare(await decode(bytes, piece), text)).toBe(0);
    const noise = Buffer.from(random.bytes(200_000));
    expect(Buffer.compare(await decode(coded(noise), 1000), noise)).toBe(0);
    expect((await decode(coded(new Uint8Array()))).length).toBe(0);
    expect((await decode(coded(Buffer.from("x")), 1)).toString()).toBe("120");
  });

  it("gives of what lacks its end all that came", async () => {
    const part = await decode(coded(text).subarray(0, -500), 700);
    expect(part.length).toBeGreaterThan(text.length * 0.9);
    expect(Buffer.compare(part, text.subarray(0, part.length))).toBe(0);
  });

  it("decodes several at once", async () => {
    const bodies = [text, text.subarray(1000), Buffer.from(random.bytes(5000))];
    const decoded = await Promise.all(bodies.map((body) => decode(coded(body), 700)));
    for (const [i, body] of bodies.entries()) expect(Buffer.compare(decoded[i] as Uint8Array, body)).toBe(0);
  });

  it("grows no faster than its consumer takes what comes", async () => {
    const takes: (() => void)[] = [];
    let bytes = 0;
    const decoder = open({
      deliver: (chunk) => {
        bytes += chunk.length;
        return new Promise((resolve) => takes.push(resolve));
      },
      finished() {},
      failed() {},
    });
    void decoder.write(coded(new Uint8Array(64 * 1024 * 1024)));
    await expect.poll(() => takes.length).toBe(1);
    expect(bytes).toBeLessThanOrEqual(64 * 1024);
    decoder.cancel();
    takes.pop()?.();
  });

  it("takes any window up to 1 MB", async () => {
    for (let bits = 10; bits <= 20; bits++) {
      const bytes = coded(text, { [constants.BROTLI_PARAM_LGWIN]: bits });
      expect(Buffer.compare(await decode(bytes), text)).toBe(0);
    }
  });

  it.each([
    ["noise", () => random.bytes(2000)],
    ["nothing", () => new Uint8Array()],
    ["what goes on after its end", () => concat(coded(text), random.bytes(10))],
    ["a window of 2 MB", () => coded(text, { [constants.BROTLI_PARAM_LGWIN]: 21 })],
    ["a window of 4 MB", () => coded(text, { [constants.BROTLI_PARAM_LGWIN]: 22 })],
    ["a window of 16 MB", () => coded(text, { [constants.BROTLI_PARAM_LGWIN]: 24 })],
    [
      "a window beyond the RFC",
      () => coded(text, { [constants.BROTLI_PARAM_LARGE_WINDOW]: 1, [constants.BROTLI_PARAM_LGWIN]: 26 }),
    ],
  ])("fails on %s", async (_, bytes) => {
    await expect(decode(bytes(), 512)).rejects.toThrow(/Cannot decode|BROTLI|error/i);
  });

  it("survives bytes that were changed: each fails alone, or decodes to something", async () => {
    const bytes = coded(text.subarray(0, 20_000));
    for (let i = 0; i < 300; i++) {
      const broken = Buffer.from(bytes);
      broken[random.below(broken.length)] = random.below(256);
      await decode(broken).catch(() => {});
    }
    expect(Buffer.compare(await decode(bytes), text.subarray(0, 20_000))).toBe(0);
  });
});
