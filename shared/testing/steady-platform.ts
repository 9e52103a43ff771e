/**
 * What makes a run in one process a function of its seed. Without it hashes come from threads of their own, each when it is
 * ready, and keys from the system.
 */
import { createHash, createHmac } from "node:crypto";
import { onTestFinished, vi } from "vitest";
import type { Random } from "./random.ts";

interface HmacKey {
  readonly secret: Uint8Array;
}

const bytesOf = (data: BufferSource) =>
  ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data);

const own = ({ buffer, byteOffset, length }: Uint8Array) =>
  buffer.slice(byteOffset, byteOffset + length) as ArrayBuffer;

/**
 * Until the test ends keys and ids follow from the seed, and hashes are there in the same turn. `Math.random` stays as it is:
 * the runner throws it, too, whenever it has something to report.
 */
export function steadyPlatform(random: Pick<Random, "bytes">): void {
  const { subtle } = crypto;
  const keyOf = async (secret: Uint8Array) => ({ secret }) satisfies HmacKey as unknown as CryptoKey;
  const stubs = [
    vi.spyOn(crypto, "getRandomValues").mockImplementation((values) => {
      if (values !== null) bytesOf(values as BufferSource).set(random.bytes(values.byteLength));
      return values;
    }),
    vi
      .spyOn(subtle, "digest")
      .mockImplementation(async (_sha256, data) => own(createHash("sha256").update(bytesOf(data)).digest())),
    vi
      .spyOn(subtle, "generateKey")
      .mockImplementation((() => keyOf(random.bytes(32))) as unknown as typeof subtle.generateKey),
    vi
      .spyOn(subtle, "importKey")
      .mockImplementation(((_raw: "raw", secret: BufferSource) =>
        keyOf(bytesOf(secret))) as unknown as typeof subtle.importKey),
    vi.spyOn(subtle, "sign").mockImplementation(async (_hmac, key, data) =>
      own(
        createHmac("sha256", (key as unknown as HmacKey).secret)
          .update(bytesOf(data))
          .digest(),
      ),
    ),
  ];
  onTestFinished(() => {
    for (const stub of stubs) stub.mockRestore();
  });
}

/** Where two runs of one seed part, or null: then they did the same, in the same order. */
export function firstDifference(one: readonly string[], other: readonly string[]): string | null {
  for (let index = 0; index < Math.max(one.length, other.length); index++) {
    if (one[index] !== other[index]) return `step ${index}: ${one[index]} and ${other[index]}`;
  }
  return null;
}
