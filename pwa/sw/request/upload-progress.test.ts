import { expect, it } from "vitest";
import { Random } from "../../../shared/testing/random.ts";
import { atTimes, inPieces } from "./slot-request.ts";

it.each([
  ["at once", (bytes: Uint8Array<ArrayBuffer>) => bytes.buffer],
  ["as a stream", (bytes: Uint8Array<ArrayBuffer>) => new Blob([bytes]).stream()],
])("passes a body that is there %s on unchanged", async (_, given) => {
  const body = new Random(7).bytes(60_000);
  expect(new Uint8Array(await new Response(inPieces(given(body))).arrayBuffer())).toEqual(body);
});

it("cuts a body in pieces with a buffer of their own, as a port copies all of it", async () => {
  const body = new Uint8Array(200_000);
  const lengths: number[] = [];
  for await (const { buffer } of inPieces(body.buffer)) lengths.push(buffer.byteLength);
  expect(lengths.every((length) => length <= 65_536)).toBe(true);
  expect(lengths.reduce((sum, each) => sum + each)).toBe(body.length);
});

it("stops reading a body that nobody wants any more", async () => {
  let cancelled: unknown = null;
  const source = new ReadableStream<Uint8Array>({
    cancel: (reason) => {
      cancelled = reason;
    },
  });
  await inPieces(source).cancel("over");
  expect(cancelled).toBe("over");
});

it("tells of what has left every 50 ms at most, and of the whole in any case, once", () => {
  const told: number[] = [];
  const time = { now: 1_000 };
  const tell = atTimes(
    100,
    (count) => told.push(count),
    () => time.now,
  );
  for (const count of [0, 10, 20, 100, 100]) tell(count);
  expect(told).toEqual([10, 100]);
  told.length = 0;
  const slow = atTimes(
    100,
    (count) => told.push(count),
    () => time.now,
  );
  for (const count of [10, 20, 30, 40]) {
    slow(count);
    time.now += 25;
  }
  expect(told).toEqual([10, 30]);
});
