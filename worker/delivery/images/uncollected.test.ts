import { expect, it } from "vitest";
import { Uncollected } from "./picture-codecs.ts";

it("counts what was dropped for a while", () => {
  let now = 0;
  const dropped = new Uncollected(() => now);
  const [first, second] = [new ArrayBuffer(10), new ArrayBuffer(20)];
  dropped.add(first);
  now = 8_000;
  dropped.add(second);
  expect(dropped.bytes).toBe(30);
  now = 11_000;
  expect(dropped.bytes).toBe(20);
  now = 19_000;
  expect(dropped.bytes).toBe(0);
  // They were there all the time.
  expect(first.byteLength + second.byteLength).toBe(30);
});
