import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { decideOnOpening, openReader, responseBody, UPSTREAM_READ_BYTES } from "./response-body.ts";

function streamOf(chunks: readonly Uint8Array<ArrayBuffer>[], type?: "bytes"): ReadableStream<Uint8Array> {
  const rest = chunks.map((chunk) => chunk.slice());
  const pull = (controller: {
    enqueue(chunk: Uint8Array<ArrayBuffer>): void;
    close(): void;
    byobRequest?: unknown;
  }) => {
    const chunk = rest.shift();
    if (chunk !== undefined) return controller.enqueue(chunk);
    controller.close();
    (controller.byobRequest as ReadableStreamBYOBRequest | null | undefined)?.respond(0);
  };
  return type === "bytes" ? new ReadableStream({ type, pull }) : new ReadableStream<Uint8Array>({ pull });
}

const observer = () => ({ translate: (error: unknown) => error, onSettled: vi.fn() });

describe("responseBody", () => {
  it("passes every byte on, with and without a byte source", async () => {
    const chunk = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 100 }),
      fc.integer({ min: 1, max: 3 * UPSTREAM_READ_BYTES }).map((length) => new Uint8Array(length).fill(length)),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(chunk, { maxLength: 8 }),
        fc.constantFrom(undefined, "bytes" as const),
        fc.boolean(),
        async (chunks, type, reusesBuffer) => {
          const watch = observer();
          const stream = responseBody(openReader(streamOf(chunks, type), reusesBuffer), watch);
          const read: Uint8Array[] = [];
          for await (const part of stream) read.push(part.slice());
          const whole = Buffer.concat(chunks);
          expect(Buffer.concat(read).equals(whole)).toBe(true);
          expect(watch.onSettled).toHaveBeenCalledOnce();
        },
      ),
      { numRuns: 60 },
    );
  });

  it("errors with what the observer makes of it", async () => {
    const typed = new Error("typed");
    const source = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.error(new Error("raw"));
      },
    });
    const onSettled = vi.fn();
    const stream = responseBody(openReader(source, false), { translate: () => typed, onSettled });
    await expect(stream.getReader().read()).rejects.toBe(typed);
    expect(onSettled).toHaveBeenCalledOnce();
  });

  it("cancels the source", async () => {
    const cancel = vi.fn();
    const watch = observer();
    const stream = responseBody(openReader(new ReadableStream<Uint8Array>({ cancel }), false), watch);
    await stream.cancel("stop");
    expect(cancel).toHaveBeenCalledWith("stop");
    expect(watch.onSettled).toHaveBeenCalledOnce();
  });
});

describe("decideOnOpening", () => {
  it.each([undefined, "bytes"] as const)("reads what it takes, and loses none of it: %s", async (type) => {
    const chunks = [3, 5, UPSTREAM_READ_BYTES, 2].map((length, at) => new Uint8Array(length).fill(at + 1));
    const seen: number[] = [];
    const { decision, body } = await decideOnOpening(openReader(streamOf(chunks, type), true), (opening, isWhole) => {
      seen.push(opening.length);
      return opening.length >= 8 || isWhole ? "enough" : null;
    });
    expect([decision, seen]).toEqual(["enough", [0, 3, 8]]);
    const parts: Uint8Array[] = [];
    for (let part = await body.read(); part !== null; part = await body.read()) parts.push(part.slice());
    expect(Buffer.concat(parts).equals(Buffer.concat(chunks))).toBe(true);
  });

  it.each([undefined, "bytes"] as const)("tells when there is no more: %s", async (type) => {
    const reader = openReader(streamOf([new Uint8Array(2)], type), true);
    const { decision, body } = await decideOnOpening(reader, (opening, isWhole) => (isWhole ? opening.length : null));
    expect(decision).toBe(2);
    expect([await body.read(), await body.read(), await body.read()]).toEqual([new Uint8Array(2), null, null]);
  });
});
