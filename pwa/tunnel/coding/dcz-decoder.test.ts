import { createHash } from "node:crypto";
import { constants, zstdCompressSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { dczHeader } from "../../../shared/coding/link-coding.ts";
import { Random } from "../../../shared/testing/random.ts";
import { concat } from "../../../shared/wire/frame.ts";
import { type DczDecoder, openDczDecoder } from "./dcz-chunk.ts";
import { lateDecoder } from "./late-decoder.ts";

const random = new Random(11);
const dictionary = random.bytes(300_000);
const changed = concat(dictionary.subarray(0, 150_000), random.bytes(50), dictionary.subarray(150_000));
const hash = new Uint8Array(createHash("sha256").update(dictionary).digest());

const frame = (body: Uint8Array, params: Record<number, number> = {}) =>
  zstdCompressSync(body, { dictionary, params: { [constants.ZSTD_c_compressionLevel]: 3, ...params } });
const coded = concat(dczHeader(hash), frame(changed));

let open: (deliver: (chunk: Uint8Array) => Promise<void> | undefined) => Promise<DczDecoder>;
beforeAll(() => {
  open = (deliver) => openDczDecoder({ bytes: dictionary, hash }, deliver);
});

/** What comes of bytes that come in pieces of this size; rejects as the response would fail. */
function decode(bytes: Uint8Array, piece = bytes.length): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  return new Promise((resolve, reject) => {
    const decoder = lateDecoder(open, {
      deliver: (chunk) => void chunks.push(chunk),
      finished: () => resolve(concat(...chunks)),
      failed: reject,
    });
    for (let start = 0; start < bytes.length; start += piece) void decoder.write(bytes.subarray(start, start + piece));
    decoder.end();
  });
}

