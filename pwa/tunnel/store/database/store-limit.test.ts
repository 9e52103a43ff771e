import { expect, it } from "vitest";
import { StoreLimit } from "./response-store.ts";

it("is what the person chose, and less where the browser gives less", async () => {
  let chosen = 1_000;
  const limit = new StoreLimit(() => chosen);
  expect(limit.bytes).toBe(1_000);
  await limit.measure(async () => ({ quota: 500 }));
  expect(limit.bytes).toBe(400);
  chosen = 50;
  expect(limit.bytes).toBe(50);
});

it("is what the person chose where the browser does not say", async () => {
  const limit = new StoreLimit(() => 1_000);
  await limit.measure(() => Promise.reject(new TypeError("not here")));
  await limit.measure(async () => ({}));
  expect(limit.bytes).toBe(1_000);
});
