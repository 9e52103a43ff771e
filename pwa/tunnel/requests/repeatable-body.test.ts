import { describe, expect, it } from "vitest";
import { CountedBody } from "../../../shared/testing/http/exchange-rig.ts";
import { REPLAYED_BODIES_BYTES, REPLAYED_BODY_BYTES, RepeatableBody } from "./lasting-request.ts";

/** A body that hands out a chunk for each push. */
function source() {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>(
    {},
    { highWaterMark: 100 },
    { highWaterMark: 0 },
  );
  const writer = writable.getWriter();
  return {
    readable,
    push: (...values: number[]) => void writer.write(Uint8Array.from(values)),
    end: () => void writer.close(),
    writer,
  };
}

const all = async (stream: ReadableStream<Uint8Array>): Promise<number[]> => [
  ...new Uint8Array(await new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer()),
];

describe("RepeatableBody", () => {
  it("gives the same bytes each time it is opened, and keeps them once", async () => {
    const kept = { total: 0 };
    const { readable, push, end } = source();
    const body = new RepeatableBody(readable, kept);
    push(1, 2);
    push(3);
    end();
    expect(await all(body.open())).toEqual([1, 2, 3]);
    expect(await all(body.open())).toEqual([1, 2, 3]);
    expect([body.isRepeatable, kept.total]).toEqual([true, 3]);
    body.close();
    expect([body.isRepeatable, kept.total]).toEqual([false, 0]);
  });

  it("goes on from the start when it was opened anew in the middle of a read", async () => {
    const { readable, push, end } = source();
    const body = new RepeatableBody(readable, { total: 0 });
    push(1);
    const first = body.open().getReader();
    await first.read();
    const interrupted = first.read();
    interrupted.catch(() => {});
    const second = all(body.open());
    push(2);
    end();
    await expect(interrupted).rejects.toThrow("anew");
    expect(await second).toEqual([1, 2]);
  });

  it("hands on what is too large to keep, each byte once, also when it grows so after it was opened anew", async () => {
    const kept = { total: 0 };
    const { readable, writer } = source();
    const body = new RepeatableBody(readable, kept);
    const almost = new Uint8Array(REPLAYED_BODY_BYTES - 1).fill(7);
    void writer.write(almost);
    const first = body.open().getReader();
    await first.read();
    first.read().catch(() => {});
    const whole = all(body.open());
    void writer.write(Uint8Array.of(8, 9));
    void writer.close();
    expect(await whole).toEqual([...almost, 8, 9]);
    expect([body.isRepeatable, kept.total]).toEqual([false, 0]);
  });

  it("reads no more of its source than is asked for", async () => {
    const counted = new CountedBody(10_000_000);
    const body = new RepeatableBody(counted.stream, { total: 0 });
    const reader = body.open().getReader();
    const { value } = await reader.read();
    expect(counted.read).toBe(value?.length);
  });

  it("fails as its source does, and tells it when it is no longer wanted", async () => {
    const { readable, writer } = source();
    const failing = new RepeatableBody(readable, { total: 0 });
    const read = failing.open().getReader().read();
    void writer.abort(new Error("gone")).catch(() => {});
    await expect(read).rejects.toThrow("gone");

    let cancelled = false;
    const stream = new ReadableStream<Uint8Array>({
      cancel() {
        cancelled = true;
      },
    });
    new RepeatableBody(stream, { total: 0 }).close();
    expect(cancelled).toBe(true);
  });

  it("keeps only so much of all bodies together", async () => {
    const kept = { total: REPLAYED_BODIES_BYTES };
    const { readable, push, end } = source();
    const body = new RepeatableBody(readable, kept);
    push(1);
    end();
    expect(await all(body.open())).toEqual([1]);
    expect([body.isRepeatable, kept.total]).toEqual([false, REPLAYED_BODIES_BYTES]);
  });
});
