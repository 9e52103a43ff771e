import { brotliDecompressSync, createBrotliDecompress, createInflateRaw, inflateRawSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { Random } from "../../shared/testing/random.ts";
import { settle } from "../../shared/testing/turns.ts";
import { brotliBody, deflateBody, mayOpenBrotli } from "./coding.ts";

const encoder = new TextEncoder();

function streamOf(chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  const rest = [...chunks];
  return new ReadableStream({
    pull(controller) {
      const chunk = rest.shift();
      if (chunk === undefined) controller.close();
      else controller.enqueue(chunk);
    },
  });
}

async function readAll(stream: ReadableStream<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe.each([
  ["deflate-raw", deflateBody, inflateRawSync, createInflateRaw],
  ["br", brotliBody, brotliDecompressSync, createBrotliDecompress],
] as const)("a body in %s", (_, codedBody, decodeSync, createDecoder) => {
  it("gives the same bytes back, whatever the chunks and the window", async () => {
    const chunk = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc
        .tuple(fc.uint8Array({ minLength: 1, maxLength: 20 }), fc.integer({ min: 1, max: 5000 }))
        .map(([pattern, times]) => new Uint8Array(Buffer.concat(Array<Uint8Array>(times).fill(pattern)))),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(chunk, { maxLength: 12 }), fc.boolean(), async (chunks, lengthIsKnown) => {
        const whole = Buffer.concat(chunks);
        const coded = codedBody(streamOf(chunks), { contentLength: lengthIsKnown ? whole.byteLength : null });
        expect(decodeSync(await readAll(coded)).equals(whole)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it("hands over each event before the source has the next one", async () => {
    let source: ReadableStreamDefaultController<Uint8Array> | undefined;
    const coded = codedBody(
      new ReadableStream({
        start(controller) {
          source = controller;
        },
      }),
      { contentLength: null },
    ).getReader();
    const decoder = createDecoder();
    let text = "";
    decoder.setEncoding("utf8").on("data", (part: string) => {
      text += part;
    });
    for (let i = 0; i < 5; i++) {
      const event = `data: ${i}\n\n`;
      source?.enqueue(encoder.encode(event));
      const expected = text + event;
      while (text !== expected) {
        const { value } = await coded.read();
        if (value !== undefined) await new Promise<void>((resolve) => decoder.write(value, () => resolve()));
      }
    }
    source?.close();
    await coded.read();
    expect((await coded.read()).done).toBe(true);
  });

  it("does not flush between chunks that are at hand", async () => {
    const line = encoder.encode("the same line over and over\n");
    const coded = await readAll(codedBody(streamOf(Array<Uint8Array>(1000).fill(line)), { contentLength: null }));
    // A flush for each would take some 10,000.
    expect(coded.byteLength).toBeLessThan(3000);
  });

  /** How often a source of noise is read for ten pieces of what comes out. @param pace milliseconds that each takes to come. */
  async function pullsForTen(pace: number): Promise<number> {
    const random = new Random(24);
    let [pulls, now] = [0, 0];
    const source = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          pulls++;
          now += pace;
          controller.enqueue(random.bytes(64 * 1024));
        },
      },
      { highWaterMark: 0 },
    );
    const clock = { now: () => now, setTimer: () => () => {} };
    const reader = codedBody(source, { contentLength: null, clock }).getReader();
    onTestFinished(() => reader.cancel());
    for (let i = 0; i < 10; i++) await reader.read();
    const before = pulls;
    await settle();
    expect(pulls).toBe(before);
    return pulls;
  }

  it("reads no further than its reader asks", async () => {
    // Brotli gathers a megabyte before it puts any out.
    expect(await pullsForTen(0)).toBeLessThanOrEqual(16);
  });

  it("puts out what it has where the source takes its time", async () => {
    expect(await pullsForTen(50)).toBeLessThanOrEqual(4);
  });

  it("cancels the source, with the reason", async () => {
    let cancelled: unknown;
    const source = new ReadableStream<Uint8Array>({
      cancel(reason) {
        cancelled = reason;
      },
    });
    const reader = codedBody(source, { contentLength: null }).getReader();
    const read = reader.read();
    await reader.cancel("stop");
    expect(cancelled).toBe("stop");
    expect((await read).done).toBe(true);
  });

  it("passes the source's error on as it is", async () => {
    const failure = new Error("origin went away");
    let pulls = 0;
    const source = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (pulls++ === 0) controller.enqueue(encoder.encode("first"));
        else controller.error(failure);
      },
    });
    await expect(readAll(codedBody(source, { contentLength: null }))).rejects.toBe(failure);
  });
});

describe("brotli", () => {
  it("is for so many bodies at once, and counts those alone that are not over", async () => {
    const bodies: ReadableStream<Uint8Array>[] = [];
    const source = () => streamOf([encoder.encode("text")]);
    while (mayOpenBrotli()) bodies.push(brotliBody(source(), { contentLength: null }));
    expect(bodies.length).toBe(12);
    await readAll(bodies.pop() as ReadableStream<Uint8Array>);
    expect(mayOpenBrotli()).toBe(true);
    const failing = brotliBody(new ReadableStream({ pull: () => Promise.reject(new Error("gone")) }), {
      contentLength: null,
    });
    expect(mayOpenBrotli()).toBe(false);
    await expect(readAll(failing)).rejects.toThrow("gone");
    expect(mayOpenBrotli()).toBe(true);
    for (const body of bodies) await body.cancel();
    const again = Array.from({ length: 12 }, () => brotliBody(source(), { contentLength: 4 }));
    expect(mayOpenBrotli()).toBe(false);
    for (const body of again) await body.cancel();
    expect(mayOpenBrotli()).toBe(true);
  });
});