describe("undoing dcz", () => {
  it("gives the body byte for byte, in whatever pieces it comes", async () => {
    expect(coded.length).toBeLessThan(600);
    for (const piece of [coded.length, 97, 1]) expect(Buffer.compare(await decode(coded, piece), changed)).toBe(0);
  });

  it("knows several frames, some of which make no use of the dictionary, and empty ones", async () => {
    const plain = random.bytes(5000);
    const parts = concat(
      dczHeader(hash),
      frame(changed),
      frame(new Uint8Array()),
      zstdCompressSync(plain),
      frame(dictionary),
    );
    expect(Buffer.compare(await decode(parts, 1000), concat(changed, plain, dictionary))).toBe(0);
    expect((await decode(dczHeader(hash))).length).toBe(0);
  });

  it("grows no faster than its consumer takes what comes", async () => {
    const takes: (() => void)[] = [];
    let bytes = 0;
    const decoder = lateDecoder(open, {
      deliver(chunk) {
        bytes += chunk.length;
        return new Promise((resolve) => takes.push(resolve));
      },
      finished() {},
      failed: expect.unreachable,
    });
    void decoder.write(concat(dczHeader(hash), frame(new Uint8Array(4_000_000))));
    await expect.poll(() => takes.length).toBe(1);
    expect(bytes).toBeLessThanOrEqual(64 * 1024);
    decoder.cancel();
    takes[0]?.();
  });

  it.each<[string, () => Uint8Array]>([
    ["another dictionary", () => concat(dczHeader(hash.map((byte) => byte ^ 1)), frame(changed))],
    ["no header", () => frame(changed)],
    ["an end that comes too soon", () => coded.subarray(0, -1)],
    ["an end in the header of a frame", () => coded.subarray(0, 43)],
    ["what is no frame", () => concat(dczHeader(hash), Buffer.from("GIF89a and more"))],
    ["bytes behind the end", () => concat(coded, Uint8Array.of(1, 2, 3, 4, 5, 6))],
    ["a checksum", () => concat(dczHeader(hash), frame(changed, { [constants.ZSTD_c_checksumFlag]: 1 }))],
    ["a frame that says too little", () => concat(dczHeader(hash), sizedAs(changed.length - 1))],
    ["a frame that says too much", () => concat(dczHeader(hash), sizedAs(changed.length + 1))],
    ["a window of gigabytes", () => concat(dczHeader(hash), Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0, 0xa0, 1, 0, 0))],
    ["a body of gigabytes", () => concat(dczHeader(hash), sizedAs(4_000_000_000))],
  ])("fails at %s", async (_, bytes) => {
    await expect(decode(bytes())).rejects.toThrow("Cannot decode the response");
  });

  it("survives bytes that were changed, and goes on with others", async () => {
    for (let round = 0; round < 200; round++) {
      const broken = coded.slice();
      const at = 40 + random.below(broken.length - 40);
      broken[at] = (broken[at] ?? 0) ^ (1 + random.below(255));
      await decode(broken, 1 + random.below(200)).catch((error: Error) => expect(error).toBeInstanceOf(Error));
    }
    expect(Buffer.compare(await decode(coded), changed)).toBe(0);
  });

  it("takes no step in the frame of another after it was cancelled", async () => {
    const begin = (bytes: Uint8Array, ended: PromiseWithResolvers<void> | null) => {
      const takes: (() => void)[] = [];
      const chunks: Uint8Array[] = [];
      const decoder = lateDecoder(open, {
        deliver(chunk) {
          chunks.push(chunk);
          return new Promise((resolve) => takes.push(resolve));
        },
        finished: () => ended?.resolve(),
        failed: (error) => ended?.reject(error),
      });
      void decoder.write(bytes);
      return { decoder, takes, chunks };
    };
    const cancelled = begin(coded, null);
    await expect.poll(() => cancelled.takes.length).toBe(1);
    cancelled.decoder.cancel();
    await new Promise((resolve) => setTimeout(resolve, 0));
    // It gets the memory of the one that was cancelled.
    const ended = Promise.withResolvers<void>();
    const other = begin(coded, ended);
    await expect.poll(() => other.takes.length).toBe(1);
    cancelled.takes[0]?.();
    await new Promise((resolve) => setTimeout(resolve, 0));
    other.decoder.end();
    void (async () => {
      for (let taken = 0; ; taken++) {
        await expect.poll(() => other.takes.length > taken).toBe(true);
        other.takes[taken]?.();
      }
    })().catch(() => {});
    await ended.promise;
    expect(Buffer.compare(concat(...other.chunks), changed)).toBe(0);
  });

  it("keeps those waiting that come when too many are decoded, until one of them is over", async () => {
    const halves = Array.from({ length: 6 }, () => {
      const chunks: Uint8Array[] = [];
      const over = Promise.withResolvers<void>();
      const decoder = lateDecoder(open, {
        deliver: (chunk) => void chunks.push(chunk),
        finished: over.resolve,
        failed: over.reject,
      });
      void decoder.write(coded.subarray(0, 200));
      return { decoder, over, chunks };
    });
    for (const { decoder } of halves) {
      void decoder.write(coded.subarray(200));
      decoder.end();
    }
    await Promise.all(halves.map(({ over }) => over.promise));
    for (const { chunks } of halves) expect(Buffer.compare(concat(...chunks), changed)).toBe(0);
  });

  it("does not wait for those whose pages take nothing", async () => {
    const untaken = Array.from({ length: 5 }, () => {
      const decoder = lateDecoder(open, { deliver: () => new Promise(() => {}), finished() {}, failed() {} });
      void decoder.write(coded);
      return decoder;
    });
    expect(Buffer.compare(await decode(coded), changed)).toBe(0);
    for (const decoder of untaken) decoder.cancel();
    expect(Buffer.compare(await decode(coded), changed)).toBe(0);
  });
});

/** The frame with another length of its content in its header. */
function sizedAs(size: number): Uint8Array {
  const bytes = new Uint8Array(frame(changed));
  // A single segment with a length of four bytes.
  expect((bytes[4] ?? 0) & 0b1110_0000).toBe(0b1010_0000);
  new DataView(bytes.buffer).setUint32(5, size, true);
  return bytes;
}
