import { expect, it } from "vitest";
import { Random } from "../../../shared/testing/random.ts";
import { inPieces } from "./slot-request.ts";

it.each([
  ["at once", (bytes: Uint8Array<ArrayBuffer>) => bytes.buffer],
  ["as a stream", (bytes: Uint8Array<ArrayBuffer>) => new Blob([bytes]).stream()],
])("tells of a body that is there %s what was asked for more after, and passes it on unchanged", async (_, given) => {
  const body = new Random(7).bytes(60_000);
  const told: number[] = [];
  const reader = inPieces(given(body), body.length, (sent) => told.push(sent)).getReader();
  const first = (await reader.read()).value;
  expect(told).toEqual([]);
  expect((await reader.read()).done).toBe(true);
  expect(told).toEqual([body.length]);
  expect(first).toEqual(body);
});

it("cuts a body in pieces with a buffer of their own, as a port copies all of it", async () => {
  const body = new Uint8Array(200_000);
  const lengths: number[] = [];
  for await (const { buffer } of inPieces(body.buffer, body.length, () => {})) lengths.push(buffer.byteLength);
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
  await inPieces(source, 10, () => {}).cancel("over");
  expect(cancelled).toBe("over");
});
